"""Gradients by what nothing can watch in time: right where variables made it.

The last that is tried: a tape that a function is handed, to watch what it makes, needs to assume
less.
"""

from __future__ import annotations

import ast
import re

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.slices import backward
from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.handing.placed import Placed
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.variables.variable_makers import (
    made_among_variables,
    may_be_input,
    shows_variables,
)
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.downstream import (
    is_made_within,
    is_taken_out,
    makers,
    of_variables,
    of_variables_passed,
)
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request

# A part, or what it is a part of: ``layers`` and ``conv`` of ``net.layers["conv"]``.
_PART = late(r"(?:\.|\[['\"])(\w+)")


class Flowing:
    """Settles such requests, each once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._failed: set[Request] = set()
        self._received: dict[Request, Placed] = {}

    def take(self, placed: Placed, handed: bool) -> None:
        """Takes sources for what was computed from variables where nothing else is in the way.

        ``handed``: the scope itself takes a tape of its callers.
        """
        for request, outcome in placed.asked():
            if not isinstance(outcome, Refusal) or not outcome.unwatched:
                continue
            if request.known is not None or request in self._failed:
                continue
            if request in placed.kept or request in placed.handed or request.unfit_for_others():
                continue
            if not (self._is_likely(placed, request) and self._try(placed, request, handed)):
                self._failed.add(request)

    def take_received(self, placed: Placed) -> None:
        """Takes sources for that which are parts of what the callers pass, who hand in a tape."""
        for request, outcome in placed.asked():
            waits = isinstance(outcome, Refusal) and outcome.unwatched and outcome.threads
            if not waits or request.known is not None or request in placed.handed:
                continue
            flow = placed.view.flow
            if not is_taken_out(request, flow) or not self._is_part_of_variables(placed, request):
                continue
            request.known = of_variables_passed(request, placed.places.sources(request))
            request.received = request.known is not None
            if request.received:
                self._received[request] = placed
                placed.settle(request, True)

    def let_go(self, placed: Placed | None = None) -> None:
        """Takes no such source for anything, in one scope or in all."""
        for request, at in list(self._received.items()):
            if placed in (None, at):
                request.known, request.received = None, False
                at.places.forget(request)
                del self._received[request]

    def _is_part_of_variables(self, placed: Placed, request: Request) -> bool:
        """Whether what callers pass, to take the sources out of it, is made among variables."""
        view, scope = placed.view, placed.view.scope
        made_by = makers(request, view.flow)
        words = [ast.unparse(d.value) for d in made_by if d.value is not None]
        names = {n for text in (*words, ast.unparse(request.sources)) for n in _PART.findall(text)}
        if any(may_be_input(name, self._project) for name in sorted(names)):
            return False
        if any(made_among_variables(name, self._project) for name in sorted(names)):
            return True
        passed = {d.path[0] for d in made_by if d.kind is Kind.PARAM}
        if not isinstance(scope, ast.FunctionDef):
            return False
        for site in callers(self._project, view.unit, scope).calls:
            caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            given = (argument_for(site.call, scope, name, view.cls is not None) for name in passed)
            for value in (each for each in given if each is not None):
                behind = backward(caller.flow.uses_in(value)).made
                roots = [value, *(d.value for d in behind if d.value is not None)]
                if shows_variables(roots, "", site.unit, self._project):
                    return True
        return False

    def _is_likely(self, placed: Placed, request: Request) -> bool:
        """Whether what makes the sources also makes variables, as far as it is at hand."""
        view = placed.view
        values = [d.value for d in makers(request, view.flow) if d.value is not None]
        names = re.findall(r"\w+", ast.unparse(request.sources))
        name = names[-1] if names else ""
        if _calls_passed(placed, values):
            return made_among_variables(name, self._project)
        return shows_variables(values, name, view.unit, self._project)

    def _try(self, placed: Placed, request: Request, handed: bool) -> bool:
        view = placed.view
        read = placed.places.sources(request)
        request.known = of_variables(request, read, view.flow, view.kinds)
        if request.known is None:
            return False
        placed.settle(request, handed)
        region = placed.found[request]
        if (
            isinstance(region, Region)
            and is_made_within(request, region, view.flow, view.blocks)
            and not _burdens_others(placed, region)
        ):
            return True
        request.known = None
        placed.settle(request, handed)
        return False


def _calls_passed(placed: Placed, values: list[ast.expr]) -> bool:
    """Whether a function that is passed in makes them."""
    view = placed.view
    calls = [n for value in values for n in walk(value) if isinstance(n, ast.Call)]
    return any(
        use.made.kind is Kind.PARAM
        for call in calls
        if isinstance(call.func, ast.Name)
        for use in view.flow.uses_in(call.func)
    )


def _burdens_others(placed: Placed, region: Region) -> bool:
    """Whether one tape would serve it and another call, of which nothing has to be assumed."""
    return any(
        isinstance(other, Region)
        and other is not region
        and region.request not in other.lower  # else it stays with this one
        and other.block is region.block
        and not other.assumptions
        and other.first <= max(region.last, region.call)
        and region.first <= max(other.last, other.call)
        for other in placed.found.values()
    )

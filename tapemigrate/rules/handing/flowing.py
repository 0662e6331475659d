"""Gradients by what nothing can watch in time: right where variables made it.

The last that is tried: a tape that a function is handed, to watch what it makes, needs to assume
less.
"""

from __future__ import annotations

import ast
import re

from tapemigrate.flow.definitions import Kind
from tapemigrate.rules.handing.placed import Placed
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.variable_makers import made_among_variables, shows_variables
from tapemigrate.source.trees import walk
from tapemigrate.tape.downstream import is_made_within, makers, of_variables
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal, Request


class Flowing:
    """Settles such requests, each once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._failed: set[Request] = set()

    def take(self, placed: Placed, handed: bool) -> None:
        """Takes sources for what was computed from variables where nothing else is in the way.

        ``handed``: the scope itself takes a tape of its callers.
        """
        for request, outcome in list(placed.found.items()):
            if not isinstance(outcome, Refusal) or not outcome.unwatched:
                continue
            if request.known is not None or request in self._failed:
                continue
            if request in placed.kept or request in placed.handed or request.unfit_for_others():
                continue
            if not (self._is_likely(placed, request) and self._try(placed, request, handed)):
                self._failed.add(request)

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

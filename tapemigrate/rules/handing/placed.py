"""The gradient calls of one scope with what became of them, and functions that are handed tapes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.callgraph.namesakes import Namesakes
from tapemigrate.rules.calls import Calls
from tapemigrate.rules.handing.placing import Keeping, Places
from tapemigrate.rules.project import View
from tapemigrate.tape.ops.syntax import repetitions
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request

#: What a parameter that holds a tape is called, where the name is free.
TAPE = "tape"


@dataclass(eq=False, slots=True)
class Placed:
    """The gradient calls of one scope, those of functions that are handed its tapes among them.

    ``own``: callers may be asked for a tape that has recorded what is kept on ``self``.
    ``handed`` maps such a call to the function, and what a tape is kept for to the method that
    asks it. ``kept`` are the tapes that other methods keep for calls of this one. ``found`` says
    what became of each.
    """

    view: View
    calls: Calls
    places: Places
    requests: list[Request]
    own: bool = True
    handed: dict[Request, Scope] = field(default_factory=dict)
    kept: dict[Request, Keeping] = field(default_factory=dict)
    found: dict[Request, Region | Refusal] = field(default_factory=dict)

    @property
    def tape(self) -> str:
        """The name of the parameter that would hold a tape."""
        names = self.view.unit.names.bound_names(self.view.scope)
        number = 2
        while (name := TAPE if number == 2 else f"{TAPE}_{number}") in names:
            number += 1
        return name

    def asked(self) -> list[tuple[Request, Region | Refusal]]:
        """What became of each; the first order of a Hessian, asked for as a whole, is left out."""
        requests = {*self.requests, *self.handed}
        return [(request, each) for request, each in self.found.items() if request in requests]

    def repeats(self, request: Request) -> bool:
        """Whether the request may be made more than once."""
        parents = self.view.unit.parents
        return bool(self.view.blocks.loops_around(request.stmt)) or bool(
            repetitions(request.call, request.stmt, parents)
        )

    def evaluate(self, handed: bool) -> None:
        """Finds the regions; ``handed``: on a tape of the callers where it takes one."""

        def named(request: Request) -> bool:
            reading = self.calls.readings.get(request)
            return reading is not None and "name" in reading.dropped

        requests = [*self.requests, *self.handed]
        tape = self.tape if handed else ""
        self.found = self.places.find(requests, named, tape, self.kept, self.own)

    def settle(self, request: Request, handed: bool) -> None:
        """Finds the region of a request anew, of whose sources more is known now."""
        self.places.forget(request)
        self.evaluate(handed)


@dataclass(eq=False, slots=True)
class Helper:
    """A function that is handed a tape: what of its parameters the tape has to have recorded.

    ``standing`` are sources that it reads outside of itself, ``own_targets`` and ``own_sources``
    attributes of its object; of each of ``alone`` among the targets it asks a gradient by itself,
    and those of the sources that are ``whole`` it takes as they are: each may hold several.
    It ``records`` on the tape, or even ``computes`` more than products of gradients.
    ``without`` says why some of its
    callers hand in none; for them the old call stays. ``late``: it may be asked after the function
    has returned.
    ``circle`` are the methods that a call of it may mean as well, which share one ``without``.
    """

    placed: Placed
    function: ast.FunctionDef
    targets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    own_targets: tuple[str, ...] = ()
    own_sources: tuple[str, ...] = ()
    alone: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    variables: bool = False
    records: bool = False
    computes: bool = False
    joins: bool = True
    often: bool = False
    late: bool = False
    assumptions: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    circle: Namesakes | None = None

    @property
    def needs(self) -> tuple[object, ...]:
        """What its callers have to know of it."""
        kinds = (self.variables, self.records, self.joins, self.often, self.late)
        own = (self.own_targets, self.own_sources, self.alone, self.whole)
        return (self.targets, self.sources, self.standing, *own, *kinds)

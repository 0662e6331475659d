"""The statements that a tape has to record for one gradient call: which, and where they stand."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.flow.blocks import Block
from tapemigrate.flow.definitions import Def, Use
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.request import Request


@dataclass(eq=False, slots=True)
class Slice:
    """What has to run under the tape of a request, wherever it stands.

    ``nodes`` are what the target is made of, and ``edges`` what of them is used for what.
    ``itself``: the target is a source. ``inline``: it is computed where the call stands.
    ``again``: of what the call gave the round before. ``ahead``: so is something that runs before
    the call does.
    """

    request: Request
    sources: Sources
    target: frozenset[Use]
    stops: list[Def]
    nodes: frozenset[Def]
    edges: list[tuple[Def | None, Use]]
    lower: set[Request]
    itself: bool
    inline: bool = False
    again: bool = False
    ahead: bool = False
    statements: set[ast.stmt] = field(default_factory=set)

    @property
    def run(self) -> set[ast.stmt]:
        """All statements that are run for the target."""
        return self.statements | {self.request.stmt} if self.inline else self.statements


@dataclass(eq=False, slots=True)
class Region:
    """Statements ``first`` to ``last`` of ``block`` (none if last < first), and the call's place.

    ``hoist``: the target is written inside the call and becomes a statement of its own before it.
    ``inside``: the call itself runs while the tape records. ``roots`` are the definitions from
    outside the scope whose values enter the region. ``itself``: the target is the source.
    ``given``: the name of a tape that is handed in, and has recorded what the scope was given.
    ``resumes``: the name of one that goes on recording here. ``needed`` are the statements that
    lie on a path from a source to the target. ``uncached``: variables that are made there must not
    be read through a cache. ``lasting``: a generator asks, whenever it is gone through.
    ``by_rows``: the rows of a Hessian have to be asked for one by one.
    ``earlier``: it would begin earlier if what it reads may have been put aside; ``again``: so may
    it have been by the round before, of a loop. ``begins``: on a tape that is handed in, that what
    the target is made of is certainly computed by the callers.
    """

    request: Request
    sources: Sources
    block: Block
    first: int
    last: int
    call: int
    hoist: bool
    inside: bool
    stops: tuple[Def, ...] = ()
    itself: bool = False
    lower: set[Request] = field(default_factory=set)
    roots: frozenset[Def] = frozenset()
    assumptions: list[str] = field(default_factory=list)
    given: str = ""
    resumes: str = ""
    needed: frozenset[ast.stmt] = frozenset()
    uncached: bool = False
    lasting: bool = False
    by_rows: bool = False
    earlier: bool = False
    again: bool = False
    begins: bool = False

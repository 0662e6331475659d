"""What statements of a scope may have put aside before others ask for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.hooks import decorator_itself
from tapemigrate.source.points import AHEAD, Point, begin
from tapemigrate.source.trees import declarations
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.ops.changing_reads import changing_reads
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.request import Request


class PuttingAside:
    """Finds the statements of one scope that may do so."""

    def __init__(self, flow: Flow, blocks: Blocks, kinds: Kinds, ops: Ops) -> None:
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._ops = ops
        self._putting: dict[tuple[frozenset[Def], bool, int], list[ast.stmt]] = {}

    def before(self, request: Request, statements: set[ast.stmt]) -> set[ast.stmt]:
        """What may have put something aside before ``statements`` ask for it, in the same loops."""
        loops = set(self._blocks.loops_around(request.stmt))
        last = max(map(begin, statements))
        made = {d.stmt for d in self._flow.defs.values() if d.path == HIDDEN}
        return {
            s
            for s in made
            if s is not None and begin(s) < last and loops <= set(self._blocks.loops_around(s))
        }

    def of_sources(self, sources: Sources, reading: set[ast.stmt]) -> Iterator[ast.stmt]:
        """What may have put what it made of a source where ``reading`` statements find it."""
        first, last = self._made_at(sources), max(map(begin, reading))
        yield from (stmt for stmt in self._of(sources) if first <= begin(stmt) < last)

    def in_rounds(self, sources: Sources, loops: Set[ast.stmt]) -> bool:
        """Whether one round of these loops may have done so, and the next one finds it."""
        return bool(loops) and any(
            not loops.isdisjoint(self._blocks.loops_around(stmt)) for stmt in self._of(sources)
        )

    def _of(self, sources: Sources) -> list[ast.stmt]:
        cut = frozenset(d for leaf in sources.leaves for d in leaf.defs)
        variables = any(leaf.variables for leaf in sources.leaves)
        key = (cut, variables, self._flow.version)
        if key not in self._putting:
            self._putting[key] = self._putting_aside(cut, variables)
        return self._putting[key]

    def by_reading(self, sources: Sources, reading: set[ast.stmt]) -> Iterator[ast.stmt]:
        """What does so to a source of the object as it reads a part of that."""
        made = [d for leaf in sources.leaves for d in leaf.defs]
        me = self._kinds.self_name
        kept = [d for d in made if len(d.path) > 1 and d.path[0] == me and d.kind is Kind.ASSIGN]
        if kept:
            first, last = min(d.begin for d in kept), max(map(begin, reading))
            changing = changing_reads(self._blocks, self._kinds)
            yield from (stmt for stmt in changing if first < begin(stmt) < last)

    def _made_at(self, sources: Sources) -> Point:
        """Where the first of the sources is made, before which nothing can have used it."""
        made = [d for leaf in sources.leaves for d in leaf.defs]
        if not made or any(not leaf.defs for leaf in sources.leaves):
            return AHEAD
        return min(d.begin for d in made) if all(map(self._is_new_variable, made)) else AHEAD

    def _is_new_variable(self, made: Def) -> bool:
        value = made.value
        if made.kind is not Kind.ASSIGN or made.loops or not isinstance(value, ast.Call):
            return False
        return self._kinds.tensorflow(value.func) is not None and self._kinds.is_new(value)

    def read_by(self, stmt: ast.stmt) -> set[Use]:
        """What a statement reads, or the function that it defines."""
        inner = (d for d in self._flow.defs.values() if d.stmt is stmt and d.kind is Kind.FUNCTION)
        own = {*self._flow.uses_in(stmt), *(use for made in inner for use in made.uses)}
        if isinstance(stmt, ast.Assign) and len(stmt.targets) > 1:
            # ``a = b = value``: that ``b`` is ``a`` is nothing that it reads.
            named = (t for t in stmt.targets if isinstance(t, ast.Name))
            own -= {use for t in named for use in self._flow.reads.get(t, ())}
        return own

    def _putting_aside(self, cut: frozenset[Def], variables: bool) -> list[ast.stmt]:
        """What may put what it made of a source somewhere, in order."""
        put = {
            d
            for d in self._flow.defs.values()
            if (
                (d.path == HIDDEN or d.kind is Kind.MUTATE or len(d.path) > 1)
                and (not variables or self._ops.makes_ops(d))
            )
            or self._is_kept(d)
        }
        made = self._flow.made_of(cut)
        shown = {d for d in self._shared() if d in made}
        unasked = variables or bool(shown)
        seeing = {d.stmt for d in put | (shown - cut) if unasked and self._ops.makes_ops(d)}
        found = {
            stmt
            for stmt in {d.stmt for d in put} | seeing
            if stmt is not None
            and (stmt in seeing or any(_comes_of(use, made) for use in self.read_by(stmt)))
        }
        return sorted(found, key=begin)

    def _is_kept(self, made: Def) -> bool:
        """Whether a decorator of the user's may keep the function: ``@register("loss")``."""
        stmt = made.stmt if made.kind is Kind.FUNCTION else None
        listed = stmt.decorator_list if isinstance(stmt, NamedFunction) else ()
        return any(self._kinds.tensorflow(decorator_itself(each)) is None for each in listed)

    def _shared(self) -> list[Def]:
        """What is given to names that other functions read as well."""
        body = self._flow.scope.body
        declared = declarations(body) if isinstance(body, list) else []
        names = {name for stmt in declared for name in stmt.names}
        return [d for d in self._flow.defs.values() if d.path[0] in names]


def _comes_of(use: Use, made: set[Def]) -> bool:
    """Whether a value is one of those ``made``, or the name of a nested function for one."""
    return use.made in made or any(each.made in made for each in use.made.uses)

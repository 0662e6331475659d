"""The structural part of a plan, sorted by the blocks that it changes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.locate import Slot, Statements
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, ReplaceStatement, Wrap

StructuralOp = ReplaceStatement | Insert | Wrap


@dataclass(slots=True)
class BlockPlan:
    """What happens in one block; statements by their index in ``ast``."""

    before: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    after: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    replaced: dict[int, str] = field(default_factory=dict)
    # Start and end (not included), from the outside in once the plan is complete.
    wraps: list[tuple[int, int, Wrap]] = field(default_factory=list)
    first: list[str] = field(default_factory=list)

    def cuts(self) -> set[int]:
        """The indices at which a statement must begin a line."""
        at = {*self.before, *(k + 1 for k in self.after)}
        for k in self.replaced:
            at |= {k, k + 1}
        for start, end, _ in self.wraps:
            at |= {start, end}
        return at


class BlockPlans:
    """The structural part of a plan, for one run of a module's statements.

    ``plans`` has a plan for the field of an owner; owners, and the statements on the way down to
    them, are ``touched``. Both go by the ``id`` of a node.

    Raises:
        CodemodError: when a span holds no statement, when operations cross or lie inside a
            statement that another one replaces.
    """

    def __init__(self, statements: Statements, ops: Sequence[StructuralOp]) -> None:
        self._statements = statements
        self.plans: dict[tuple[int, str], BlockPlan] = defaultdict(BlockPlan)
        self.touched: set[int] = set()
        self._replaced: set[int] = set()
        for op in ops:
            self._add(op)
        self._check()

    def _add(self, op: StructuralOp) -> None:
        match op:
            case Insert(anchor, "body", code):
                owner = self._statements.at(anchor).statement
                if not getattr(owner, "body", None):
                    raise CodemodError(f"the statement in row {anchor.row} has no body")
                plan = self._plan(Slot(owner, "body", 0))
                (plan.after[0] if _has_docstring(owner) else plan.first).append(code)
            case Insert(anchor, where, code):
                if where == "before":
                    slot = self._statements.first(anchor)
                    self._plan(slot).before[slot.index].append(code)
                else:
                    slot = self._statements.last(anchor)
                    self._plan(slot).after[slot.index].append(code)
            case ReplaceStatement(span, code):
                slot = self._statements.at(span)
                if id(slot.statement) in self._replaced:
                    raise CodemodError(f"the statement in row {span.row} is replaced twice")
                self._replaced.add(id(slot.statement))
                self._plan(slot).replaced[slot.index] = code
            case Wrap(first, last):
                self._add_wrap(op, first, last)

    def _add_wrap(self, op: Wrap, first: Span, last: Span) -> None:
        start, end = self._statements.first(first), self._statements.last(last)
        if (start.owner, start.field) != (end.owner, end.field) or end.index < start.index:
            raise CodemodError(f"rows {first.row} and {last.row} do not bound a run of one block")
        self._plan(start).wraps.append((start.index, end.index + 1, op))

    def _plan(self, slot: Slot) -> BlockPlan:
        self.touched.add(id(slot.owner))
        for outer in self._statements.around(slot):
            self.touched |= {id(outer.owner), id(outer.statement)}
        return self.plans[id(slot.owner), slot.field]

    def _check(self) -> None:
        if self._replaced & self.touched:
            raise CodemodError("an operation lies inside a statement that is replaced")
        for plan in self.plans.values():
            # Of two with one range the first listed stays the outer one: sorting is stable.
            plan.wraps.sort(key=lambda wrap: (wrap[0], -wrap[1]))
            open_ends: list[int] = []
            for start, end, wrap in plan.wraps:
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                if open_ends and end > open_ends[-1]:
                    raise CodemodError(f"two wraps cross in row {wrap.first.row}")
                open_ends.append(end)


def _has_docstring(owner: ast.AST) -> bool:
    documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return isinstance(owner, documented) and ast.get_docstring(owner, clean=False) is not None

"""From the spans of a plan to the nodes of ``ast`` that stand there."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span

_BLOCKS = ("body", "orelse", "finalbody")

#: Strings that hold expressions. Template strings exist since Python 3.14.
FSTRINGS = (ast.JoinedStr, getattr(ast, "TemplateStr", ast.JoinedStr))


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a statement: number ``index`` of the block ``field`` of ``owner``."""

    owner: ast.AST
    field: str
    index: int

    @property
    def block(self) -> list[ast.stmt]:
        """The statements of the block."""
        statements: list[ast.stmt] = getattr(self.owner, self.field)
        return statements

    @property
    def statement(self) -> ast.stmt:
        """The statement in this place."""
        return self.block[self.index]


@dataclass(frozen=True, slots=True)
class Site:
    """An expression, the place that holds it, and the statement that it belongs to."""

    node: ast.expr
    parent: ast.AST
    field: str
    statement: ast.stmt
    in_fstring: bool


class Statements:
    """The statements of one part of a module or class, by their spans."""

    def __init__(self, owner: ast.Module | ast.ClassDef, part: range, lines: Lines) -> None:
        self._lines = lines
        self._slots: dict[Span, Slot] = {}
        self._beginning: dict[tuple[int, int], Slot] = {}
        self._homes: dict[int, Slot] = {}
        pending = [Slot(owner, "body", index) for index in part]
        while pending:
            slot = pending.pop()
            self._enter(slot, lines)
            for inner, field in blocks(slot.statement):
                if inner is not slot.statement:
                    self._homes[id(inner)] = slot
                pending += [Slot(inner, field, k) for k in range(len(getattr(inner, field)))]

    def _enter(self, slot: Slot, lines: Lines) -> None:
        statement = slot.statement
        span = lines.span(statement)
        self._slots[span] = self._homes[id(statement)] = slot
        self._beginning[span.row, span.column] = slot
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        if decorators:
            first = lines.span(decorators[0])
            # A decorator's own span begins behind its "@", which stands in the column of the "def".
            for column in (first.column, span.column):
                self._slots[Span(first.row, column, span.end_row, span.end_column)] = slot

    def at(self, span: Span) -> Slot:
        """The statement at ``span``.

        Raises:
            CodemodError: when there is none.
        """
        slot = self._slots.get(span)
        if slot is None:
            raise CodemodError(f"no statement at {_place(span)}")
        return slot

    def first(self, span: Span) -> Slot:
        """The first statement of those that ``span`` goes over: two may be read as one.

        Raises:
            CodemodError: when no statement begins where ``span`` does.
        """
        slot = self._slots.get(span) or self._beginning.get((span.row, span.column))
        if slot is None:
            raise CodemodError(f"no statement at {_place(span)}")
        return slot

    def last(self, span: Span) -> Slot:
        """The last statement of those.

        Raises:
            CodemodError: when no statement ends where ``span`` does.
        """
        slot = self.first(span)
        for index in range(slot.index, len(slot.block)):
            own = self._lines.span(slot.block[index])
            if (own.end_row, own.end_column) == (span.end_row, span.end_column):
                return replace(slot, index=index)
        raise CodemodError(f"no statement at {_place(span)}")

    def extent(self, span: Span) -> Span:
        """The span of the statement at ``span``, its decorators included."""
        statement = self.at(span).statement
        rows = [decorator.lineno for decorator in getattr(statement, "decorator_list", ())]
        return Span(min([span.row, *rows]), span.column, span.end_row, span.end_column)

    def around(self, slot: Slot) -> Iterator[Slot]:
        """The places of the statements around ``slot``, from the inside out."""
        inner = self._homes.get(id(slot.owner))
        while inner is not None:
            yield inner
            inner = self._homes.get(id(inner.owner))


def blocks(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """The blocks of a statement, its handlers' and cases' included: owner and field."""
    for name in ("handlers", "cases"):
        for owner in getattr(statement, name, ()):
            yield owner, "body"
    for field in _BLOCKS:
        if getattr(statement, field, None):
            yield statement, field


def sites(nodes: Sequence[ast.stmt], wanted: Collection[Span], lines: Lines) -> dict[Span, Site]:
    """The expressions in ``nodes`` at the spans ``wanted``, the outermost of those with one span.

    Raises:
        CodemodError: when there is none at one of the spans.
    """
    rows = {span.row for span in wanted}
    missing = set(wanted)
    found: dict[Span, Site] = {}
    pending: deque[tuple[ast.AST, ast.stmt, bool]] = deque((node, node, False) for node in nodes)
    while pending and missing:
        parent, statement, in_fstring = pending.pop()
        for field, child in children(parent):
            if isinstance(child, ast.expr) and child.lineno in rows:
                span = lines.span(child)
                if span in missing:
                    missing.remove(span)
                    found[span] = Site(child, parent, field, statement, in_fstring)
            if isinstance(child, ast.stmt):
                pending.append((child, child, False))
            elif isinstance(child, FSTRINGS):
                # Last, because their parts may have wrong positions (before Python 3.12).
                pending.appendleft((child, statement, True))
            else:
                pending.append((child, statement, in_fstring))
    if missing:
        raise CodemodError(f"no expression at {_place(min(missing))}")
    return found


def children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The nodes directly below ``node``, each with the field that holds it."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield field, value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    yield field, item


def _place(span: Span) -> str:
    return f"row {span.row}, column {span.column + 1}"

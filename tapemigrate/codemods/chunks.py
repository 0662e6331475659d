"""The parts of a file that a plan touches: runs of statements, as whole lines.

They are statements of the module, or of a class of it: to rewrite a method, it alone is parsed.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.layout import margin
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, Op, ReplaceStatement, Wrap


@dataclass(slots=True)
class Chunk:
    """Statements of ``owner`` (by index), the rows that they fill, and what happens to them."""

    owner: ast.Module | ast.ClassDef
    part: range
    row: int
    end_row: int
    ops: list[Op] = field(default_factory=list)

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements themselves."""
        return self.owner.body[self.part.start : self.part.stop]


def chunks(tree: ast.Module, ops: Sequence[Op], lines: Lines) -> list[Chunk]:
    """The chunks that ``ops`` touch, in the order of the text.

    Raises:
        CodemodError: when an operation lies outside of every statement.
    """
    found: list[Chunk] = []
    for chunk in _runs(tree, ops):
        match chunk.statements:
            case [ast.ClassDef() as cls] if _holds(cls, chunk.ops, lines):
                found += _runs(cls, chunk.ops)
            case _:
                found.append(chunk)
    return found


def _runs(owner: ast.Module | ast.ClassDef, ops: Sequence[Op]) -> list[Chunk]:
    starts = [_first_row(statement) for statement in owner.body]
    ends = [statement.end_lineno or statement.lineno for statement in owner.body]
    runs = sorted((_run(op, starts, ends), k) for k, op in enumerate(ops))
    found: list[tuple[int, int, list[int]]] = []
    for (start, end), k in runs:
        if found and start < found[-1][1]:
            first, last, indices = found[-1]
            indices.append(k)
            found[-1] = (first, max(last, end), indices)
        else:
            found.append((start, end, [k]))
    return [
        Chunk(
            owner,
            range(start, end),
            starts[start],
            ends[end - 1],
            [ops[k] for k in sorted(indices)],
        )
        for start, end, indices in found
    ]


def _holds(cls: ast.ClassDef, ops: Sequence[Op], lines: Lines) -> bool:
    """Whether all happens in statements of the class, and all of those stay."""
    first = _first_row(cls.body[0])
    own = {lines.span(statement) for statement in cls.body}
    return (
        lines.span(cls.body[0]).column == len(margin(lines.row(first))) > 0
        and all(_bounds(op)[0].row >= first for op in ops)
        and not any(isinstance(op, ReplaceStatement) and op.span in own for op in ops)
    )


def _run(op: Op, starts: list[int], ends: list[int]) -> tuple[int, int]:
    """The indices of the statements on whose rows ``op`` works: first, and last plus one."""
    first, last = _bounds(op)
    start = bisect_left(ends, first.row)
    end = bisect_right(starts, last.end_row)
    if not start < end or first.row < starts[start]:
        raise CodemodError(f"no statement in row {first.row}")
    # Statements that share a line go together.
    while start and ends[start - 1] == starts[start]:
        start -= 1
    while end < len(starts) and starts[end] == ends[end - 1]:
        end += 1
    return start, end


def _bounds(op: Op) -> tuple[Span, Span]:
    match op:
        case Wrap(first, last):
            return first, last
        case Insert(anchor):
            return anchor, anchor
        case _:
            return op.span, op.span


def _first_row(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])

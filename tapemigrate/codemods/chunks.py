"""The parts of a file that a plan touches: runs of top-level statements, as whole lines."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, Op, Wrap


@dataclass(slots=True)
class Chunk:
    """Statements of a module (by index), the rows that they fill, and what happens to them."""

    part: range
    row: int
    end_row: int
    ops: list[Op] = field(default_factory=list)


def chunks(tree: ast.Module, ops: Sequence[Op]) -> list[Chunk]:
    """The chunks that ``ops`` touch, in the order of the text.

    Raises:
        CodemodError: when an operation lies outside of every statement.
    """
    starts = [_first_row(statement) for statement in tree.body]
    ends = [statement.end_lineno or statement.lineno for statement in tree.body]
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
        Chunk(range(start, end), starts[start], ends[end - 1], [ops[k] for k in sorted(indices)])
        for start, end, indices in found
    ]


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

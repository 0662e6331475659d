"""Names that stand in for what LibCST need not, or must not, see.

LibCST is here for the statements. Of expressions it only needs those over several lines, which move
with their block. The others make it slow (three times, measured), and some are beyond it. LibCST
1.9: the native parser ends the process at 6,000 nested operands; its time grows with the square of
the depth (3 s at 3,000), with the cube for nested calls, exponentially for nested patterns; and it
counts newlines inside an f-string as indentation. What is taken out before it parses is put back
afterwards, untouched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tapemigrate.codemods.expressions import Splice, parentheses, splice
from tapemigrate.codemods.locate import FSTRINGS, children
from tapemigrate.patterns import late
from tapemigrate.source.positions import Lines

MAX_DEPTH = 100
MAX_CHARACTERS = 20_000
# Shorter than this a name is no gain.
_MIN_CHARACTERS = 16

_WORD = late(r"\w")
# What lets a string, or an expression inside an f-string, go over several lines. The "=" is there
# because what stands around it in the braces is text.
_ACROSS = late(r"'''|\"\"\"|\\[\r\n]|=\s*[}!:]")


class Stubs:
    """The names in use in one text, and what they stand for."""

    def __init__(self, text: str) -> None:
        self._prefix = "__stub"
        while self._prefix in text:
            self._prefix += "_"
        self._kept: list[str] = []

    def add(self, text: str, start: int, end: int, code: str) -> str:
        """A new name that stands for ``code``, which belongs between ``start`` and ``end``."""
        self._kept.append(code)
        name = f"{self._prefix}{len(self._kept) - 1}"
        # ``return[a]``: a bare name would run into the keyword.
        neighbours = text[max(start - 1, 0) : start] + text[end : end + 1]
        return f"({name}y)" if _WORD.search(neighbours) else f"{name}x"

    def restore(self, text: str) -> str:
        """``text`` with the code back in place of the names."""
        names = rf"\({self._prefix}(\d+)y\)|{self._prefix}(\d+)x"
        return re.sub(names, lambda match: self._kept[int(match[1] or match[2])], text)


def with_stubs(
    nodes: Sequence[ast.AST], parts: Sequence[Splice], text: str, lines: Lines, stubs: Stubs
) -> list[Splice]:
    """``parts`` and the stubs of ``nodes``, in the order of the text; a stub holds its parts."""
    spans = [_offsets(node, text, lines) for node in _stubbed(nodes, lines)]
    out: list[Splice] = []
    rest = list(reversed(parts))
    for start, end in sorted(spans):
        while rest and rest[-1][1] <= start:
            out.append(rest.pop())
        if rest and rest[-1][0] <= start and end <= rest[-1][1]:
            continue  # A replacement takes it out anyway.
        inside = []
        while rest and rest[-1][1] <= end:
            inside.append(rest.pop())
        code = splice(text, start, end, inside)
        out.append((start, end, stubs.add(text, start, end, code)))
    return out + rest[::-1]


def _stubbed(nodes: Sequence[ast.AST], lines: Lines) -> Iterator[ast.expr | ast.pattern]:
    pending = list(nodes)
    while pending:
        for _, child in children(pending.pop()):
            if isinstance(child, ast.pattern):
                yield child
            elif isinstance(child, ast.Name):
                continue
            elif not isinstance(child, ast.expr):
                pending.append(child)
            elif not _rows(child):
                if (child.end_col_offset or 0) - child.col_offset >= _MIN_CHARACTERS:
                    yield child
            else:
                deep, strings = _look_into(child, lines)
                if deep or len(lines.segment(lines.span(child))) > MAX_CHARACTERS:
                    yield child
                else:
                    yield from strings


def _offsets(node: ast.expr | ast.pattern, text: str, lines: Lines) -> tuple[int, int]:
    end_row, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    start = lines.offset(node.lineno, lines.column(node.lineno, node.col_offset))
    end = lines.offset(end_row, lines.column(end_row, end_column))
    # The parentheses around a pattern count as nesting, too.
    while isinstance(node, ast.pattern) and (outer := parentheses(text, start, end)):
        start, end = outer
    return start, end


def _look_into(expression: ast.expr, lines: Lines) -> tuple[bool, list[ast.expr]]:
    """Whether ``expression`` is nested too deeply, and its strings over several lines."""
    strings: list[ast.expr] = []
    pending: list[tuple[ast.AST, int]] = [(expression, 1)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, ast.BoolOp):
            depth += len(node.values)
        elif isinstance(node, (ast.Constant, *FSTRINGS)):
            # LibCST nests adjacent strings, which rarely stand more than one to a line.
            depth += _rows(node)
            if _goes_across(node, lines):
                strings.append(node)
                continue
        if depth > MAX_DEPTH:
            return True, []
        pending += [(child, depth + 1) for _, child in children(node)]
    return False, strings


def _goes_across(node: ast.expr, lines: Lines) -> bool:
    """Whether a line begins inside of a string."""
    return _rows(node) > 0 and _ACROSS.search(lines.segment(lines.span(node))) is not None


def _rows(node: ast.expr) -> int:
    return (node.end_lineno or node.lineno) - node.lineno

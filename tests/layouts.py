"""Ways to break the lines of a program that leave its tree as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


def in_one_row(text: str) -> str:
    """Puts two simple statements that follow each other into one row, wherever that can be."""
    lines = text.split("\n")
    for block in _blocks(ast.parse(text)):
        place = 0
        while place + 1 < len(block):
            one, two = block[place : place + 2]
            joins = _takes_a_row(one, lines) and _takes_a_row(two, lines)
            if joins and two.lineno == one.lineno + 1:
                lines[one.lineno - 1] += "; " + lines[two.lineno - 1].lstrip()
                lines[two.lineno - 1] = _GONE
                place += 1
            place += 1
    return "\n".join(line for line in lines if line is not _GONE)


def over_three_rows(text: str) -> str:
    """Puts what names are given into brackets, in a row of its own."""
    lines = text.split("\n")
    for block in _blocks(ast.parse(text)):
        for stmt in block:
            if isinstance(stmt, ast.Assign) and _takes_a_row(stmt, lines):
                row, value = stmt.lineno - 1, stmt.value
                start, line = value.col_offset, lines[row]
                margin = " " * stmt.col_offset
                lines[row] = f"{line[:start]}(\n{margin}    {line[start:]}\n{margin})"
    return "\n".join(lines)


#: All of them, by their names.
LAYOUTS: dict[str, Callable[[str], str]] = {
    "in one row": in_one_row,
    "over three rows": over_three_rows,
}

# What no program has for a line.
_GONE = "\n"


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _takes_a_row(stmt: ast.stmt, lines: list[str]) -> bool:
    """Whether it is a simple statement that has one row for itself. Texts may be docstrings."""
    line = lines[stmt.lineno - 1]
    return (
        isinstance(stmt, _SIMPLE)
        and stmt.lineno == stmt.end_lineno
        and stmt.end_col_offset == len(line)
        and not line[: stmt.col_offset].strip()
        and line.isascii()
        and not isinstance(getattr(stmt, "value", None), ast.Constant | ast.Lambda | ast.Tuple)
    )

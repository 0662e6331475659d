"""The blank lines that a ``def`` wants around it: two in a module, one elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.source.positions import Lines


def missing_above(lines: Lines, block: Sequence[ast.stmt], stmt: ast.stmt, wanted: int) -> int:
    """How many more ``stmt`` of ``block`` wants above it: none below a comment."""
    if block and block[0] is stmt:
        return 0
    row = min([stmt.lineno, *(d.lineno for d in getattr(stmt, "decorator_list", []))]) - 1
    found = 0
    while row > 0 and not lines.row(row).strip():
        found += 1
        row -= 1
    if lines.row(row).lstrip().startswith("#"):
        return 0
    return max(0, wanted - found)


def missing_below(lines: Lines, block: Sequence[ast.stmt], stmt: ast.stmt, wanted: int) -> int:
    """How many more ``stmt`` of ``block`` wants below it."""
    if not block or block[-1] is stmt:
        return 0
    row = (stmt.end_lineno or stmt.lineno) + 1
    found = 0
    while row <= len(lines) and not lines.row(row).strip():
        found += 1
        row += 1
    return max(0, wanted - found)

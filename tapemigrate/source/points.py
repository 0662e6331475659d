"""Where nodes begin and end: what comes first in a text, also in one row, or over several."""

from __future__ import annotations

import ast

#: A row, from one, and a column in UTF-8 bytes, from zero, as ``ast`` counts them.
Point = tuple[int, int]
#: Ahead of everything that stands in a text.
AHEAD: Point = (0, 0)
_Placed = ast.stmt | ast.expr | ast.alias | ast.arg | ast.excepthandler | ast.pattern


def begin(node: _Placed) -> Point:
    """Where the node begins; a decorated function at its ``def``."""
    return node.lineno, node.col_offset


def end(node: _Placed) -> Point:
    """Where the node ends. The parser always says so; of nodes made by hand, where they begin."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset

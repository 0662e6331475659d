"""New statements as ops, with the blank lines that a ``def`` wants around it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from tapemigrate.rules.finding import Unit
from tapemigrate.source.blank_lines import missing_above, missing_below
from tapemigrate.tape.plan import Insert, Op, ReplaceStatement


def inserted(unit: Unit, stmt: ast.stmt, statements: Sequence[str]) -> list[Op]:
    """``statements`` above ``stmt``."""
    if not statements:
        return []
    anchor = _anchor(unit, stmt)
    blank = _wanted(unit, anchor)
    code = _joined(statements, blank)
    if _is_def(statements[0]):
        code = "\n" * missing_above(unit.lines, block_of(unit, anchor), anchor, blank) + code
    if _is_def(statements[-1]):
        code += "\n" * (blank + 1)
    return [Insert(unit.lines.span(anchor), "before", code)]


def below_another(ops: list[Op]) -> list[Op]:
    """``ops`` of ``inserted``, where those before them end in the blank lines that are wanted."""
    return [replace(op, code=op.code.lstrip("\n")) for op in ops if isinstance(op, Insert)]


def put_in_place(
    unit: Unit, stmt: ast.stmt, statements: Sequence[str], replaced: Collection[ast.stmt]
) -> list[Op]:
    """``statements`` in the place of ``stmt``. Those ``replaced`` before brought blank lines."""
    blank = _wanted(unit, stmt)
    code = _joined(statements, blank)
    block = block_of(unit, stmt)
    index = block.index(stmt) if stmt in block else 0
    if _is_def(statements[0]) and not (index and block[index - 1] in replaced):
        code = "\n" * missing_above(unit.lines, block, stmt, blank) + code
    if _is_def(statements[-1]):
        code += "\n" * (missing_below(unit.lines, block, stmt, blank) + 1)
    return [ReplaceStatement(unit.lines.span(stmt), code)]


def _anchor(unit: Unit, stmt: ast.stmt) -> ast.stmt:
    """``stmt`` itself, or the ``if`` of which it is an ``elif``."""
    while True:
        outer = unit.parents[stmt]
        if (
            isinstance(stmt, ast.If)
            and isinstance(outer, ast.If)
            and outer.orelse == [stmt]
            and unit.lines.segment(unit.lines.span(stmt)).startswith("elif")
        ):
            stmt = outer
            continue
        return stmt


def _is_def(statement: str) -> bool:
    return statement.startswith("def ")


def _wanted(unit: Unit, stmt: ast.stmt) -> int:
    return 2 if isinstance(unit.parents[stmt], ast.Module) else 1


def _joined(statements: Sequence[str], blank: int) -> str:
    code = ""
    for index, statement in enumerate(statements):
        if index and (_is_def(statement) or _is_def(statements[index - 1])):
            code += "\n" * blank
        code += statement + ("\n" if index < len(statements) - 1 else "")
    return code


def block_of(unit: Unit, stmt: ast.stmt) -> list[ast.stmt]:
    """The statements among which ``stmt`` stands; none in an ``except`` or a ``case``."""
    parent = unit.parents[stmt]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and any(s is stmt for s in block):
            return block
    return []

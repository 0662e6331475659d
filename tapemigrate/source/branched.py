"""A choice that is given to something, read as the branches of a statement.

``net = Deep(x) if deep else Flat(x)`` is ``if deep: net = Deep(x)``, ``else: net = Flat(x)`` in all
but the text. Each branch stands where the choice does, so that what is written round one goes round
all: choices of a number, or None, are read as they are, which nothing could watch.
"""

from __future__ import annotations

import ast
import copy

from tapemigrate.patterns import late
from tapemigrate.source.apart import blocks_of_functions, is_whole, stand_for
from tapemigrate.source.trees import walk

_FORM = late(r"\selse\s(?!:)")


def branch_choices(tree: ast.Module, text: str) -> bool:
    """Makes branches of choices; whether there are any."""
    if _FORM.search(text) is None:
        return False
    done = False
    for block in blocks_of_functions(tree):
        for place, stmt in enumerate(block):
            if isinstance(stmt, ast.Assign) and _chooses(stmt.value) and not is_whole(stmt.value):
                stand_for(tree, block, place, _branched(stmt, stmt.targets, stmt.value))
                done = True
    return done


def _chooses(value: ast.expr) -> bool:
    return isinstance(value, ast.IfExp) and not any(
        isinstance(node, ast.Constant) or _is_negative(node)
        for choice in walk(value)
        if isinstance(choice, ast.IfExp)
        for node in (choice.body, choice.orelse)
    )


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _branched(stmt: ast.Assign, targets: list[ast.expr], value: ast.expr) -> ast.stmt:
    if not isinstance(value, ast.IfExp):
        return ast.copy_location(ast.Assign(targets, value), stmt)
    body = _branched(stmt, targets, value.body)
    orelse = _branched(stmt, copy.deepcopy(targets), value.orelse)
    return ast.copy_location(ast.If(value.test, [body], [orelse]), stmt)

"""Whether a name, where it is read, has got another value since its function was defined.

Scripts call ``loss(…)`` once, and then keep numbers as ``loss``.
"""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.source.trees import arguments_of, walk

_BLOCKS = ("body", "orelse", "finalbody")
# What may be a function.
_FUNCTIONS = (ast.Name, ast.Attribute, ast.Lambda, ast.IfExp, ast.BoolOp, ast.Subscript)


def is_rebound_before(unit: Unit, node: ast.Name) -> bool:
    """Whether a statement above ``node`` assigned to its name in its scope.

    It stands in no branch, so that it ran; a loop that gives the name its value was gone round, for
    nobody keeps a function for when it was not. Nothing after that may define the name again.
    """
    child: ast.AST = node
    parent = unit.parents.get(child)
    while parent is not None:
        # A conditional expression has a body, too.
        blocks = (getattr(parent, field, None) for field in _BLOCKS)
        block = next((b for b in blocks if isinstance(b, list) and child in b), [])
        for stmt in reversed(block[: block.index(child)] if block else []):
            if _assigns(stmt, node.id):
                return True
            if any(_may_define(n, node.id) for n in walk(stmt)):
                return False
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            return False
        child, parent = parent, unit.parents.get(parent)
    return False


def may_replace(value: ast.expr, name: str) -> bool:
    """Whether a value that a function's name is given may be another function.

    ``if fast: grad = other``, ``grad = traced(grad)``. Of other calls, numbers come.
    """
    if isinstance(value, ast.Call):
        return any(_may_be(each, name) for each in arguments_of(value))
    return isinstance(value, _FUNCTIONS) and not _may_be(value, name)


def _assigns(stmt: ast.stmt, name: str) -> bool:
    if isinstance(stmt, ast.With | ast.For | ast.While):
        last = next((s for s in reversed(stmt.body) if _assigns(s, name)), None)
        after = stmt.body[stmt.body.index(last) + 1 :] if last is not None else []
        return last is not None and not any(_may_define(n, name) for s in after for n in walk(s))
    if not isinstance(stmt, ast.Assign) or any(_may_be(n, name) for n in walk(stmt.value)):
        return False
    pending = list(stmt.targets)
    for target in pending:  # which grows meanwhile
        if isinstance(target, ast.Tuple | ast.List):
            pending += target.elts
        elif isinstance(target, ast.Starred):
            pending.append(target.value)
    return any(isinstance(t, ast.Name) and t.id == name for t in pending)


def _may_be(node: ast.AST, name: str) -> bool:
    """Whether what is assigned may hand the function on: ``loss = partial(loss, 1)``."""
    return isinstance(node, ast.Name) and node.id == name


def _may_define(node: ast.AST, name: str) -> bool:
    """Whether it may give the name the function, or one of the same name."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name == name
        case ast.Import() | ast.ImportFrom():
            return any(name in (a.asname or a.name, "*") or a.name == "*" for a in node.names)
        case ast.Delete():
            return any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        case ast.Global():
            return name in node.names
    return False

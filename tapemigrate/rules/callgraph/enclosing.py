"""The function in which another one stands: outside of it, its name means nothing."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View


def enclosing(view: View) -> tuple[Unit, ast.AST] | None:
    """The function in which the scope is nested; its name means nothing outside of that."""
    node = view.unit.parents.get(view.scope)
    while node is not None:
        if isinstance(node, ast.ClassDef):
            return None
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return view.unit, node
        node = view.unit.parents.get(node)
    return None

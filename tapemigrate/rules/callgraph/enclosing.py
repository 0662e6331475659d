"""The function in which another one stands: outside of it, its name means nothing.

What names it has that it does not bind, that function may.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View


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


def outer_definitions(project: Project, view: View, path: Path) -> tuple[View, list[Def]] | None:
    """What the nearest function around gives a closure's name, or that part of what it names."""
    unit = view.unit
    node: ast.AST | None = unit.parents.get(view.scope)
    while node is not None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            outer = project.view(unit, node)
            made = [d for d in outer.flow.defs.values() if d.kind is not Kind.ENTRY]
            if any(d.path == path[:1] for d in made):
                return outer, [d for d in made if d.path[: len(path)] == path[: len(d.path)]]
        node = unit.parents.get(node)
    return None

"""The function in which another one stands: outside of it, its name means nothing.

What names it has that it does not bind, that function may.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

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
                return outer, _of(made, path)
        node = unit.parents.get(node)
    return None


def definitions_around(project: Project, view: View, path: Path) -> tuple[View, list[Def]] | None:
    """What gives a name that comes from outside its value, a function around or the module."""
    found = outer_definitions(project, view, path)
    if found is not None or isinstance(view.scope, ast.Module):
        return found
    module = project.view(view.unit, view.unit.tree)
    made = _of(module.flow.given(path[0]), path)
    return (module, made) if made else None


def _of(made: Iterable[Def], path: Path) -> list[Def]:
    return [d for d in made if d.path[: len(path)] == path[: len(d.path)]]

"""Attributes that an object cannot have yet, where its constructor has run nothing before."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk


def is_first_to_run(view: View, before: Iterable[ast.stmt]) -> bool:
    """Whether a constructor has given its object nothing by the end of these statements."""
    scope, me = view.scope, view.kinds.self_name
    return (
        isinstance(scope, ast.FunctionDef)
        and scope.name == "__init__"
        and scope in getattr(view.cls, "body", [])
        and not any(_knows_self(view.unit, node, me) for stmt in before for node in walk(stmt))
    )


def of_class(project: Project, view: View, name: str) -> bool:
    """Whether the class of the object has the attribute itself, or may compute it when asked."""
    known = classes(project)
    names = {view.cls.name, *known.above(view.cls.name)} if view.cls is not None else set()
    return any(
        name in _names(stmt)
        for each in sorted(names)
        for _, cls in known.named(each)
        for stmt in cls.body
    )


def _names(stmt: ast.stmt) -> set[str]:
    """What a statement of a class gives it."""
    if isinstance(stmt, NamedFunction):
        return {stmt.name}
    return {n.id for n in walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _knows_self(unit: Unit, node: ast.AST, me: str | None) -> bool:
    """Whether what stands there may give the object attributes that it does not name."""
    if not isinstance(node, ast.Name):
        return False
    if node.id == "super":
        return True
    parent = unit.parents.get(node)
    if node.id != me or not isinstance(parent, ast.Attribute):
        return node.id == me
    above = unit.parents.get(parent)
    called = isinstance(above, ast.Call) and above.func is parent
    return called or parent.attr == "__dict__"

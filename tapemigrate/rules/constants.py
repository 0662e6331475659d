"""Attributes of classes that are written out as Python values: ``Model.defaults``."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import Path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk

_MAKERS = frozenset({"dict", "list", "set", "tuple", "frozenset"})


def is_constant_of_class(project: Project, unit: Unit, path: Path) -> bool:
    """Whether the path is one: set in the body of the class, and nowhere else."""
    name = path[1].lstrip(".") if len(path) > 1 else ""
    classes = [c for c in unit.nodes(ast.ClassDef) if c.name == path[0]]
    if len(classes) != 1 or any(
        n.attr == name and not isinstance(n.ctx, ast.Load) for n in unit.nodes(ast.Attribute)
    ):
        return False
    if project.foreign_stores(unit, classes[0], name):
        return False
    values = [
        stmt.value
        for stmt in classes[0].body
        if isinstance(stmt, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in stmt.targets)
    ]
    return bool(values) and all(_is_written_out(value) for value in values)


def _is_written_out(value: ast.expr) -> bool:
    for node in walk(value):
        match node:
            case ast.Name() if node.id not in _MAKERS:
                return False
            case ast.Call() if not isinstance(node.func, ast.Name):
                return False
            case ast.Attribute() | ast.Lambda():
                return False
    return True

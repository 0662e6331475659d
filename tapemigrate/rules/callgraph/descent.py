"""Which class of the files at hand a name means, and whether one class extends another for sure."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.places import import_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import top_level


def means_class(
    project: Project, unit: Unit, node: ast.expr, home: Unit, cls: ast.ClassDef
) -> bool | None:
    """Whether ``node``, in ``unit``, means ``cls``, which stands in ``home``; None: perhaps."""
    path = unit.names.qualified(node)
    if path is not None:
        return leads_to(project, path, unit, home, cls.name)
    if unit is home or not isinstance(node, ast.Name):
        return unit is home and isinstance(node, ast.Name)
    stars = {
        leads_to(project, import_path(stmt, node.id), unit, home, cls.name)
        for stmt in top_level(unit.tree)
        if isinstance(stmt, ast.ImportFrom) and stmt.names[0].name == "*"
    }
    return True if True in stars else None if None in stars else False


def descends(
    project: Project,
    unit: Unit,
    cls: ast.ClassDef,
    home: Unit,
    goal: ast.ClassDef,
    seen: frozenset[ast.ClassDef] = frozenset(),
) -> bool | None:
    """Whether ``cls``, of ``unit``, extends ``goal``, of ``home``, through any number of levels."""
    found: set[bool | None] = set()
    for base in cls.bases:
        name = (path_of(base) or ("",))[-1].lstrip(".")
        for there, other in classes(project).named(name):
            meant = means_class(project, unit, base, there, other)
            if meant is False or other in seen:
                continue
            above = other is goal or descends(project, there, other, home, goal, seen | {cls})
            found.add(above and meant)
    return True if True in found else None if None in found else False

"""Expressions whose mere reading runs code of the program: properties, and what finds parts."""

from __future__ import annotations

import ast

from tapemigrate.flow.hooks import decorator_itself
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project

# Decorators under which an attribute is read without running anything.
_PLAIN = frozenset({"staticmethod", "classmethod", ".abstractmethod", "abstractmethod"})
_FINDS_ATTRIBUTES = ("__getattr__", "__getattribute__")
_FINDS_ELEMENTS = ("__getitem__", "__missing__")


def acts(node: ast.expr) -> bool:
    """Whether evaluating ``node`` may do more than give a value."""
    return any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await) for n in ast.walk(node))


def computes(project: Project, unit: Unit, node: ast.expr) -> bool:
    """Whether evaluating ``node`` may give another value each time, or is for a tape to record."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and unit.names.qualified(part) is None:
            if _found_by(project, _FINDS_ATTRIBUTES) or _is_computed(project, part.attr):
                return True
        if isinstance(part, ast.Subscript) and _found_by(project, _FINDS_ELEMENTS):
            return True
    return acts(node)


def _found_by(project: Project, hooks: tuple[str, ...]) -> bool:
    """Whether some class finds its parts by code of its own."""
    return any(
        function.name in hooks
        for unit in project.units.having(*hooks)
        for function in unit.nodes(ast.FunctionDef)
    )


def _is_computed(project: Project, attribute: str) -> bool:
    """Whether some class computes the attribute: by a property, or what a call makes of one."""
    for unit in project.units.having(attribute):
        for function in unit.nodes(ast.FunctionDef):
            if function.name == attribute and not all(
                _is_plain(unit, d) for d in function.decorator_list
            ):
                return True
        for cls in unit.nodes(ast.ClassDef):
            for stmt in cls.body:
                if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call):
                    targets = (t.id for t in stmt.targets if isinstance(t, ast.Name))
                    if attribute in targets:
                        return True
    return False


def _is_plain(unit: Unit, decorator: ast.expr) -> bool:
    made = decorator_itself(decorator)
    path = path_of(made)
    own = path is not None and path[-1] in _PLAIN
    return own or (unit.names.qualified(made) or "").startswith("tensorflow.")

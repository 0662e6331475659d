"""What is put into attributes of ``self`` after they were made, and what other files put there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import bases, classes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk


def inherited_values(project: Project, view: View, name: str) -> list[tuple[Unit, ast.expr]]:
    """What base classes of other files assign to ``self.name``."""
    return [
        (unit, value)
        for unit, cls in bases_elsewhere(project, view)
        for value in assigned_in(unit, cls).get(name, ())
    ]


def set_below(project: Project, view: View, name: str) -> bool:
    """Whether a class of another file that extends the one at hand assigns to ``self.name``."""
    if view.cls is None:
        return False
    known = project.family(view.unit, view.cls)
    return any(
        cls not in known and name in assigned_in(unit, cls)
        for unit, cls in beside(project, view.cls)
    )


def contents(project: Project, view: View, name: str) -> list[tuple[Unit, ast.expr]]:
    """What methods put into ``self.name``, a list or a dict, after it was made."""
    if view.cls is None:
        return []
    classes = [(view.unit, cls) for cls in project.family(view.unit, view.cls)]
    found: list[tuple[Unit, ast.expr]] = []
    for unit, cls in [*classes, *bases_elsewhere(project, view)]:
        found += [(unit, value) for value in put_by_class(unit, cls).get(name, ())]
    return found


def put_by_class(unit: Unit, cls: ast.ClassDef) -> dict[str, list[ast.expr]]:
    """What methods of ``cls``, a class of ``unit``, put into attributes, by the names of these."""
    filled = unit.once(_filled)
    if cls not in filled:
        filled[cls] = {}
        for attribute, value in _filled_in(cls):
            filled[cls].setdefault(attribute, []).append(value)
    return filled[cls]


def bases_elsewhere(project: Project, view: View) -> list[tuple[Unit, ast.ClassDef]]:
    """The classes of other files that the class of ``view`` may extend, and theirs."""
    if view.cls is None:
        return []
    known = set(project.family(view.unit, view.cls))
    found: list[tuple[Unit, ast.ClassDef]] = []
    pending = list(known)
    while pending:
        for name in bases(pending.pop()):
            for unit, cls in classes(project).named(name):
                if cls not in known:
                    known.add(cls)
                    pending.append(cls)
                    found.append((unit, cls))
    return found


def _filled(unit: Unit) -> dict[ast.ClassDef, dict[str, list[ast.expr]]]:
    return {}


def filled_by(method: ast.AST) -> set[str]:
    """The attributes into which the method itself puts something."""
    return {attribute for attribute, _ in _filled_in(method)}


def _filled_in(code: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in walk(code):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and _is_own(target.value):
                    yield target.value.attr, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CHANGERS and _is_own(node.func.value):
                values = [*node.args[-1:], *(k.value for k in node.keywords)]
                yield from ((node.func.value.attr, value) for value in values)


def _is_own(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)

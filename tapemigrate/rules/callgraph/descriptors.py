"""Objects in the bodies of classes whose ``__get__`` runs where an attribute is asked for."""

from __future__ import annotations

import ast
from collections import defaultdict

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of
from tapemigrate.rules.project import Project

Getter = tuple[Unit, NamedFunction]


def getters(project: Project, name: str) -> list[Getter]:
    """What runs where an attribute of that name is read, of objects of some class."""
    known = _known(project)
    homes = project.units.having(name) if known else ()
    made_by = {each for unit in homes for each in unit.once(_made_in_classes).get(name, ())}
    return [known[each] for each in sorted(made_by & known.keys())]


def is_descriptor(project: Project, cls: ast.ClassDef, name: str) -> bool:
    """Whether the body of the class gives the name such an object."""
    known = _known(project)
    return bool(known) and not known.keys().isdisjoint(_made_in(cls).get(name, ()))


def _known(project: Project) -> dict[str, Getter]:
    """By the names of the classes of such objects: the method that runs."""
    homes = project.units.defining("__get__")
    return {name: each for unit in homes for name, each in unit.once(_getting).items()}


def _getting(unit: Unit) -> dict[str, Getter]:
    return {
        cls.name: (unit, method)
        for cls in unit.nodes(ast.ClassDef)
        if (method := effects_of(unit).method(cls, "__get__")) is not None
    }


def _made_in_classes(unit: Unit) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for cls in unit.nodes(ast.ClassDef):
        for name, made_by in _made_in(cls).items():
            found[name] |= made_by
    return found


def _made_in(cls: ast.ClassDef) -> dict[str, set[str]]:
    """By the names that the body gives: of which classes the objects are."""
    found: dict[str, set[str]] = defaultdict(set)
    for stmt in cls.body:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call):
            made_by = (path_of(stmt.value.func) or ("",))[-1].lstrip(".")
            for target in stmt.targets:
                if isinstance(target, ast.Name):
                    found[target.id].add(made_by)
    return found

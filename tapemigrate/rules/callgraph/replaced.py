"""Functions in whose place another file has another one run: subclasses, mixins, what is set."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.changed_below import beside, bound_in
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.given_anew import is_set_elsewhere
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project


def is_replaced(
    project: Project, unit: Unit, cls: ast.ClassDef | None, function: NamedFunction
) -> bool:
    """Whether what means ``function`` in its own file may mean one of another file.

    As a method of ``cls``, or by its name in the module. What the file itself shows is known there.
    """
    known = project.once(_known)
    key = (cls, function)
    if key not in known:
        if cls is None:
            top = unit.parents.get(function) is unit.tree
            known[key] = top and is_set_elsewhere(project, unit, function.name)
        else:
            known[key] = _is_another_method(project, unit, cls, function.name)
    return known[key]


def _is_another_method(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
    others = beside(project, cls)
    return (
        any(name in bound_in(each) for home, each in others if home is not unit)
        # A mixin may be in a file that is not among those at hand.
        or any(classes(project).has_unseen_bases(home, each) for home, each in others)
        or any(home is not unit for home, _ in project.stores(name))
    )


def _known(_: Project) -> dict[tuple[ast.ClassDef | None, NamedFunction], bool]:
    return {}

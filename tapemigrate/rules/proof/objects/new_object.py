"""Whether the object of a method holds nothing yet: its constructor begins with the region."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import above
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region


def is_new(project: Project, view: View, region: Region) -> bool:
    """Whether nothing before the region names the object that the constructor makes.

    What its class holds is no part that the object was given. The constructor of a class below
    may have given it some, and so may who runs the constructor again.
    """
    scope, cls = view.scope, view.cls
    if not isinstance(scope, NamedFunction) or scope.name != "__init__" or cls is None:
        return False
    if region.block.body is not scope.body or scope.decorator_list:
        return False
    before = (n for stmt in scope.body[: region.first] for n in walk(stmt))
    if any(isinstance(n, ast.Name) and n.id == view.kinds.self_name for n in before):
        return False
    if classes(project).extending(cls.name):
        return False
    members = [stmt for _, each in above(project, view.unit, cls) for stmt in each.body]
    if any(isinstance(stmt, NamedFunction) and stmt.name == "__new__" for stmt in members):
        return False
    return not any(
        isinstance(n, ast.Attribute)
        and n.attr == "__init__"
        and isinstance(n.value, ast.Name)
        and n.value.id == view.kinds.self_name
        for stmt in members
        for n in walk(stmt)
    )

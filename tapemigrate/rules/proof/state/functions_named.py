"""Functions that a name of the module stands for, without being one: ``net = partial(body, 2)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, given_at_top
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import arguments_of, walk

# Through so many such names one is followed.
_DEPTH = 3


def is_run(unit: Unit, node: ast.expr) -> bool:
    """Whether what has the name is called there, or handed to code of the user's, which may."""
    parent = unit.parents.get(node)
    if isinstance(parent, ast.keyword | ast.Starred):
        parent = unit.parents.get(parent)
    if not isinstance(parent, ast.Call):
        return False
    if parent.func is node:
        return True
    path = unit.names.qualified(parent.func)
    return node in arguments_of(parent) and (path is None or not is_of_library(path))


def functions_named(
    project: Project, unit: Unit, name: str, depth: int = _DEPTH
) -> Iterator[tuple[Unit, NamedFunction | ast.Lambda]]:
    """The functions and lambdas that stand in what the module gives the name."""
    for value in unit.once(given_at_top).get(name, ()) if depth else ():
        if isinstance(value, ast.Lambda):
            continue  # which is a function of that name
        for node in walk(value):
            if isinstance(node, ast.Lambda):
                yield unit, node
            elif isinstance(node, ast.Name | ast.Attribute):
                yield from _meant(project, unit, node, depth)


def _meant(
    project: Project, unit: Unit, node: ast.Name | ast.Attribute, depth: int
) -> Iterator[tuple[Unit, NamedFunction | ast.Lambda]]:
    path = unit.names.qualified(node)
    if path is None and isinstance(node, ast.Name):
        yield from ((unit, each) for each in effects_of(unit).functions(node.id))
        yield from functions_named(project, unit, node.id, depth - 1)
    elif path is not None and not is_of_library(path):
        for home, name in homes_of(project, path):
            yield from ((home, each) for each in effects_of(home).functions(name))
            yield from functions_named(project, home, name, depth - 1)

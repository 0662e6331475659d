"""Functions of other files at hand that a call means by the name that it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.given_anew import is_given_anew
from tapemigrate.rules.callgraph.imported import homes_of, leads_to
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import top_level


def imported_functions(project: Project, view: View, func: ast.expr) -> Iterator[View]:
    """The functions that a called name, ``fc`` or ``layers.fc``, certainly means."""
    path = view.kinds.name(func)
    if path is None and isinstance(func, ast.Name):
        path = brought_from(project, view.unit, func.id)
    if path is None or is_of_library(path):
        return
    for home, name in homes_of(project, path):
        own = [s for s in top_level(home.tree) if isinstance(s, NamedFunction) and s.name == name]
        if own and leads_to(project, path, view.unit, home, name):
            yield from (project.view(home, each) for each in own)


def function_as_written(project: Project, view: View, func: ast.expr) -> View | None:
    """The one of them that the name means, where nothing gives it another, nor does a decorator."""
    found = list(imported_functions(project, view, func))
    scope = found[0].scope if len(found) == 1 else None
    if not isinstance(scope, ast.FunctionDef) or not runs_as_written(scope):
        return None
    return None if is_given_anew(project, found[0].unit, scope) else found[0]

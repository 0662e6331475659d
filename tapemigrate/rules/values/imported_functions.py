"""Functions of other files at hand that a call means by the name that it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of, leads_to
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import values_by_path
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


def functions_as_written(project: Project, view: View, func: ast.expr) -> list[View]:
    """The same, where nothing gives their names something else; none where that is not sure."""
    found = list(imported_functions(project, view, func))
    return [] if any(_is_replaced(project, each.unit, each.scope) for each in found) else found


def _is_replaced(project: Project, home: Unit, function: ast.AST) -> bool:
    """Whether the file, or one that names it, gives the name another value, or a decorator does."""
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return True
    values = home.once(values_by_path).get((function.name,), ())
    if any(isinstance(project.scope_of(home, value), ast.Module) for value in values):
        return True
    if set_by_text(project, home, function.name):
        return True
    stores = project.stores(function.name)
    return any(user.names.qualified(node) is not None for user, node in stores)

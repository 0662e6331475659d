"""What of other files decides what the objects hold whose methods ask for gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, self_name
from tapemigrate.source.trees import arguments_of


def class_links(project: Project, unit: Unit, scopes: Iterable[Scope]) -> frozenset[str]:
    """The modules of the bases of the classes whose methods ``scopes`` are, and of what fills them.

    A function that is handed an object may set a part of it: ``build_gates(self)``.
    """
    homes = {project.class_of(unit, scope) for scope in scopes} - {None}
    own = {cls for home in homes if home is not None for cls in project.family(unit, home)}
    if not own:
        return frozenset()
    users = [base for cls in own for base in cls.bases]
    users += [call.func for call in _handed(project, unit, own)]
    paths = (unit.names.qualified(user) for user in users)
    found = (split_path(path)[0] for path in paths if path and not is_of_library(path))
    return frozenset(filter(None, found))


def _handed(project: Project, unit: Unit, own: set[ast.ClassDef]) -> Iterator[ast.Call]:
    """The calls of other files' functions that objects of the classes are handed to."""
    names = {(cls.name,) for cls in own}
    made = {
        path_of(target)
        for stmt in unit.nodes(ast.Assign)
        if isinstance(stmt.value, ast.Call) and path_of(stmt.value.func) in names
        for target in stmt.targets
    }
    for call in unit.nodes(ast.Call):
        if unit.names.qualified(call.func) is None:
            continue
        for path in filter(None, map(path_of, arguments_of(call))):
            if path in made or _is_self(project, unit, call, path, own):
                yield call
                break


def _is_self(
    project: Project, unit: Unit, call: ast.Call, path: Path, own: set[ast.ClassDef]
) -> bool:
    """Whether the path is, whole, the object of a method of one of the classes there."""
    scope = project.scope_of(unit, call)
    cls = project.class_of(unit, scope) if len(path) == 1 else None
    if cls not in own:
        return False
    return path[0] == self_name(unit, scope)

"""What of other files an object is handed to, which may set a part of it: ``build_gates(self)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project


def fillers(project: Project, unit: Unit, scopes: Iterable[Scope]) -> frozenset[str]:
    """The modules of the functions that objects are handed to whose methods ``scopes`` are."""
    homes = {project.class_of(unit, scope) for scope in scopes} - {None}
    own = {cls.name for home in homes if home for cls in project.family(unit, home)}
    if not own:
        return frozenset()
    made = {
        path
        for stmt in unit.nodes(ast.Assign)
        if isinstance(stmt.value, ast.Call) and path_of(stmt.value.func) in {(n,) for n in own}
        for target in stmt.targets
        if (path := path_of(target)) is not None
    }
    found: set[str] = set()
    for call in unit.nodes(ast.Call):
        function = unit.names.qualified(call.func)
        if function is None or is_of_library(function):
            continue
        handed = (path_of(value) for value in _arguments(call))
        if any(p in made or (p and _is_self(project, unit, call, p, own)) for p in handed):
            found.add(split_path(function)[0])
    return frozenset(found - {""})


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _is_self(project: Project, unit: Unit, call: ast.Call, path: Path, own: set[str]) -> bool:
    """Whether the path is, whole, the object of a method of one of the classes there."""
    scope = project.scope_of(unit, call)
    cls = project.class_of(unit, scope) if len(path) == 1 else None
    if cls is None or cls.name not in own:
        return False
    return path[0] == project.view(unit, scope).kinds.self_name

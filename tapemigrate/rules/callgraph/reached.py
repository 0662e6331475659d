"""Functions that are called where their name does not stand as a name: ``getattr(net, "loss")``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.callers import makes_its_like
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.inherited_constructors import heirs
from tapemigrate.rules.callgraph.looked_up import looked_up
from tapemigrate.rules.callgraph.loose_modules import gone_over
from tapemigrate.rules.callgraph.names_in_texts import (
    LOOKING_UP,
    names_put_together,
    texts_and_imports,
)
from tapemigrate.rules.callgraph.places import import_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk

_LOOKS_UP = frozenset({"getattr", "attrgetter", "methodcaller"})
_TABLES = frozenset({"globals", "locals", "vars"})
_LOADS = frozenset(
    {"import_module", "__import__", "load_source", "load_module", "module_from_spec"}
)


def is_reached_otherwise(project: Project, view: View) -> bool:
    """Whether calls of the scope may go by another name, by a text, or through a loaded module."""
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef):
        return False
    if any(looked_up(project, view.unit, scope)) or any(_gone_over(project, view)):
        return True
    made = scope.name == "__init__" and view.cls is not None
    name = view.cls.name if made and view.cls is not None else scope.name
    if made and view.cls is not None:
        related = project.family(view.unit, view.cls)
        if any(makes_its_like(node) for cls in related for node in walk(cls)):
            return True
    below = heirs(project, view.cls) if made and view.cls is not None else []
    return any(
        _is_looked_up(unit, name)
        or (_is_renamed(project, home, unit, name) if made or view.cls is None else False)
        or (view.cls is None and _is_loaded(project, unit, name))
        for home, name in [(view.unit, name), *((home, heir.name) for home, heir in below)]
        for unit in project.units.having(name, *LOOKING_UP)
    )


def _gone_over(project: Project, view: View) -> Iterator[str]:
    if view.scope in view.unit.tree.body:
        yield from gone_over(project, view.unit)


def _is_renamed(project: Project, home: Unit, unit: Unit, name: str) -> bool:
    """``from losses import penalty as term``"""
    for node in unit.once(texts_and_imports).get(name, ()):
        stmt = unit.parents[node]
        if not isinstance(node, ast.alias) or not isinstance(stmt, ast.ImportFrom):
            continue
        if node.name == name and node.asname not in (None, name):
            path = import_path(stmt, name)
            if leads_to(project, path, unit, home, name) is not False:
                return True
    return False


def _is_looked_up(unit: Unit, name: str) -> bool:
    """``getattr(self, "penalty")``, ``globals()["penalty"]``, ``getattr(self, "loss_" + kind)``"""
    for node in unit.once(texts_and_imports).get(name, ()):
        parent = unit.parents[node]
        if isinstance(parent, ast.Call) and _last(parent.func) in _LOOKS_UP:
            return True
        if isinstance(parent, ast.Subscript) and _is_table(parent.value):
            return True
    return any(
        isinstance(node, ast.Call | ast.Subscript) and name.startswith(start) and name.endswith(end)
        for node, start, end in unit.once(names_put_together)
    )


def _is_table(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _last(node.func) in _TABLES
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _is_loaded(project: Project, unit: Unit, name: str) -> bool:
    """Whether such a function of a module is called that code loads: its name is no import."""
    loaded = unit.once(_loaded)
    return bool(loaded) and any(
        isinstance(site.call.func, ast.Attribute) and path_of(site.call.func.value) in loaded
        for site in project.mentions(name).calls
        if site.unit is unit
    )


def _loaded(unit: Unit) -> frozenset[tuple[str, ...]]:
    """What modules that are loaded by a call are called."""
    found: set[tuple[str, ...]] = set()
    for stmt in unit.nodes(ast.Assign):
        calls = (n for n in walk(stmt.value) if isinstance(n, ast.Call))
        if any(_last(call.func) in _LOADS for call in calls):
            found |= {path for t in stmt.targets if (path := path_of(t)) is not None}
    return frozenset(found)


def _last(node: ast.expr) -> str:
    path = path_of(node)
    return path[-1].lstrip(".") if path else ""

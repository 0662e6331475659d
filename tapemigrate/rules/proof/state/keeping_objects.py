"""Names of modules that lead to what keeps what it makes: ``LAYERS = [Dense()]``, ``memo(f)``.

Whoever calls it before finds a tape not open yet, and whoever calls it later what was made then.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.functions import NamedFunction, free_names, parameters
from tapemigrate.flow.memory import stores_beyond
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.sharing import last_of
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, kinds_of
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.objects.parts_read import is_own, name_at_root
from tapemigrate.rules.values.containers.held_together import made_at_top
from tapemigrate.rules.values.objects.keeping import keeping, set_by_methods
from tapemigrate.source.trees import children, kept, top_level, walk
from tapemigrate.tape.ops.kinds import Make

# What gives a function, or a layer, that calls the one that it is handed.
_WRAPPING = frozenset({"make_template", "Lambda"})


class KeepingObjects:
    """The names of modules that lead to objects whose methods keep what they make."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._names: dict[str, set[str]] = {}
        self._classes: dict[tuple[str, str], bool] = {}
        self._methods: dict[str, bool] = {}

    def of(self, unit: Unit) -> set[str]:
        """Those of the module ``unit``."""
        if unit.filename not in self._names:
            found = self._names[unit.filename] = set()
            pending = unit.once(_put_at_top)
            while new := {
                name
                for name, values in pending.items()
                if name not in found and any(self._leads_to(unit, v, found) for v in values)
            }:
                found |= new
        return self._names[unit.filename]

    def _leads_to(self, unit: Unit, value: ast.AST, known: set[str]) -> bool:
        pending = [value]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name) and node.id in known:
                return True
            if isinstance(node, ast.Attribute) and not self._is_method(node.attr):
                continue  # a number, or a tensor, that the object has
            if isinstance(node, ast.Call) and (name := last_of(node.func)):
                make = unit.once(kinds_of).make(node)
                if make is not Make.UNKNOWN and name not in _WRAPPING:
                    continue
                if self._keeps(unit, node.func):
                    return True
                for function in effects_of(unit).functions(name):
                    inside = (n for n in walk(function) if isinstance(n, ast.Call))
                    if kept_by_inner(function) or any(self._keeps(unit, n.func) for n in inside):
                        return True
            pending += children(node)
        return False

    def _is_method(self, name: str) -> bool:
        if name not in self._methods:
            units = self._project.units.defining(name)
            self._methods[name] = any(effects_of(unit).functions(name) for unit in units)
        return self._methods[name]

    def _keeps(self, unit: Unit, func: ast.expr) -> bool:
        """Whether a class is called that has such methods, of the file or of another one."""
        name = last_of(func)
        key = unit.filename, name
        if key not in self._classes:
            effects = effects_of(unit)
            cls = effects.class_named(name)
            found = [(unit, each) for each in effects.lineage(cls)] if cls is not None else []
            if cls is None and names_class(name) and not is_of_library(unit.names.qualified(func)):
                found = classes(self._project).named(name)
            methods = [
                (home, m) for home, c in found for m in c.body if isinstance(m, NamedFunction)
            ]
            self._classes[key] = any(
                method.name in home.once(keeping) for home, method in methods
            ) and any(reads_kept(home, method) for home, method in methods)
        return self._classes[key]


def reads_kept(home: Unit, method: NamedFunction) -> bool:
    """Whether a method reads what methods put on their object."""
    read = (n for n in walk(method) if isinstance(n, ast.Attribute) and is_own(n.value))
    return not set_by_methods(home).isdisjoint(n.attr for n in read if isinstance(n.ctx, ast.Load))


def _put_at_top(unit: Unit) -> dict[str, list[ast.expr]]:
    """What names of the module are given as it runs, and parts of what they name."""
    found = {name: list(values) for name, values in unit.once(made_at_top).items()}
    for stmt in (s for s in top_level(unit.tree) if isinstance(s, ast.Assign)):
        for target in stmt.targets:
            if isinstance(target, ast.Subscript | ast.Attribute):
                found.setdefault(name_at_root(target), []).append(stmt.value)
    return found


def kept_by_inner(function: NamedFunction) -> set[str]:
    """The names of a function in which functions that it gives back put something."""
    given = {
        n.id
        for stmt in walk(function)
        if isinstance(stmt, ast.Return) and stmt.value is not None
        for n in walk(stmt.value)
        if isinstance(n, ast.Name)
    }
    found: set[str] = set()
    for inner in walk(function):
        if not isinstance(inner, NamedFunction) or inner is function or inner.name not in given:
            continue
        free = free_names(inner)
        for node in walk(inner):
            if isinstance(node, ast.Nonlocal):
                found |= set(node.names)
            elif stores_beyond(node, set(bound_in(inner))):
                found |= {(path_of(getattr(node, "value", None)) or ("",))[0]} & free
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = path_of(node.func.value)
                if node.func.attr in CHANGERS and owner is not None:
                    found |= {owner[0]} & free
    return found & bound_in(function)


def bound_in(function: NamedFunction) -> frozenset[str]:
    """The names that a function has of its own."""
    return kept(function, _own_names)


def _own_names(function: ast.AST) -> frozenset[str]:
    assert isinstance(function, NamedFunction)
    taken = {
        n
        for each in walk(function)
        if isinstance(each, ast.comprehension)
        for n in walk(each.target)
    }
    names = (n for n in walk(function) if isinstance(n, ast.Name) and n not in taken)
    shared = {n for s in walk(function) if isinstance(s, ast.Global) for n in s.names}
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)} - shared
    return frozenset(stored | {a.arg for a in parameters(function.args)})

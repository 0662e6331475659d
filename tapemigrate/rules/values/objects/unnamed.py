"""Objects whose attributes other code sets under names that cannot be seen, or has as its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction, is_of_class, is_static, parameters
from tapemigrate.flow.paths import Path, is_super, names_class, path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.set_without_name import SETTING, set_without_name
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import value_given, values_by_path
from tapemigrate.rules.project import Project, View, self_name

#: What is told where ``sets_without_name``.
WITHOUT_NAME = (
    "attributes of its object may be set under names that cannot be seen, by `setattr` or "
    "`__dict__`, or another object may run its methods"
)
# Through how many callers an object is followed that is handed to what sets its attributes.
_DEPTH = 3


def sets_without_name(project: Project, view: View) -> bool:
    """Whether objects of the class are given attributes whose names are not written there."""
    return view.cls is not None and is_set_without_name(project, view.cls)


def is_set_without_name(project: Project, cls: ast.ClassDef) -> bool:
    """The same of a class, be it one without a method.

    So it is where other objects run its methods: these have attributes of their own.
    """
    known = project.once(_known)
    if cls not in known:
        related = of_one_object(project, cls)
        family = {cls.name, *(each.name for _, each in related)}
        units = project.units.having(*SETTING)
        known[cls] = (
            any(_set_without_name(project, unit) & family for unit in units)
            or any("__getattribute__" in _methods(each) for _, each in related)
            or any(
                _run_on_others(project, unit, cls, family)
                for unit in project.units.having(cls.name)
            )
        )
    return known[cls]


def _known(_: Project) -> dict[ast.ClassDef, bool]:
    return {}


def _methods(cls: ast.ClassDef) -> set[str]:
    """The methods that are handed an object."""
    methods = (stmt for stmt in cls.body if isinstance(stmt, NamedFunction))
    return {each.name for each in methods if not is_static(each) and not is_of_class(each)}


def _run_on_others(project: Project, unit: Unit, cls: ast.ClassDef, family: set[str]) -> bool:
    """``Net.build(other, x)``: whether the file calls a method so on what is no such object."""
    methods = _methods(cls)
    for method, call in unit.once(_called_on).get(cls.name, ()):
        if method in methods:
            made = set(_classes_of(project, unit, call.args[0]))
            if not made or not made <= family:
                return True
    return False


def _called_on(unit: Unit) -> dict[str, list[tuple[str, ast.Call]]]:
    """The calls ``Net.build(other, x)``, with the method, by the name of the class."""
    found: dict[str, list[tuple[str, ast.Call]]] = {}
    for call in unit.nodes(ast.Call):
        if not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        owner = call.func.value
        path = path_of(owner)
        # By another name that it is imported or given by: ``from nets import Net as Base``.
        meant = {path, (unit.names.qualified(owner) or "").rpartition(".")[2:]}
        meant |= {path_of(value) for value in unit.once(_given).get(path or (), ())}
        for name in {each[-1].lstrip(".") for each in meant if each}:
            if names_class(name):
                found.setdefault(name, []).append((call.func.attr, call))
    return found


def _set_without_name(project: Project, unit: Unit) -> set[str]:
    """The classes to whose objects the file does so."""
    known = unit.once(_classes_set)
    if "" not in known:
        known.add("")
        for owner in set_without_name(unit):
            known.update(_classes_of(project, unit, owner))
    return known


def _classes_set(unit: Unit) -> set[str]:
    return set()


def _classes_of(project: Project, home: Unit, owner: ast.expr) -> Iterator[str]:
    """The names of the classes of which an object may be one, or which it is."""
    pending: list[tuple[Unit, ast.expr, int]] = [(home, owner, 0)]
    met: set[ast.expr] = set()
    while pending:
        unit, node, depth = pending.pop()
        if node in met or depth > _DEPTH:
            continue
        met.add(node)
        path = path_of(node.func if isinstance(node, ast.Call) else node) or ("",)
        last = path[-1].lstrip(".")
        scope = project.scope_of(unit, node)
        if names_class(last):
            yield last
        elif path == (self_name(unit, scope),) or is_super(node):
            cls = project.class_of(unit, scope)
            yield from [cls.name] if cls is not None else []
        elif isinstance(node, ast.List | ast.Tuple):
            pending += [(unit, each, depth) for each in node.elts]
        elif isinstance(node, ast.ListComp):
            pending.append((unit, node.elt, depth))
        elif isinstance(node, ast.Name | ast.Attribute):
            given = [(unit, value, depth) for value in unit.once(_given).get(path, ())]
            if isinstance(node, ast.Attribute) and not given:  # of another object: ``agent.pi``
                stores = ((u, value_given(u, n), depth + 1) for u, n in project.stores(node.attr))
                given = [(u, value, d) for u, value, d in stores if value is not None]
            pending += given
            if isinstance(node, ast.Name):
                pending += [(at, value, depth + 1) for at, value in _handed_in(project, unit, node)]


def _handed_in(project: Project, unit: Unit, node: ast.Name) -> Iterator[tuple[Unit, ast.expr]]:
    """What callers pass for a name, if it is a parameter of a function around."""
    scope: ast.AST | None = node
    while scope is not None:
        if isinstance(scope, NamedFunction):
            if node.id in {a.arg for a in parameters(scope.args)}:
                break
        scope = unit.parents.get(scope)
    if not isinstance(scope, NamedFunction):
        return
    cls = project.class_of(unit, scope)
    made = cls is not None and scope.name == "__init__"
    for site in project.mentions(cls.name if made and cls is not None else scope.name).calls:
        value = argument_for(site.call, scope, node.id, cls is not None)
        if value is not None:
            yield site.unit, value


def _given(unit: Unit) -> dict[Path, list[ast.expr]]:
    """What names and attributes are given in the file, or go over, by these."""
    found = {path: [*values] for path, values in unit.once(values_by_path).items()}
    for loop in unit.nodes(ast.For):
        path = path_of(loop.target)
        if path is not None:
            found.setdefault(path, []).append(loop.iter)
    return found

"""What is called by the name of a class, and is none: ``Net = type("Net", (Base,), {"f": f})``."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.descent import means_class
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import gives_no_tensors

_Class = tuple[Unit, ast.ClassDef]


def classes_named(project: Project, view: View, called: ast.Name) -> tuple[list[_Class], bool]:
    """The classes at hand of which it may make objects, and whether there may be others.

    Methods may have been added to them, where the name stands for what a call gave.
    """
    if hasattr(builtins, called.id):
        return [], False
    values = list(_values(project, view, called))
    seen = [value for value in values if value is not None]
    found: list[_Class] = []
    for each in seen:
        found += (c for c in _classes_in(project, view.unit, each) if c not in found)
    calls = [n for value in seen for n in walk(value) if isinstance(n, ast.Call)]
    known = found or any(_is_of_library(view.unit, call.func) for call in calls)
    only = all(_only_makes(view, call) for call in calls)
    return found, not (known and only) or len(seen) < len(values)


def _values(project: Project, view: View, name: ast.Name) -> Iterator[ast.expr | None]:
    """What the name was given; None for what cannot be seen."""
    made = origins(view.flow.reads.get(name, frozenset()))
    if not made or any(d.kind is Kind.ENTRY for d in made):
        around = outer_definitions(project, view, (name.id,))
        if around is not None:
            yield from (d.value for d in around[1])
        else:
            yield from global_values(view.unit, name.id)
    yield from (d.value for d in made if d.kind is not Kind.ENTRY)


def _classes_in(project: Project, unit: Unit, value: ast.expr) -> Iterator[_Class]:
    """The classes that the value names, and those that functions define which it calls."""
    for node in walk(value):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            for each in classes(project).named(name):
                if means_class(project, unit, node, *each) is not False:
                    yield each
            for function in project.effects(unit).functions(name):
                inner = (n for n in walk(function) if isinstance(n, ast.ClassDef))
                yield from ((unit, each) for each in inner)


def _only_makes(view: View, call: ast.Call) -> bool:
    """Whether what the call gives has no more methods than the classes that it is handed."""
    path = view.unit.names.qualified(call.func)
    return path == "functools.partial" or _is_of_library(view.unit, call.func)


def _is_of_library(unit: Unit, func: ast.expr) -> bool:
    path = unit.names.qualified(func)
    return path is not None and (is_of_library(path) or gives_no_tensors(path))

"""Which objects names stand for: names of a scope, of the module, and of other modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.contained import Contents, contained
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import gives_no_tensors


def contents_of(project: Project, view: View, node: ast.expr, inside: set[ast.AST]) -> Contents:
    """What objects a name of a scope stands for, or holds, but those that are made ``inside``."""
    name = (path_of(node) or ("",))[0]
    own = isinstance(node, ast.Name) or name in view.flow.own_names
    if origins(view.flow.reads.get(node, frozenset())) or not own:
        return contained(project, view, node, inside)
    # A lambda reads it, or an inner function, where it is called.
    defs = view.flow.defs.values()
    made = [d for d in defs if d.path == (name,) and d.stmt not in inside]
    values = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
    if any(d.kind in (Kind.PARAM, Kind.ENTRY) for d in made):
        return contained(project, view, node, inside)
    return _all(contained(project, view, value, inside) for value in values)


def contents_of_module(project: Project, path: str, inside: set[ast.AST]) -> Contents:
    """What objects another module of the user's holds under an import path."""
    if "." not in path or is_of_library(path) or gives_no_tensors(path):
        return Contents()
    return _all(
        contained(project, project.view(home, home.tree), ast.Name(name, ast.Load()), inside)
        for home, name in homes_of(project, path)
        if global_values(home, name)
    )


def _all(contents: Iterable[Contents]) -> Contents:
    found = list(contents)
    return Contents(
        [each for one in found for each in one.classes],
        any(one.is_hidden for one in found),
        any(one.is_unknown for one in found),
        [each for one in found for each in one.makers],
        frozenset().union(*(one.parts for one in found)),
    )


def objects_of_module(unit: Unit) -> frozenset[str]:
    """The names of the module that may stand for objects of classes, or for what holds some."""
    made = [
        node
        for node in unit.nodes(ast.Call)
        if names_class((path_of(node.func) or ("",))[-1])
        and not is_of_library(unit.names.qualified(node.func))
    ]
    found = {
        name
        for name, values in unit.once(given_at_top).items()
        for value in values
        if isinstance(value, ast.Call) and not is_of_library(unit.names.qualified(value.func))
    }
    for node in made:
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.stmt):
            above = unit.parents.get(above)
        if above is not None:
            found |= {n.id for n in walk(above) if isinstance(n, ast.Name)}
    return frozenset(found)

"""How objects are called where a scope names them: itself, by a method, or by who is handed it."""

from __future__ import annotations

import ast
import builtins

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk

_BUILTIN = frozenset(dir(builtins))


def method_called(view: View, node: ast.expr) -> str:
    """The method that is called of the object there."""
    whole = view.unit.parents.get(node)
    if isinstance(whole, ast.Attribute):
        return whole.attr
    path = path_of(node) or ()
    least = 2 if path[:1] == (view.kinds.self_name,) else 1
    return path[-1].lstrip(".") if len(path) > least else "__call__"


def is_called(unit: Unit, node: ast.expr) -> bool:
    """Whether the object is called, or a method of it, or perhaps an element."""
    above = unit.parents.get(node)
    while isinstance(above, ast.Attribute | ast.Subscript):
        node, above = above, unit.parents.get(above)
    if isinstance(above, ast.For | ast.comprehension):
        return above.iter is node
    return isinstance(above, ast.Call) and above.func is node


def owner_of(view: View, node: ast.expr) -> ast.expr:
    """The object of a method that is called there."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.Call) and above.func is node and isinstance(node, ast.Attribute):
        return node if path_of(node.value) == (view.kinds.self_name,) else node.value
    return node


def is_handed_on(view: View, node: ast.expr) -> bool:
    """Whether the object of the method is an argument, and so called by another function."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.keyword):
        above = view.unit.parents.get(above)
    return isinstance(above, ast.Call) and above.func is not node


def called_by(project: Project, view: View, run: list[ast.AST]) -> set[str]:
    """The names of the methods that run, also in functions of other files, and ``__call__``.

    Whatever is called may call an object that it is handed.
    """
    found: set[str] = set()
    seen: set[ast.AST] = set()
    pending = [(view.unit, each) for each in run]
    while pending:
        unit, root = pending.pop()
        for node in walk(root):
            if not isinstance(node, ast.Call):
                continue
            found.add("__call__")
            path = unit.names.qualified(node.func)
            name = (path or (path_of(node.func) or ("",))[-1]).split(".")[-1]
            if path is None and isinstance(node.func, ast.Attribute):
                found.add(node.func.attr)
            if not name or name in _BUILTIN or is_of_library(path):
                continue
            homes = [unit] if path is None else project.units.defining(name)
            for home in homes:
                functions = [f for f in project.effects(home).functions(name) if f not in seen]
                seen |= set(functions)
                pending += [(home, each) for each in functions]
    return found

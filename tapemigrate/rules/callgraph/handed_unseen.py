"""Whether a function may be handed, for a parameter, what no call of it in sight shows."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.arguments import hides_argument
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.callers import of_class
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.decorated import may_change_arguments
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project

# What names a class without making an object of it.
_ASKING = frozenset({"isinstance", "issubclass", "super", "hasattr"})


def may_be_handed_unseen(
    project: Project, unit: Unit, function: NamedFunction, name: str, libraries: bool = True
) -> bool:
    """``build(*values)``, ``build(**values)``, ``for step in (self.build, …): step(x)``.

    Of what nobody calls at all, nothing is said; without ``libraries``, nor of what they hand in.
    """
    known = project.once(_known)
    key = (function, name, libraries)
    if key not in known:
        known[key] = _is_handed_unseen(project, unit, function, name, libraries)
    return known[key]


def _known(_: Project) -> dict[tuple[NamedFunction, str, bool], bool]:
    return {}


def _is_handed_unseen(
    project: Project, unit: Unit, function: NamedFunction, name: str, libraries: bool
) -> bool:
    cls = project.class_of(unit, function)
    if cls is not None and function.name == "__init__":
        mentions = of_class(project, unit, cls)
        others = [(u, n) for u, n in mentions.others if not only_named(u, n)]
    else:
        mentions = mentions_of(project, unit, function)
        others = mentions.others
    if any(libraries or not _is_for_library(user, node) for user, node in others):
        return True
    if may_change_arguments(unit, function):
        return True  # or keeps it where others look it up
    method = cls is not None
    return any(hides_argument(s.call, function, name, method) for s in mentions.calls)


def _is_for_library(unit: Unit, node: ast.AST) -> bool:
    """``tf.map_fn(step, xs)``, ``@Defun(grad_func=back)``, ``Defun(…)(back)``, ``return y, back``.

    So is what ``map`` calls.
    """
    parent = unit.parents.get(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.keyword):
        parent = unit.parents.get(parent)
    if isinstance(parent, ast.Call):
        func = parent.func
        while isinstance(func, ast.Call):
            func = func.func
        return path_of(func) == ("map",) or is_of_library(unit.names.qualified(func))
    return isinstance(parent, ast.Return)


def only_named(unit: Unit, node: ast.AST) -> bool:
    """Whether a class is named, and no object made of it there."""
    parent = unit.parents.get(node)
    match parent:
        case ast.ClassDef() | ast.Attribute() | ast.AnnAssign() | ast.arg() | ast.FunctionDef():
            return True
        case ast.Tuple():
            return only_named(unit, parent)
        case ast.Call():
            return path_of(parent.func) in {(name,) for name in _ASKING}
    return False

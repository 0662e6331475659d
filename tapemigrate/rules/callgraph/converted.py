"""Functions that AutoGraph turns into graphs: of ``tf.function``, and those that these call."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project

_WORDS = ("function", "defun", "autograph")
_CONVERTING = ("function", "defun", "to_graph", "convert")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Through how many callers.
_DEPTH = 4


def may_be_converted(project: Project, unit: Unit, scope: ast.AST, depth: int = _DEPTH) -> bool:
    """Whether the code of ``scope`` may run as AutoGraph has converted it."""
    if not isinstance(scope, _FUNCTIONS):
        return False
    known = project.once(_known)
    if (scope, depth) not in known:
        known[scope, depth] = _may_be_converted(project, unit, scope, depth)
    return known[scope, depth]


def _known(_: Project) -> dict[tuple[ast.AST, int], bool]:
    """By the function, and through how many callers: some are met again and again."""
    return {}


def _may_be_converted(project: Project, unit: Unit, scope: ast.AST, depth: int) -> bool:
    if any(_converts(unit, each) for each in getattr(scope, "decorator_list", ())):
        return True
    outer = unit.parents.get(scope)
    while outer is not None and not isinstance(outer, _FUNCTIONS):
        outer = unit.parents.get(outer)
    if outer is not None and may_be_converted(project, unit, outer, depth):
        return True
    name = getattr(scope, "name", None)
    if not depth or name is None or not _is_anything_converted(project):
        return False
    mentions = project.mentions(name)
    if any(_is_handed(there, node) for there, node in mentions.others):
        return True
    callers = [(s.unit, project.scope_of(s.unit, s.call)) for s in mentions.calls]
    return any(
        caller is not scope and may_be_converted(project, there, caller, depth - 1)
        for there, caller in callers
    )


def _is_anything_converted(project: Project) -> bool:
    return any(unit.once(_has_converted) for unit in project.units.having(*_WORDS))


def _has_converted(unit: Unit) -> bool:
    return any(_is_converting(path) for _, path in unit.names.references())


def _converts(unit: Unit, decorator: ast.expr) -> bool:
    """``@tf.function``, ``@tf.function(input_signature=…)``, but not with ``autograph=False``."""
    call = decorator if isinstance(decorator, ast.Call) else None
    path = unit.names.qualified(call.func if call is not None else decorator)
    return path is not None and _is_converting(path) and not _is_off(call)


def _is_handed(unit: Unit, node: ast.AST) -> bool:
    """``tf.function(f)``"""
    call = unit.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    path = unit.names.qualified(call.func)
    return path is not None and _is_converting(path) and not _is_off(call)


def _is_off(call: ast.Call | None) -> bool:
    return call is not None and any(
        k.arg == "autograph" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in call.keywords
    )


def _is_converting(path: str) -> bool:
    return path.startswith("tensorflow.") and path.rpartition(".")[2] in _CONVERTING

"""Functions that AutoGraph turns into graphs: of ``tf.function``, and those that these call."""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.meaning import named_mentions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project

_WORDS = ("function", "defun", "autograph")
_CONVERTING = ("function", "defun", "to_graph", "convert")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def may_be_converted(project: Project, unit: Unit, scope: ast.AST) -> bool:
    """Whether the code of ``scope`` may run as AutoGraph has converted it."""
    if not isinstance(scope, _FUNCTIONS) or not project.once(_is_anything_converted):
        return False
    known = project.once(_known)
    if scope not in known:
        known[scope] = _may_be_converted(project, unit, scope)
    return known[scope]


def _known(_: Project) -> dict[ast.AST, bool]:
    return {}


def _may_be_converted(project: Project, unit: Unit, scope: ast.AST) -> bool:
    """Whether it is, or a function round it, or one that calls one of these, in any number."""
    pending = [(unit, scope)]
    seen: set[ast.AST] = set()
    while pending:
        there, each = pending.pop()
        if each in seen or not isinstance(each, _FUNCTIONS):
            continue
        seen.add(each)
        if any(_converts(there, d) for d in getattr(each, "decorator_list", ())):
            return True
        outer = there.parents.get(each)
        while outer is not None and not isinstance(outer, _FUNCTIONS):
            outer = there.parents.get(outer)
        if outer is not None:
            pending.append((there, outer))
        if isinstance(each, ast.Lambda):
            continue
        mentions = named_mentions(project, there, each)
        if any(_is_handed(user, node) for user, node in mentions.others):
            return True
        pending += ((s.unit, project.scope_of(s.unit, s.call)) for s in mentions.calls)
    return False


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

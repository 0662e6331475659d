"""Functions that AutoGraph turns into graphs: of ``tf.function``, and those that these call.

There an ``if`` on a tensor is a branch of the graph. AutoGraph lets it return only where it can
move all that comes after it into its other arm, which it cannot from under a ``with``; and a tensor
may be gone over in a ``for``, or asked for its ``len``, as else only a list is.
https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.syntax import own_nodes

_WORDS = ("function", "defun", "autograph")
_CONVERTING = ("function", "defun", "to_graph", "convert")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BRANCHES = (ast.If, ast.While, ast.For)
# Through how many callers.
_DEPTH = 4


def returns_from_tape(region: Region, project: Project, view: View) -> Refusal | None:
    """Why AutoGraph could not convert what the tape would be round."""
    ways = _returning(region.block.body[region.first : region.last + 1])
    test = next((test for test in ways if not _is_python(test)), None)
    if test is None or not may_be_converted(project, view.unit, view.scope):
        return None
    return Refusal(
        f"AutoGraph makes a branch of the graph of `if {ast.unparse(test)}`, and cannot where that "
        "returns from under a `with`",
        "Give what is returned one name in all branches, and return it at the end.",
    )


def may_be_converted(project: Project, unit: Unit, scope: ast.AST, depth: int = _DEPTH) -> bool:
    """Whether the code of ``scope`` may run as AutoGraph has converted it."""
    if not isinstance(scope, _FUNCTIONS):
        return False
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


def _returning(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The conditions on which one of the statements returns."""
    for stmt in body:
        if isinstance(stmt, _BRANCHES) and any(isinstance(n, ast.Return) for n in own_nodes(stmt)):
            yield stmt.iter if isinstance(stmt, ast.For) else stmt.test
        elif isinstance(stmt, ast.With):
            yield from _returning(stmt.body)


def _is_python(test: ast.expr) -> bool:
    """Whether it is certainly no tensor: ``mask is None``."""
    match test:
        case ast.Compare(ops=ops):
            return all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
        case ast.BoolOp(values=values):
            return all(map(_is_python, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_python(operand)
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "callable")):
            return True
    return isinstance(test, ast.Constant)

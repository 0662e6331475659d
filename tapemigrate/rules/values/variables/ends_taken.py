"""Which ends of a function a call can come to: ``get_vars(scope, trainable=True)`` has one."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import parameters
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.project import View


def ends_taken(inner: View, call: ast.Call) -> list[ast.Return]:
    """The ends of the function of ``inner``, but for those that constants passed rule out."""
    function = inner.scope
    if not isinstance(function, ast.FunctionDef):
        return inner.flow.returns
    method = isinstance(inner.unit.parents.get(function), ast.ClassDef)
    known: dict[str, bool] = {}
    for each in parameters(function.args):
        given = argument_for(call, function, each.arg, method)
        again = (d for d in inner.flow.defs.values() if d.path[0] == each.arg)
        if isinstance(given, ast.Constant) and all(d.kind is Kind.PARAM for d in again):
            known[each.arg] = bool(given.value)
    return [end for end in inner.flow.returns if not (known and _is_passed_by(inner, end, known))]


def _is_passed_by(inner: View, end: ast.Return, known: dict[str, bool]) -> bool:
    """Whether a test that has come out by then keeps the call from getting to ``end``."""
    node: ast.stmt = end
    while node is not inner.scope:
        parent = inner.unit.parents[node]
        verdict = _verdict(parent.test, known) if isinstance(parent, ast.If) else None
        if isinstance(parent, ast.If) and verdict is (node in parent.orelse):
            return True
        blocks = (getattr(parent, name, ()) for name in ("body", "orelse", "finalbody"))
        block = next((list(each) for each in blocks if node in each), [])
        before = block[: block.index(node)] if block else []
        if any(isinstance(each, ast.If) and _returns(each, known) for each in before):
            return True
        if not isinstance(parent, ast.stmt):
            return False
        node = parent
    return False


def _returns(branch: ast.If, known: dict[str, bool]) -> bool:
    """Whether nothing gets behind ``branch``: what is taken of it ends in a ``return``."""
    verdict = _verdict(branch.test, known)
    taken = branch.body if verdict else branch.orelse
    return verdict is not None and bool(taken) and isinstance(taken[-1], ast.Return | ast.Raise)


def _verdict(test: ast.expr, known: dict[str, bool]) -> bool | None:
    match test:
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) if name in known:
            return not known[name]
    return None

"""Inner functions that a loop of TensorFlow's runs there and then, as its body."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds

_PFOR = "python.ops.parallel_for.control_flow_ops."
_LOOPS = frozenset(
    {"while_loop", "map_fn", "scan", "vectorized_map", f"{_PFOR}pfor", f"{_PFOR}for_loop"}
)
_GATHER = frozenset({"gather", "gather_nd"})


def run_at_once(outer: View, scope: ast.FunctionDef | ast.Lambda) -> ast.stmt | None:
    """The statement of the function around in which loops run it; None if others may."""
    unit = outer.unit
    if isinstance(scope, ast.Lambda):
        return _loop(outer, scope)
    if scope.decorator_list:
        return None
    names = [n for n in walk(outer.scope) if isinstance(n, ast.Name) and n.id == scope.name]
    loops = [_loop(outer, name) for name in names]
    found = [loop for loop in loops if loop is not None]
    if not found or len(found) < len(loops) or min(map(begin, found)) < begin(scope):
        return None
    return _around(unit, found)


def _loop(outer: View, function: ast.expr) -> ast.stmt | None:
    """The statement with the loop that is handed ``function``, if that is so."""
    parents = outer.unit.parents
    call = parents[function]
    call = parents[call] if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or call.func is function:
        return None
    value: ast.AST = call
    stmt = parents[call]
    while isinstance(stmt, ast.Subscript) and stmt.value is value:
        stmt, value = parents[stmt], stmt
    loop = outer.kinds.tensorflow(call.func) in _LOOPS
    return stmt if loop and isinstance(stmt, ast.Assign | ast.Return) else None


def _around(unit: Unit, stmts: list[ast.stmt]) -> ast.stmt | None:
    """The one of ``stmts``, or the ``if`` in whose branches they are."""
    if len(stmts) == 1:
        return stmts[0]
    around = {unit.parents[stmt] for stmt in stmts}
    only = around.pop()
    return only if not around and isinstance(only, ast.If) else None


def component_of(value: ast.expr, kinds: Kinds) -> ast.Name | None:
    """The name of which ``value`` is a component: ``y[j]``, ``tf.gather(y, j)``."""
    whole: ast.expr | None = None
    if isinstance(value, ast.Subscript):
        whole = value.value
    elif isinstance(value, ast.Call) and kinds.tensorflow(value.func) in _GATHER and value.args:
        whole = value.args[0]
    return whole if isinstance(whole, ast.Name) else None

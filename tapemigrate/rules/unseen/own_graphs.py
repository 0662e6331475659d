"""What a function does in a graph that it makes for that alone: no tensor of it comes out.

``with tf.Graph().as_default(): …`` round a session of its own, to ask a module from the hub for its
vocabulary, say. Ops of one graph know nothing of another:
https://www.tensorflow.org/api_docs/python/tf/Graph
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.reasons import HUB
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.symbols import short

# Inside such a graph, these could bring something out of it, or run at another time.
_LETTING_OUT = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Return, ast.Yield),
    *(ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.NamedExpr),
)
_RUNNING = ("run", "eval")


def outside_own_graphs(unit: Unit, function: NamedFunction) -> list[ast.stmt]:
    """The statements of a function, but for those that work in a graph of their own."""
    if "Graph().as_default()" not in unit.text:
        return function.body
    return [stmt for stmt in function.body if not _is_apart(unit, function, stmt)]


def _is_apart(unit: Unit, function: NamedFunction, stmt: ast.stmt) -> bool:
    if not isinstance(stmt, ast.With) or not _enters_new_graph(unit, stmt.items):
        return False
    inside = [node for each in stmt.body for node in walk(each)]
    stored = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if any(isinstance(n, _LETTING_OUT) or _is_put(n) for n in inside):
        return False
    made = _made_inside(unit, inside)
    if any(_enters_another(node, made) for node in inside):
        return False
    calls = (n for n in inside if isinstance(n, ast.Call))
    if not all(_stays_inside(unit, call, made, stored) for call in calls):
        return False
    here = set(inside)
    read = {n.id for n in walk(function) if isinstance(n, ast.Name) and n not in here}
    return not read & (stored - _results(inside, made))


def _enters_new_graph(unit: Unit, items: Iterable[ast.withitem]) -> bool:
    """``with tf.Graph().as_default():``, of which nobody has the graph."""
    match list(items):
        case [
            ast.withitem(
                context_expr=ast.Call(
                    func=ast.Attribute(value=ast.Call(func=made, args=[]), attr="as_default")
                ),
                optional_vars=None,
            )
        ]:
            return short(unit.names.qualified(made)) == "Graph"
    return False


def _enters_another(node: ast.AST, made: set[str]) -> bool:
    """``with graph.as_default():``, ``with tf.Session(graph=graph):``, ``tf.Session("", graph)``"""
    if isinstance(node, ast.Attribute):
        return node.attr == "as_default" and getattr(_root(node), "id", "") not in made
    if isinstance(node, ast.Call) and len(node.args) > 1:
        return (path_of(node.func) or ("",))[-1].lstrip(".").endswith("Session")
    return isinstance(node, ast.keyword) and node.arg in ("graph", None)


def _is_put(node: ast.AST) -> bool:
    """Whether it sets a part of an object, or of a list or dict."""
    part = isinstance(node, ast.Attribute | ast.Subscript)
    return part and not isinstance(getattr(node, "ctx", None), ast.Load)


def _made_inside(unit: Unit, inside: Iterable[ast.AST]) -> set[str]:
    """The names of what a library made there, or what came of that: nobody else has it."""
    given: list[tuple[ast.expr, ast.expr]] = []
    for node in inside:
        if isinstance(node, ast.Assign):
            given += [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            given.append((node.optional_vars, node.context_expr))
    made: set[str] = set()
    others: set[str] = set()
    for target, value in given:
        root = _root(value)
        own = _is_of_library(unit, root) or getattr(root, "id", "") in made
        names = {n.id for n in walk(target) if isinstance(n, ast.Name)}
        made |= names if own else set()
        others |= set() if own else names
    return made - others


def _root(node: ast.expr) -> ast.expr:
    """``tf`` of ``tf.get_default_graph().create_op``"""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _is_of_library(unit: Unit, root: ast.expr) -> bool:
    path = unit.names.qualified(root) or ""
    return path == HUB or is_of_library(path)


def _stays_inside(unit: Unit, call: ast.Call, made: set[str], stored: set[str]) -> bool:
    """Whether a call hands nothing to what is known outside."""
    root = _root(call.func)
    inside = [n for each in arguments_of(call) for n in walk(each) if isinstance(n, ast.Name)]
    handed = {n.id for n in inside}
    if _is_of_library(unit, root) or getattr(root, "id", "") in made:
        # What it is handed it may call, with tensors of the graph: ``tf.map_fn(keep, x)``.
        return handed.isdisjoint(each.name for each in unit.definitions)
    return not stored & handed


def _results(inside: Iterable[ast.AST], made: set[str]) -> set[str]:
    """The names that are given nothing but what a session gave: values, and no tensors."""
    names = [n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    given = {
        name
        for node in inside
        if isinstance(node, ast.Assign) and _is_run(node.value, made)
        for target in node.targets
        for name in walk(target)
    }
    return {n.id for n in names if n in given} - {n.id for n in names if n not in given}


def _is_run(value: ast.expr, made: set[str]) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owner = path_of(value.func.value)
    return value.func.attr in _RUNNING and owner is not None and owner[0] in made

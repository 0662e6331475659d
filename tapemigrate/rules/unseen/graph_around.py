"""Which new graph a statement's ops are made in: ``with tf.Graph().as_default():``.

https://www.tensorflow.org/api_docs/python/tf/Graph#as_default
"""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk


def graph_around(view: View, stmt: ast.stmt) -> ast.With | None:
    """The statement that makes a new graph the one for all that is made at ``stmt``."""
    for place in view.blocks.chain(stmt):
        owner = place.block.owner
        if isinstance(owner, ast.With) and any(map(_enters_graph, owner.items)):
            own = [i for i in owner.items if _enters_graph(i)]
            others = [i for i in owner.items if i not in own]
            alone = len(own) == 1 and all(is_plain_context(view, i) for i in others)
            inner = [n for s in owner.body for n in walk(s) if isinstance(n, ast.With)]
            if any(_enters_graph(item) for each in inner for item in each.items):
                return None
            return owner if alone and _is_new(view, owner, own[0]) else None
    return None


def _enters_graph(item: ast.withitem) -> bool:
    """Whether a graph may become the default one: sessions are called so, but for their graphs."""
    func = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "as_default":
        return False
    owner = func.value
    while isinstance(owner, ast.Call):
        owner = owner.func
    name = (path_of(owner) or (ast.unparse(owner),))[-1].lower()
    return "sess" not in name or "graph" in name


def _is_new(view: View, owner: ast.With, item: ast.withitem) -> bool:
    """Whether the graph is made there and then, or by the statement before."""
    assert isinstance(item.context_expr, ast.Call)
    assert isinstance(item.context_expr.func, ast.Attribute)
    graph = item.context_expr.func.value
    if isinstance(graph, ast.Call):
        return view.kinds.tensorflow(graph.func) == "Graph"
    place = view.blocks.place(owner)
    before = place.block.body[place.index - 1] if place.index else None
    if not isinstance(before, ast.Assign) or not isinstance(before.value, ast.Call):
        return False
    made = view.kinds.tensorflow(before.value.func) == "Graph"
    return made and [path_of(t) for t in before.targets] == [path_of(graph)]


def is_plain_context(view: View, item: ast.withitem) -> bool:
    """Whether a context of TensorFlow's own is entered, or a session."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == "as_default":
        return path_of(call.func) is not None and not call.args
    calls = [n for n in walk(call) if isinstance(n, ast.Call)]
    return all(view.kinds.tensorflow(each.func) is not None for each in calls)

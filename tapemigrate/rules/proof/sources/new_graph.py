"""Tapes that open where a graph does: of what is made in it, nothing can have been made before.

``with tf.Graph().as_default():`` starts an empty graph, and no op takes tensors of two graphs. So a
tape that records from its first statement on records all that leads from the variables of that
graph to a target in it.
https://www.tensorflow.org/api_docs/python/tf/Graph#as_default
"""

from __future__ import annotations

import ast

from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.graph_around import graph_around, is_plain_context
from tapemigrate.rules.values.variables.variable_lists import given_list
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.placing.region import Region

# What else of TensorFlow makes no op.
_QUIET = frozenset({"set_random_seed", "ConfigProto", "GPUOptions"})


def opens_with_graph(project: Project, region: Region, view: View) -> bool:
    """Whether the tape of ``region`` records a graph from its first op on."""
    graph = graph_around(view, region.request.stmt)
    if graph is None or region.given or region.resumes:
        return False
    start = _start(view, graph.body)
    first = region.block.body[min(region.first, region.call)]
    return begin(first) <= begin(start) and _are_of(project, view, graph, region)


def _start(view: View, body: list[ast.stmt]) -> ast.stmt:
    """The first statement that may make variables."""
    for stmt in body:
        if isinstance(stmt, ast.With) and all(is_plain_context(view, i) for i in stmt.items):
            return _start(view, stmt.body)
        if not _is_barren(view, stmt):
            return stmt
    return body[-1]


def _is_barren(view: View, stmt: ast.stmt) -> bool:
    """Whether nothing is made but placeholders, numbers and the like: no attribute is read."""
    if not isinstance(stmt, ast.Assign | ast.Expr | ast.Pass):
        return False
    return all(
        view.kinds.make(node) in (Make.LEAF, Make.PYTHON)
        or view.kinds.tensorflow(node.func) in _QUIET
        if isinstance(node, ast.Call)
        else not isinstance(node.ctx, ast.Load) or view.kinds.name(node) is not None
        for node in walk(stmt)
        if isinstance(node, ast.Call | ast.Attribute)
    )


def _are_of(project: Project, view: View, graph: ast.With, region: Region) -> bool:
    """Whether all sources are variables of the graph, asked for where it is the default one."""
    for leaf in region.sources.leaves:
        made = [(d.stmt, d.value) for d in leaf.defs] or [
            (region.request.stmt, region.request.sources)
        ]
        for stmt, value in made:
            inside = stmt is not None and begin(graph) <= begin(stmt) < end(graph)
            if not inside or not _asks(project, view, value):
                return False
    return bool(region.sources.leaves)


def _asks(project: Project, view: View, value: ast.expr | None) -> bool:
    """Whether TensorFlow is asked for variables, which gives those of the default graph."""
    if not isinstance(value, ast.Call):
        return False
    if view.kinds.tensorflow(value.func) is not None:
        return view.kinds.make(value) is Make.VARIABLES
    return given_list(project, view, value) is Make.VARIABLES

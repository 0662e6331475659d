"""Gradients that a graph is asked for where a tape has recorded it as well.

In a graph, the gradient of a branch adds outputs to the op of the branch. A tape that is not
persistent took note of those that were there before, and is asked in vain: AssertionError, in
tensorflow/python/ops/cond_v2.py (found with 1.15.5 and 2.21). A persistent one is not.

Nor may a session have run the graph in between, whatever part of it: it takes the op as it is, and
the outputs that the gradient adds come too late ("Connecting to invalid output", found with 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.functions import Function
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import children

_ASKING = frozenset({"minimize", "compute_gradients", "gradients", "hessians"})


# What has no session to run, by the first name of the call.
_RUNS_NOTHING = frozenset({"tf", "np", "numpy", "print", "len", "range", "str", "int", "float"})


def may_run_graph(roots: Iterable[ast.AST]) -> list[ast.Call]:
    """The calls by which a session may run, ``train(session)``, of one scope."""
    found: list[ast.Call] = []
    pending = list(roots)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            path = path_of(node.func)
            if path is None or path[0] not in _RUNS_NOTHING:
                found.append(node)
        if not isinstance(node, Function | ast.ClassDef):
            pending += children(node)
    return found


def asking_graph(roots: Iterable[ast.AST]) -> list[ast.Call]:
    """The calls that ask a graph for gradients, ``optimizer.minimize(loss)``, of one scope.

    What functions that are defined in there ask, they ask where they are called.
    """
    found: list[ast.Call] = []
    pending = list(roots)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _ASKING:
                found.append(node)
        if not isinstance(node, Function | ast.ClassDef):
            pending += children(node)
    return found

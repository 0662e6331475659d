"""Gradients that a graph is asked for where a tape has recorded it as well.

In a graph, the gradient of a branch adds outputs to the op of the branch. A tape that is not
persistent took note of those that were there before, and is asked in vain: AssertionError, in
tensorflow/python/ops/cond_v2.py (found with 1.15.5 and 2.21). A persistent one is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.functions import Function
from tapemigrate.source.trees import children

_ASKING = frozenset({"minimize", "compute_gradients", "gradients", "hessians"})


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

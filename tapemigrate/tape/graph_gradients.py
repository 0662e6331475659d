"""Gradients that a graph is asked for where a tape has recorded it as well.

In a graph, the gradient of a branch adds outputs to the op of the branch. A tape that is not
persistent took note of those that were there before, and is asked in vain: AssertionError, in
tensorflow/python/ops/cond_v2.py (found with 1.15.5 and 2.21). A persistent one is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.source.trees import walk

_ASKING = frozenset({"minimize", "compute_gradients", "gradients", "hessians"})


def asking_graph(roots: Iterable[ast.AST]) -> list[ast.Call]:
    """The calls in ``roots`` that ask a graph for gradients: ``optimizer.minimize(loss)``."""
    calls = (n for root in roots for n in walk(root) if isinstance(n, ast.Call))
    return [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in _ASKING]

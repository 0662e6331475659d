"""Functions that TensorFlow gives a graph of their own, with ``Defun``.

What such a function is handed, and what it captures, comes in by a placeholder each: in its graph,
none of that was computed from any other.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.rules.project import View
from tapemigrate.tape.leaf import Leaf

_DEFUN = "framework.function.Defun"


def begins_here(leaf: Leaf, view: View) -> bool:
    """Whether the graph of the scope itself holds all that may depend on the source."""
    return (
        _has_own_graph(view)
        and not leaf.variables
        and bool(leaf.defs)
        and all(d.kind is not Kind.ENTRY for d in leaf.defs)
    )


def _has_own_graph(view: View) -> bool:
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef) or not scope.decorator_list:
        return False
    inner = scope.decorator_list[-1]
    path = view.unit.names.qualified(inner.func) if isinstance(inner, ast.Call) else None
    return path is not None and path.startswith("tensorflow.") and path.endswith(_DEFUN)

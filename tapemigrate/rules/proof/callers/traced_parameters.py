"""Parameters of functions that are traced: each is a tensor of its own in there.

What a caller computes of one and passes for another comes in as another placeholder, and the
gradient inside does not see how the two are related. See
tensorflow/python/framework/func_graph.py, ``func_graph_from_py_func``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.leaf import Leaf

_TRACING = ("tensorflow.function", "tensorflow.compat.v1.function", "tensorflow.compat.v2.function")
_DEFUN = "tensorflow.contrib.eager.defun"
# Calls the function itself, untraced.
_UNTRACED = "python_function"


def are_traced(project: Project, view: View, defs: Iterable[Def]) -> bool:
    """Whether all of ``defs`` are such parameters of the scope of ``view``."""
    defs = list(defs)
    return bool(defs) and _is_traced(project, view) and all(_is_one(view, made) for made in defs)


def is_traced_source(project: Project, view: View, leaf: Leaf) -> bool:
    """Whether a source is such a parameter itself: parts of an object come in as they are."""
    return (leaf.watch or "x").isidentifier() and are_traced(project, view, leaf.defs)


def _is_one(view: View, made: Def) -> bool:
    own = made.kind is Kind.PARAM and len(made.path) == 1
    return own and made.path[0] != view.kinds.self_name


def _is_traced(project: Project, view: View) -> bool:
    """Whether a decorator traces the function itself, and no wrapper of it."""
    scope = view.scope
    if not isinstance(scope, NamedFunction) or not scope.decorator_list:
        return False
    innermost = scope.decorator_list[-1]
    named = innermost.func if isinstance(innermost, ast.Call) else innermost
    if view.unit.names.qualified(named) not in (*_TRACING, _DEFUN):
        return False
    return not project.once(_calls_untraced)


def _calls_untraced(project: Project) -> bool:
    return any(_UNTRACED in file.text for _, file in project.units.files())

"""Parameters that are code, by what is done with them: what is called is no tensor."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import of_path
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.project import View
from tapemigrate.source.trees import calls_in, kept, walk
from tapemigrate.tape.ops.kinds import Kinds

# Through how many functions of the file it is followed.
_DEPTH = 3


def is_called(view: View, made: Def) -> bool:
    """Whether a parameter is called, by its function or by one that it is handed to."""
    if made.kind is not Kind.PARAM or len(made.path) != 1:
        return False
    return isinstance(view.scope, NamedFunction) and _is_called_in(
        view.scope, made.path[0], view.kinds, _DEPTH
    )


def is_function(view: View, value: ast.expr) -> bool:
    """Whether it is a function that the scope defines, which may have been called before."""
    path = path_of(value)
    if path is None:
        return False
    return any(d.kind is Kind.FUNCTION for d in of_path(view.flow.uses_in(value), path))


def _is_called_in(function: NamedFunction, name: str, kinds: Kinds, depth: int) -> bool:
    if name in kept(function, _names_given):
        return False  # the name may mean something else where it is called
    for call in calls_in(function):
        if isinstance(call.func, ast.Name) and call.func.id == name:
            return True
        inner = kinds.called(call) if depth else None
        if not isinstance(inner, ast.FunctionDef) or inner is function:
            continue
        for parameter in inner.args.args:
            passed = argument_for(call, inner, parameter.arg, isinstance(call.func, ast.Attribute))
            if isinstance(passed, ast.Name) and passed.id == name:
                if _is_called_in(inner, parameter.arg, kinds, depth - 1):
                    return True
    return False


def _names_given(function: ast.AST) -> frozenset[str]:
    nodes = (n for n in walk(function) if isinstance(n, ast.Name))
    return frozenset(n.id for n in nodes if not isinstance(n.ctx, ast.Load))

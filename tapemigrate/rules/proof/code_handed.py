"""Parameters that are code, by what is done with them: what is called is no tensor."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.project import View
from tapemigrate.source.trees import calls_in
from tapemigrate.tape.kinds import Kinds

# Through how many functions of the file it is followed.
_DEPTH = 3


def is_called(view: View, made: Def) -> bool:
    """Whether a parameter is called, by its function or by one that it is handed to."""
    if made.kind is not Kind.PARAM or len(made.path) != 1:
        return False
    return isinstance(view.scope, NamedFunction) and _is_called_in(
        view.scope, made.path[0], view.kinds, _DEPTH
    )


def _is_called_in(function: NamedFunction, name: str, kinds: Kinds, depth: int) -> bool:
    if any(_gives(node, name) for node in ast.walk(function)):
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


def _gives(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)

"""Whether what a scope is handed runs a forward pass: it is called, or handed to what calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.by_name import called_paths, is_static
from tapemigrate.source.trees import arguments_of, calls_in, walk
from tapemigrate.tape.ops.kinds import Kinds

# Through how many functions it is followed.
_DEPTH = 3


def may_run(view: View, name: str) -> bool:
    """Whether the scope of ``view`` uses its ``name`` as no tensor is used."""
    return _is_used(view.kinds, view.scope, name, _DEPTH)


def _is_used(kinds: Kinds, scope: ast.AST, name: str, depth: int) -> bool:
    """Whether it, or a part of it, is called, or a part is read that no tensor has."""
    if any(path is not None and path[0] == name for path in called_paths(scope)):
        return True
    if _reads_part(scope, name):
        return True
    return depth > 0 and any(
        _is_used(kinds, function, parameter, depth - 1)
        for function, parameter in _handed(kinds, scope, name)
    )


def _reads_part(scope: ast.AST, name: str) -> bool:
    """Whether a part is read of what the name means, other than what tensors know of themselves."""
    paths = (path_of(node) for node in walk(scope) if isinstance(node, ast.Attribute))
    return any(p is not None and p[0] == name and not is_static(p[1:2]) for p in paths)


def _handed(kinds: Kinds, scope: ast.AST, name: str) -> Iterator[tuple[ast.AST, str]]:
    """The functions of the file that are handed it, and the parameters by which they get it."""
    for call in calls_in(scope):
        given = [a for a in arguments_of(call) if isinstance(a, ast.Name) and a.id == name]
        function = kinds.called(call) if given else None
        if function is None:
            continue
        method = isinstance(call.func, ast.Attribute)
        for parameter in (
            *function.args.posonlyargs,
            *function.args.args,
            *function.args.kwonlyargs,
        ):
            if argument_for(call, function, parameter.arg, method) in given:
                yield function, parameter.arg

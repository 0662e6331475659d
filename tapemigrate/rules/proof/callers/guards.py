"""Parameters that are None wherever a gradient is asked for, and values that come with them.

``def value_and_gradients(fn, x, result=None, grads=None)`` returns early where ``grads`` is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import parameters
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.project import Project, View


def come_with(project: Project, view: View, stmt: ast.stmt, name: str) -> str | None:
    """The parameter that is None at ``stmt``, and that every call gives which gives ``name``."""
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    own = {a.arg for a in parameters(scope.args)} - {name}
    method = view.cls is not None
    calls = [site.call for site in mentions_of(project, view.unit, scope).calls]
    for guard in _none_at(view, stmt):
        pairs = [[argument_for(c, scope, each, method) for each in (name, guard)] for c in calls]
        if guard in own and all(mine and other for mine, other in pairs):
            if all(_is_none(mine) or not _is_none(other) for mine, other in pairs):
                return guard
    return None


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _none_at(view: View, stmt: ast.stmt) -> Iterator[str]:
    """The names that are None where ``stmt`` runs, by what returns before it."""
    for place in view.blocks.chain(stmt):
        for before in place.block.body[: place.index]:
            match before:
                case ast.If(
                    test=ast.Compare(
                        left=ast.Name(id=name),
                        ops=[ast.IsNot()],
                        comparators=[ast.Constant(value=None)],
                    ),
                    body=[*_, ast.Return() | ast.Raise()],
                ):
                    yield name

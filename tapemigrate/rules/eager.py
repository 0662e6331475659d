"""Where execution is certainly eager: files that turn it on, and TensorFlow 2 scripts."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.misuse.uses import around
from tapemigrate.rules.project import Project

_ENABLING = ("enable_eager_execution", "enable_v2_behavior")
_FIRST = ("tensorflow.compat.v1", "tensorflow.train", "tensorflow.contrib")
_GRAPHS = frozenset({"Graph", "as_default", "Session", "init_scope", "FuncGraph"})
_MAX_CALLERS = 6


def runs_eagerly(project: Project, unit: Unit, node: ast.AST, *, first: bool) -> bool:
    """Whether the code at ``node`` is run, and only eagerly: never in a graph or ``tf.function``.

    ``first`` says that the code is for TensorFlow 1. A function is run where it is called; one that
    is passed on, or decorated, may be traced.
    """
    return _is_eager(unit, first) and _runs(project, unit, node, 0)


def _is_eager(unit: Unit, first: bool) -> bool:
    """Whether the file turns eager execution on, or is written for TensorFlow 2."""
    enabled, second = unit.once(_enabled)
    return second and not first and not unit.graph if enabled is None else enabled


def _enabled(unit: Unit) -> tuple[bool | None, bool]:
    """Whether the file turns eager execution on in any case; None where it does not ask for it.

    And whether it names what is not of TensorFlow 1.
    """
    enabling: list[ast.Call] = []
    second = False
    for expr, path in unit.names.references():
        call = unit.parents.get(expr)
        if path.endswith(_ENABLING) and isinstance(call, ast.Call) and call.func is expr:
            enabling.append(call)
        # What imports TensorFlow 1 under the name of the whole may be the part of a graph program.
        second |= path.startswith("tensorflow.") and not path.startswith(_FIRST)
    if enabling:
        return any(not _is_conditional(unit, call) for call in enabling), second
    return None, second


def _is_conditional(unit: Unit, node: ast.AST) -> bool:
    for parent in around(unit, node):
        if isinstance(parent, ast.If) and "__name__" not in ast.unparse(parent.test):
            return True
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.IfExp):
            return True
    return False


def _runs(project: Project, unit: Unit, node: ast.AST, steps: int) -> bool:
    if steps > _MAX_CALLERS or _is_in_graph(unit, node):
        return False
    scope: Scope = project.scope_of(unit, node)
    if isinstance(scope, ast.Module):
        return True
    if isinstance(scope, ast.Lambda) or scope.decorator_list:
        return False
    mentions = project.mentions(scope.name)
    if mentions.others or not mentions.calls:
        return False
    return all(
        site.unit is unit and _runs(project, unit, site.call, steps + 1) for site in mentions.calls
    )


def _is_in_graph(unit: Unit, node: ast.AST) -> bool:
    for parent in around(unit, node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(parent, ast.With | ast.AsyncWith):
            for item in parent.items:
                for part in ast.walk(item.context_expr):
                    if getattr(part, "attr", getattr(part, "id", "")) in _GRAPHS:
                        return True
    return False

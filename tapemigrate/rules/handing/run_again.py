"""Whether the method that computes a target runs again after that was read, with a new tape."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, calls_in, walk
from tapemigrate.tape.request import Request


def runs_again(
    project: Project, view: View, request: Request, name: str, producer: ast.FunctionDef
) -> str:
    """Why the tape kept beside ``self.name`` may be another one than that of the target; or "".

    ``y = self.y; self.build(); tf.gradients(y, self.x)``
    """
    read = [
        begin(made.stmt)
        for made in backward(view.flow.uses_in(request.target)).made
        if made.stmt is not None
        and made.value is not None
        and any(u.made.path[:2] == (view.kinds.self_name, f".{name}") for u in made.uses)
    ]
    if not read:
        return ""  # it is read where the gradient is asked for
    units = {view.unit.filename: view.unit}
    if any(path_of(a) == (view.kinds.self_name,) for a in _handed(view.scope)):
        units |= {unit.filename: unit for unit in project.units.having(producer.name)}
    running = _running(units.values(), producer.name)
    looped = bool(view.blocks.loops_around(request.stmt))
    for node in walk(view.scope):  # what is handed on, or has another name, runs as well
        named = getattr(node, "attr", getattr(node, "id", "")) in running
        if not named or not isinstance(node, ast.Name | ast.Attribute):
            continue
        if begin(node) > min(read) and (looped or begin(node) < begin(request.call)):
            where = f"in line {node.lineno}, after `self.{name}` was read"
            return f"`{producer.name}` may run again {where}"
    return ""


def _handed(scope: ast.AST) -> Iterator[ast.expr]:
    return (each for call in calls_in(scope) for each in arguments_of(call))


def _running(units: Collection[Unit], name: str) -> set[str]:
    """The names of the functions in ``units`` that run the one of that name."""
    functions = [
        each for unit in units for each in unit.definitions if isinstance(each, ast.FunctionDef)
    ]
    found, before = {name}, 0
    while before != len(found):
        before = len(found)
        called = (f for f in functions if any(_called(call) in found for call in calls_in(f)))
        found |= {each.name for each in called}
    return found


def _called(call: ast.Call) -> str:
    return (path_of(call.func) or ("",))[-1].lstrip(".")

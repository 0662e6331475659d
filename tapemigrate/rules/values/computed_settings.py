"""Whether a program gives tensors for what it reads as settings: ``{"scale": tf.exp(x)}``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.computed import Computed
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.ops.syntax import SETTINGS


class ComputedSettings:
    """Looks for what has one name, as a key or as an attribute, in all files; once for each."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, bool] = {}

    def has(self, step: str) -> bool:
        """Whether ``['scale']`` of a dict, or ``.scale`` of an object, may be what an op gave."""
        if step not in self._known:
            key = step.lstrip(".").strip("[]'\"")
            given = _put_there if step.startswith("[") else _set_there
            computed = self._project.once(Computed)
            self._known[step] = any(
                computed.may_be(unit, value)
                for unit in self._project.units.with_text([key])
                for value in (*given(unit, key), *_named(unit, key))
            )
        return self._known[step]


def _put_there(unit: Unit, key: str) -> Iterator[ast.expr]:
    """``{"scale": value}``, ``found["scale"] = value``"""
    for display in unit.nodes(ast.Dict):
        for name, value in zip(display.keys, display.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                yield value
    for stmt in unit.nodes(ast.Assign):
        for target in stmt.targets:
            match target:
                case ast.Subscript(slice=ast.Constant(value=there)) if there == key:
                    yield stmt.value


def _set_there(unit: Unit, key: str) -> Iterator[ast.expr]:
    """``config.scale = value``, and what objects without methods are made of."""
    for stmt in unit.nodes(ast.Assign):
        for target in stmt.targets:
            if isinstance(target, ast.Attribute) and target.attr == key:
                owner = path_of(target.value)
                if owner is not None and owner[-1].lstrip(".") in SETTINGS:
                    yield stmt.value
    for cls in unit.nodes(ast.ClassDef):
        methods = (each.name for each in cls.body if isinstance(each, NamedFunction))
        if all(name.startswith("__") for name in methods):  # it is there to hold things
            yield from assigned_in(unit, cls).get(key, ())


def _named(unit: Unit, key: str) -> Iterator[ast.expr]:
    """``dict(scale=value)``, ``Namespace(scale=value)``, ``update(scale=value)``"""
    for call in unit.nodes(ast.Call):
        values = [k.value for k in call.keywords if k.arg == key]
        if not values:
            continue
        path = path_of(call.func)
        name = path[-1].lstrip(".") if path is not None else ""
        if not (names_class(name) or name in ("dict", "update", "_replace")):
            continue
        if short(unit.names.qualified(call.func)) is None:
            yield from values

"""What code gives names of its own that tensors and networks have for parts of theirs.

``face.shape`` may be a tensor of coefficients, and ``learner.trainable_variables()`` weights that
an inner step computed. By their names alone, they would be numbers, and variables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import parsed
from tapemigrate.rules.values.computed import Computed
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

_VARIABLES = (Make.VARIABLE, Make.FROZEN)
# Names of what tensors are asked for; others ask for variables, which no op has made.
_OF_TENSORS = ("shape", "graph", "ndims", "type", "get_shape", "as_list", "num_elements")
_TUPLES = ("namedtuple", "NamedTuple")


def named_alike(project: Project, name: str) -> bool:
    """Whether an op, or a variable, may be what some code at hand gives that name."""
    return project.once(_NamedAlike).has(name)


class _NamedAlike:
    """Looks for a name in all files, once for each."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, bool] = {}
        # One of its own: while a name is looked for, it is taken for what it is elsewhere.
        self._computed = Computed(project)

    def has(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = False
            self._known[name] = any(
                self._is_another(home, value, name)
                for unit in self._files(name)
                for home, value in self._given(unit, name)
            )
        return self._known[name]

    def _is_another(self, unit: Unit, value: ast.expr, name: str) -> bool:
        if name in _OF_TENSORS:
            return self._computed.may_be_tensor(unit, value)
        scope = self._project.scope_of(unit, value)
        made = self._project.view(unit, scope).kinds.make(value)
        return made in _VARIABLES or self._computed.may_be(unit, value)

    def _files(self, name: str) -> Iterator[Unit]:
        """The files in which something may be given that name."""
        given = re.compile(
            rf"\.\s*{name}\s*(?:=(?!=)|[,:])|\bdef\s+{name}\b|^\s+{name}\s*:"
            rf"|[\"'](?:[\w, ]*[, ])?{name}(?:[, ][\w, ]*)?[\"']",
            re.MULTILINE,
        )
        for file in self._project.units.may_have(name):
            if name in file.text and given.search(file.text) is not None:
                unit = parsed(file)
                if unit is not None:
                    yield unit

    def _given(self, unit: Unit, name: str) -> Iterator[tuple[Unit, ast.expr]]:
        """What attributes, properties, methods and fields of that name are given."""
        yield from ((unit, value) for value in _stored(unit, name))
        for cls in unit.nodes(ast.ClassDef):
            for method in cls.body:
                if isinstance(method, ast.FunctionDef) and method.name == name:
                    yield from ((unit, value) for value in _returned(method))
        for call in unit.nodes(ast.Call):
            if isinstance(call.func, ast.Call) and (place := _field(call.func, name)) is not None:
                yield from ((unit, value) for value in _passed(call, name, place))
        for made, place in _fields(unit, name):
            for site in self._project.mentions(made).calls:
                yield from ((site.unit, value) for value in _passed(site.call, name, place))


def _stored(unit: Unit, name: str) -> Iterator[ast.expr]:
    """``face.shape = value``, ``self.shape, self.pose = fit(x)``, ``setattr(face, "shape", v)``"""
    for node in (*unit.nodes(ast.Assign), *unit.nodes(ast.AnnAssign)):
        for target, value in each_given(node):
            if any(isinstance(n, ast.Attribute) and n.attr == name for n in _parts(target)):
                yield value
    for call in unit.nodes(ast.Call):
        match call:
            case ast.Call(ast.Name("setattr"), [_, ast.Constant(key), value]) if key == name:
                yield value


def _parts(target: ast.expr) -> Iterable[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _returned(method: ast.FunctionDef) -> Iterator[ast.expr]:
    yield from (n.value for n in walk(method) if isinstance(n, ast.Return) and n.value is not None)


def _passed(call: ast.Call, name: str, place: int) -> Iterator[ast.expr]:
    """What a call passes for a field."""
    yield from (k.value for k in call.keywords if k.arg == name)
    yield from call.args[place : place + 1]


def _field(call: ast.Call, name: str) -> int | None:
    """Which field of the tuples that a call makes has the name: ``namedtuple("Face", "shape")``."""
    if len(call.args) < 2 or (path_of(call.func) or ("",))[-1].lstrip(".") not in _TUPLES:
        return None
    words = (n.value for n in walk(call.args[1]) if isinstance(n, ast.Constant))
    fields = [field for word in words for field in str(word).replace(",", " ").split()]
    return fields.index(name) if name in fields else None


def _fields(unit: Unit, name: str) -> Iterator[tuple[str, int]]:
    """The tuples, and classes of fields, that have one of the name, and which it is."""
    for call in unit.nodes(ast.Call):
        place = _field(call, name)
        if place is not None and isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value), place
    for cls in unit.nodes(ast.ClassDef):
        fields = [
            s.target.id
            for s in cls.body
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        ]
        if name in fields:
            yield cls.name, fields.index(name)

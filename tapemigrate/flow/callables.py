"""Which functions of a file a call may run by a name that was given to them, or to what runs them:
``call = partial(net, n=2)``, ``NETS["mlp"](x)``, ``pick("mlp")(x)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.source.trees import arguments_of, walk


class _Use(Enum):
    """What is done with a name: it is called, handed on, or what its function gives is."""

    CALLED = auto()
    HANDED = auto()
    GIVES = auto()


_Step = tuple[str, _Use]


class Callables:
    """Looks for them in what names and attributes are given anywhere in the file."""

    def __init__(
        self,
        functions: Mapping[str, Sequence[NamedFunction]],
        given: Mapping[str, Sequence[ast.expr]],
        kept: Mapping[str, Sequence[ast.expr]],
    ) -> None:
        """``given`` are the values of names, ``kept`` those of attributes."""
        self._functions = functions
        self._given = given
        self._kept = kept
        self._steps: dict[_Step, frozenset[_Step]] = {}
        self._known: dict[_Step, frozenset[str]] = {}

    def named(self, name: str) -> frozenset[str]:
        """The functions that run where ``name`` is called, if it is none of a function itself."""
        if name in self._functions or name not in self._given:
            return frozenset()
        return self._reached((name, _Use.CALLED))

    def called(self, func: ast.expr) -> frozenset[str]:
        """The functions that run where the value of ``func`` is called."""
        return frozenset().union(*map(self._reached, _steps(func, _Use.CALLED)))

    def handed(self, argument: ast.expr) -> frozenset[str]:
        """The functions that ``argument`` hands on: one that makes it has run before."""
        return frozenset().union(*map(self._reached, _steps(argument, _Use.HANDED)))

    def _reached(self, start: _Step) -> frozenset[str]:
        if start not in self._known:
            met, pending = {start}, [start]
            while pending:
                new = self._further(pending.pop()) - met
                met |= new
                pending += new
            run = {name for name, use in met if use is not _Use.GIVES}
            self._known[start] = frozenset(run & self._functions.keys())
        return self._known[start]

    def _further(self, step: _Step) -> frozenset[_Step]:
        if step not in self._steps:
            name, use = step
            if use is _Use.GIVES:
                found = {s for value in self._returned(name) for s in _steps(value, _Use.HANDED)}
            else:
                values = (*self._given.get(name, ()), *self._kept.get(name, ()))
                found = {each for value in values for each in _steps(value, use)}
                if use is _Use.CALLED:
                    found.add((name, _Use.GIVES))
            self._steps[step] = frozenset(found)
        return self._steps[step]

    def _returned(self, name: str) -> Iterator[ast.expr]:
        for function in self._functions.get(name, ()):
            for node in walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield node.value


def _steps(value: ast.expr, use: _Use) -> Iterator[_Step]:
    """The names by which a value runs functions. What gives one may make it, or pick it."""
    match value:
        case ast.Name():
            yield value.id, use
        case ast.Attribute():
            yield value.attr, use
            if isinstance(value.value, ast.Call):
                yield from _steps(value.value, _Use.HANDED)
        case ast.Lambda():
            for node in walk(value.body):
                if isinstance(node, ast.Call):
                    yield from _steps(node.func, _Use.CALLED)
        case ast.Call():
            for argument in arguments_of(value):
                yield from _steps(argument, _Use.HANDED)
            if use is _Use.CALLED:
                yield from _steps(value.func, use)
            elif isinstance(value.func, ast.Name):
                yield value.func.id, _Use.GIVES
        case ast.Subscript() | ast.Starred():
            yield from _steps(value.value, use)
        case ast.IfExp():
            yield from _steps(value.body, use)
            yield from _steps(value.orelse, use)
        case ast.BoolOp() | ast.Dict():
            for part in value.values:
                yield from _steps(part, use)
        case ast.List() | ast.Tuple() | ast.Set():
            for part in value.elts:
                yield from _steps(part, use)

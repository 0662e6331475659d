"""Which functions of a file a call may run by a name that was given to them, or to what runs them:
``call = partial(net, n=2)``, ``NETS["mlp"](x)``, ``pick("mlp")(x)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.source.trees import arguments_of, walk


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
        self._known: dict[str, frozenset[str]] = {}

    def named(self, name: str) -> frozenset[str]:
        """The functions that run where ``name`` is called, if it is none of a function itself."""
        if name in self._functions or name not in self._given:
            return frozenset()
        if name not in self._known:
            self._known[name] = frozenset(self._by_name(name, set(), True))
        return self._known[name]

    def called(self, func: ast.expr) -> Iterator[str]:
        """The functions that run where the value of ``func`` is called."""
        return self._of(func, set(), True)

    def handed(self, argument: ast.expr) -> Iterator[str]:
        """The functions that ``argument`` hands on: one that makes it has run before."""
        return self._of(argument, set(), False)

    def _by_name(self, name: str, seen: set[str], made: bool) -> Iterator[str]:
        if name in seen:
            return
        seen.add(name)
        if name in self._functions:
            yield name
            if made:
                yield from self._given_by(name, seen)
        for value in (*self._given.get(name, ()), *self._kept.get(name, ())):
            yield from self._of(value, seen, made)

    def _given_by(self, name: str, seen: set[str]) -> Iterator[str]:
        """The functions that a function of that name gives."""
        given = f"{name}()"
        for function in self._functions.get(name, ()) if given not in seen else ():
            seen.add(given)
            for node in walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from self._of(node.value, seen, False)

    def _of(self, value: ast.expr, seen: set[str], made: bool) -> Iterator[str]:
        """``made``: what gives the value may give a function that it makes, or picks."""
        match value:
            case ast.Name():
                yield from self._by_name(value.id, seen, made)
            case ast.Attribute():
                yield from self._by_name(value.attr, seen, made)
                if isinstance(value.value, ast.Call):
                    yield from self._of(value.value, seen, False)
            case ast.Lambda():
                for node in walk(value.body):
                    if isinstance(node, ast.Call):
                        yield from self._of(node.func, seen, True)
            case ast.Call():
                for argument in arguments_of(value):
                    yield from self._of(argument, seen, False)
                if made:
                    yield from self._of(value.func, seen, True)
                elif isinstance(value.func, ast.Name):
                    yield from self._given_by(value.func.id, seen)
            case ast.Subscript() | ast.Starred():
                yield from self._of(value.value, seen, made)
            case ast.IfExp():
                yield from self._of(value.body, seen, made)
                yield from self._of(value.orelse, seen, made)
            case ast.BoolOp() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                parts = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else ()
                for part in parts or getattr(value, "values", ()):
                    yield from self._of(part, seen, made)

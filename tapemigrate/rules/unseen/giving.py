"""Functions that give a function, or an object, and not only tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.unpacking import all_given
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.bindings import last_name, parts


def giving_functions(unit: Unit) -> frozenset[str]:
    """The names of functions and methods of the file that may give a function, or an object.

    By Python's custom what makes an object begins with a capital letter.
    """
    defined = {node.name for node in unit.definitions}
    given: dict[NamedFunction, list[ast.expr]] = {}
    for function, value in _returned(unit):
        given.setdefault(function, []).extend(_given(function, value))
    found: set[str] = set()
    while True:
        more = {
            function.name
            for function, values in given.items()
            if any(_is_one(unit, value, defined, found) for value in values)
        }
        if more <= found:
            return frozenset(found)
        found |= more


def _is_one(unit: Unit, value: ast.expr, defined: set[str], giving: set[str]) -> bool:
    if isinstance(value, ast.Call):
        called = {last_name(part) for part in parts(value.func)}
        return any(n[:1].isupper() or n == "partial" or n in giving for n in called)
    if isinstance(value, ast.Lambda) or last_name(value) in defined:
        return True
    path = unit.names.qualified(value)
    return path is not None and not is_of_library(path)


def _given(function: NamedFunction, value: ast.expr) -> Iterator[ast.expr]:
    """What ``value`` may be, also by second names in the function."""
    named = list(all_given(function))
    met: set[str] = set()
    pending = list(parts(value))
    for part in pending:  # which grows meanwhile
        yield part
        if isinstance(part, ast.Name) and part.id not in met:
            met.add(part.id)
            pending += (
                each
                for target, kept in named
                if isinstance(target, ast.Name) and target.id == part.id
                for each in parts(kept)
            )


def _returned(unit: Unit) -> Iterator[tuple[NamedFunction, ast.expr]]:
    for stmt in unit.nodes(ast.Return):
        above: ast.AST = stmt
        while not isinstance(above, NamedFunction):
            above = unit.parents[above]
        if stmt.value is not None:
            yield above, stmt.value

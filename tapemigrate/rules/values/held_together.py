"""The names of a module that lead to the same list, dict or object: ``OTHER = STORE``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top, kinds_of
from tapemigrate.source.trees import arguments_of, top_level, walk
from tapemigrate.tape.kinds import INDEPENDENT, Kinds, Make

# What makes a container of what it is given, or a view of it: the elements stay what they are.
_HOLDING = frozenset(
    {"list", "dict", "tuple", "set", "zip", "iter", "enumerate", "reversed", "map", "filter"}
    | {"ChainMap", "OrderedDict", "defaultdict", "deque", "SimpleNamespace", "MappingProxyType"}
    | {"copy", "tee", "chain", "cycle", "partial", "ref", "proxy", "get", "items", "values"}
)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Tuple)
_EMPTY_CALLS = frozenset({"list", "dict", "set", "OrderedDict", "defaultdict", "deque"})


def made_at_top(unit: Unit) -> dict[str, list[ast.expr]]:
    """What names of the module are given; of what is unpacked, what it is unpacked from."""
    found = {name: list(values) for name, values in unit.once(given_at_top).items()}
    for stmt in top_level(unit.tree):
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call):
            for target in stmt.targets:
                for part in target.elts if isinstance(target, ast.Tuple | ast.List) else ():
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, []).append(stmt.value)
    return found


def held_together(unit: Unit, names: Iterable[str]) -> set[str]:
    """``names``, and those by which something is found that is put into what ``names`` lead to."""
    ways = unit.once(_ways)
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += ways.get(name, ())
    return found


def _ways(unit: Unit) -> dict[str, set[str]]:
    """By names: those by which what is put into them may be found as well."""
    given, kinds = unit.once(made_at_top), unit.once(kinds_of)
    fixed = {name for name in given if all(_is_fixed(value, kinds) for value in given[name])}
    others = given.keys() - fixed
    found: dict[str, set[str]] = {}
    for name in others:
        for value in given[name]:
            for other in {*_is_or_holds(value)} & others - {name}:
                found.setdefault(name, set()).add(other)
                found.setdefault(other, set()).add(name)
            if isinstance(value, ast.Call) and kinds.make(value) is Make.UNKNOWN:
                for other in {*_handed(unit, value)} & others - {name}:
                    found.setdefault(other, set()).add(name)
                    # What is handed over empty is filled there.
                    if all(map(_is_empty, given[other])):
                        found.setdefault(name, set()).add(other)
    return found


def _is_or_holds(value: ast.expr) -> Iterator[str]:
    """The names of what a value is, is a part of, or has among its elements as it is."""
    match value:
        case ast.Name():
            yield value.id
        case ast.Attribute() | ast.Subscript() | ast.Starred():
            yield from _is_or_holds(value.value)
        case ast.Tuple() | ast.List() | ast.Set():
            yield from (name for each in value.elts for name in _is_or_holds(each))
        case ast.Dict():
            yield from (name for each in value.values for name in _is_or_holds(each))
        case ast.IfExp():
            yield from (*_is_or_holds(value.body), *_is_or_holds(value.orelse))
        case ast.BoolOp():
            yield from (name for each in value.values for name in _is_or_holds(each))
        case ast.Call() if (path_of(value.func) or _last(value.func))[-1].lstrip(".") in _HOLDING:
            yield from (name for each in arguments_of(value) for name in _is_or_holds(each))
            if isinstance(value.func, ast.Attribute):
                yield from _is_or_holds(value.func.value)


def _last(func: ast.expr) -> tuple[str]:
    return (getattr(func, "attr", ""),)


def _handed(unit: Unit, call: ast.Call) -> Iterator[str]:
    """The names that a call is handed which is no library's."""
    if not is_of_library(unit.names.qualified(call.func)):
        for each in arguments_of(call):
            yield from _is_or_holds(each)


def _is_fixed(value: ast.expr, kinds: Kinds) -> bool:
    """Whether nothing can be put into it: a number, a tensor, a variable."""
    if isinstance(value, _DISPLAYS):
        return False
    if isinstance(value, ast.Call) and (path_of(value.func) or ("",))[-1].lstrip(".") in _HOLDING:
        return False
    return kinds.make(value) in INDEPENDENT | {Make.TENSOR}


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.Set():
            return not value.elts
        case ast.Dict():
            return not value.keys
        case ast.Call(func=func):
            named = (path_of(func) or ("",))[-1].lstrip(".") in _EMPTY_CALLS
            return named and not any(isinstance(n, ast.Dict | ast.List) for n in walk(value))
    return False

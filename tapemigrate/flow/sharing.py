"""The attributes of a file that lead to the same list, dict or object: ``self.b = self.a``."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.source.trees import arguments_of

# What makes a container of what it is given, or a view of it: the elements stay what they are.
HOLDING = frozenset(
    {"list", "dict", "tuple", "set", "zip", "iter", "enumerate", "reversed", "map", "filter"}
    | {"ChainMap", "OrderedDict", "defaultdict", "deque", "SimpleNamespace", "MappingProxyType"}
    | {"copy", "tee", "chain", "cycle", "partial", "ref", "proxy", "get", "items", "values"}
)
_VIEWS = frozenset({"ChainMap", "iter", "proxy", "ref", "MappingProxyType"})
_EMPTY_CALLS = frozenset({"list", "dict", "set", "OrderedDict", "defaultdict", "deque"})


class Given(NamedTuple):
    """What an attribute is given, and the line in which it is."""

    attribute: str
    value: ast.expr
    line: int


class Way(enum.Enum):
    """How a value leads to what an expression in it is."""

    SAME = enum.auto()
    HOLDS = enum.auto()
    PART = enum.auto()


Led = tuple[ast.Name | ast.Attribute, Way]


def leads_to(value: ast.expr) -> Iterator[Led]:
    """What a value is, has among its elements as it is, or is a part of."""
    match value:
        case ast.Name():
            yield value, Way.SAME
        case ast.Attribute():
            yield value, Way.SAME
            yield from ((one, Way.PART) for one, _ in leads_to(value.value))
        case ast.Subscript():
            yield from ((one, Way.PART) for one, _ in leads_to(value.value))
        case ast.Starred():
            yield from _held(value.value)
        case ast.Tuple() | ast.List() | ast.Set():
            yield from (led for each in value.elts for led in _held(each))
        case ast.Dict():
            yield from (led for each in value.values for led in _held(each))
        case ast.IfExp():
            yield from (*leads_to(value.body), *leads_to(value.orelse))
        case ast.BoolOp():
            yield from (led for each in value.values for led in leads_to(each))
        case ast.Call() if last_of(value.func) in _VIEWS:
            yield from (led for each in arguments_of(value) for led in leads_to(each))
        case ast.Call() if last_of(value.func) in HOLDING:
            yield from (led for each in arguments_of(value) for led in _held(each))
            if isinstance(value.func, ast.Attribute):
                yield from ((one, Way.PART) for one, _ in leads_to(value.func.value))


def _held(value: ast.expr) -> Iterator[Led]:
    return ((one, Way.HOLDS if way is Way.SAME else way) for one, way in leads_to(value))


def last_of(func: ast.expr) -> str:
    """``get`` of ``a.b().get``"""
    return func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")


def is_empty(value: ast.expr) -> bool:
    """Whether it makes a container with nothing in it: what is handed over so is filled there."""
    match value:
        case ast.List() | ast.Set():
            return not value.elts
        case ast.Dict():
            return not value.keys
        case ast.Call():
            return last_of(value.func) in _EMPTY_CALLS and not any(
                isinstance(each, ast.Dict | ast.List) for each in value.args
            )
    return False


class Twins(NamedTuple):
    """By steps of paths: the attributes that change where one does; and where a part of it does."""

    whole: dict[str, frozenset[str]]
    parts: dict[str, frozenset[str]]


def sharing(
    given: Iterable[Given],
    chained: Iterable[tuple[str, str]],
    functions: Mapping[str, list[NamedFunction]],
) -> Twins:
    """The attributes that hold what others do, or have it, in whatever function they are given."""
    whole: dict[str, set[str]] = {}
    parts: dict[str, set[str]] = {}
    listed = list(given)
    empty: dict[str, bool] = {}
    for each in listed:
        empty[each.attribute] = empty.get(each.attribute, True) and is_empty(each.value)
    by_name: dict[str, list[Given]] = {}
    for each in listed:
        for one, way in leads_to(each.value):
            if isinstance(one, ast.Name):
                by_name.setdefault(one.id, []).append(each)
            elif path_of(one) is not None:
                _pair(each.attribute, one.attr, way, whole, parts)
        if isinstance(each.value, ast.Call) and names_class(last_of(each.value.func)):
            handed = (one for value in arguments_of(each.value) for one, _ in leads_to(value))
            for one in handed:
                # What an object is handed empty is filled where it is kept.
                if isinstance(one, ast.Attribute) and empty.get(one.attr):
                    _pair(each.attribute, one.attr, Way.HOLDS, whole, parts)
    for pair in [*chained, *_of_one_name(by_name, functions)]:
        _pair(*pair, Way.SAME, whole, parts)
    return Twins(
        {name: frozenset(others) for name, others in whole.items()},
        {name: frozenset(others) for name, others in parts.items()},
    )


def _pair(
    one: str, other: str, way: Way, whole: dict[str, set[str]], parts: dict[str, set[str]]
) -> None:
    outer, inner = (other, one) if way is Way.PART else (one, other)
    if outer != inner:
        whole.setdefault(f".{inner}", set()).add(f".{outer}")
        back = whole if way is Way.SAME else parts
        back.setdefault(f".{outer}", set()).add(f".{inner}")


def _of_one_name(
    by_name: Mapping[str, list[Given]], functions: Mapping[str, list[NamedFunction]]
) -> Iterator[tuple[str, str]]:
    """Attributes that one function gives the same name, or what holds that."""
    places = [(f.lineno, f.end_lineno or 0) for each in functions.values() for f in each]
    for group in by_name.values():
        if len({each.attribute for each in group}) == 1:
            continue
        scopes: dict[tuple[int, int], set[str]] = {}
        for each in group:
            around = [place for place in places if place[0] <= each.line <= place[1]]
            if around:
                scopes.setdefault(max(around), set()).add(each.attribute)
        for names in scopes.values():
            yield from permutations(sorted(names), 2)

"""The names of a module that lead to the same list, dict or object: ``OTHER = STORE``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.sharing import HOLDING, Way, is_empty, last_of, leads_to
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top, kinds_of
from tapemigrate.rules.values.containers.common_to_all import is_container
from tapemigrate.source.trees import arguments_of, top_level
from tapemigrate.tape.ops.kinds import INDEPENDENT, Kinds, Make

_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Tuple)


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
            for one, way in leads_to(value):
                other = one.id if isinstance(one, ast.Name) else ""
                if other in others and other != name:
                    outer, inner = (other, name) if way is Way.PART else (name, other)
                    found.setdefault(inner, set()).add(outer)
                    # An object stays what it is where a list of such gets longer.
                    if way is not Way.HOLDS or all(map(is_container, given[inner])):
                        found.setdefault(outer, set()).add(inner)
            if isinstance(value, ast.Call) and kinds.make(value) is Make.UNKNOWN:
                for other in {*_handed(unit, value)} & others - {name}:
                    found.setdefault(other, set()).add(name)
                    # What is handed over empty is filled there.
                    if all(map(is_empty, given[other])):
                        found.setdefault(name, set()).add(other)
    return found


def _names_in(value: ast.expr) -> set[str]:
    """The names of the module that lead to what a value is, is a part of, or has in it."""
    return {one.id for one, _ in leads_to(value) if isinstance(one, ast.Name)}


def _handed(unit: Unit, call: ast.Call) -> Iterator[str]:
    """The names that a call is handed which is no library's."""
    if not is_of_library(unit.names.qualified(call.func)):
        for each in arguments_of(call):
            yield from _names_in(each)


def _is_fixed(value: ast.expr, kinds: Kinds) -> bool:
    """Whether nothing can be put into it: a number, a tensor, a variable."""
    if isinstance(value, _DISPLAYS):
        return False
    if isinstance(value, ast.Call) and last_of(value.func) in HOLDING:
        return False
    return kinds.make(value) in INDEPENDENT | {Make.TENSOR}

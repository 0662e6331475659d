"""What a file has for others that runs what no tape records: functions, classes and methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.collected import COLLECTED, Collected
from tapemigrate.rules.unseen.hazards import Hazards
from tapemigrate.rules.unseen.methods import methods_of, named_in
from tapemigrate.rules.unseen.own_graphs import outside_own_graphs
from tapemigrate.rules.unseen.reasons import BY_HAND, DEFUN, IN_LIBRARIES
from tapemigrate.rules.unseen.words import is_defun, may_hold
from tapemigrate.source.trees import top_level, walk
from tapemigrate.tape.request import Refusal


def hidden(unit: Unit) -> dict[str, Refusal]:
    """The functions and classes that ``unit`` has for others and that run what no tape records."""
    here = Hazards(unit, None, False, [], {})
    found: dict[str, Refusal] = {}
    defined = [
        top for top in top_level(unit.tree) if isinstance(top, ast.FunctionDef | ast.ClassDef)
    ]
    for top in defined if may_hold(unit, BY_HAND) else ():
        for node in _run_by(unit, top):
            refusal = here.made_by_hand(node)
            if refusal is not None:
                found[top.name] = refusal
    for stmt in top_level(unit.tree) if may_hold(unit, ("Defun", *IN_LIBRARIES)) else ():
        if not isinstance(stmt, ast.Assign):
            continue
        refusal = next(filter(None, (_giving(here, call) for call in _calls_in(stmt))), None)
        if refusal is not None:
            found |= dict.fromkeys((t.id for t in stmt.targets if isinstance(t, ast.Name)), refusal)
    tops = {top.name for top in defined}
    asking = dict.fromkeys(sorted(Collected(unit, None).readers() & tops), COLLECTED)
    return asking | with_users(found, uses_of_own(unit) if found else {})


def hidden_methods(unit: Unit) -> dict[str, Refusal]:
    """The methods of ``unit`` that run what no tape records, through each other as well."""
    here = Hazards(unit, None, False, [], {})
    found: dict[str, Refusal] = {}
    names = methods_of(unit) if may_hold(unit, BY_HAND) else frozenset()
    if names:
        found |= {name: r for name, r in hidden(unit).items() if not r.gathers}
    for function in unit.definitions if names else ():
        if isinstance(function, ast.FunctionDef):
            refusals = (here.made_by_hand(node) for node in walk(function))
            if (refusal := next(filter(None, refusals), None)) is not None:
                found[function.name] = refusal
    users = with_users(found, named_in(unit)) if found else {}
    return {name: each for name, each in users.items() if name in names}


def uses_of_own(unit: Unit) -> dict[str, frozenset[str]]:
    """Of each function, class and value of ``unit`` what of the module's own it names."""
    tops: list[tuple[str, ast.AST]] = []
    for stmt in top_level(unit.tree):
        if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            tops.append((stmt.name, stmt))
        elif isinstance(stmt, ast.Assign):
            tops += [(t.id, stmt.value) for t in stmt.targets if isinstance(t, ast.Name)]
    names = {name for name, _ in tops}
    used: dict[str, frozenset[str]] = {}
    for name, top in tops:
        here = frozenset(n.id for n in walk(top) if isinstance(n, ast.Name) and n.id in names)
        used[name] = used.get(name, frozenset()) | here
    return used


def with_users(found: dict[str, Refusal], uses: Mapping[str, frozenset[str]]) -> dict[str, Refusal]:
    """``found``, functions and classes of a file, with those that use them, and so on."""
    found = dict(found)
    users: dict[str, list[str]] = {}
    for user, names in uses.items():
        for name in names:
            users.setdefault(name, []).append(user)
    pending = list(found)
    while pending:
        name = pending.pop()
        for user in users.get(name, ()):
            if user not in found:
                found[user] = found[name]
                pending.append(user)
    return found


def _run_by(unit: Unit, top: ast.FunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    if isinstance(top, ast.ClassDef):
        return iter(walk(top))
    roots = [top.args, *top.decorator_list, *outside_own_graphs(unit, top)]
    return (node for root in roots for node in walk(root))


def _giving(here: Hazards, call: ast.Call) -> Refusal | None:
    """Why a tape would miss what a function runs that ``call`` makes."""
    return DEFUN if is_defun(call) else here.of_library(call.func)


def _calls_in(stmt: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in walk(stmt) if isinstance(node, ast.Call))

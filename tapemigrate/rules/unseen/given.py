"""What runs ops that no tape records, where it is handed in: ``attack(net)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.request import Refusal

#: Why a tape would miss what a name runs.
Refuses = Callable[[ast.expr], Refusal | None]
#: By function and parameter, why a tape would miss what is handed in there.
Given = dict[tuple[str, str], Refusal]


@dataclass(frozen=True, slots=True)
class Handed:
    """What the functions of a file are handed, by its last names there.

    ``called``: what may be called; ``objects``: what has such ``methods``. ``running`` are imported
    functions that run one of these of what they are handed in turn.
    """

    called: Mapping[str, Refusal] = field(default_factory=dict)
    objects: Mapping[str, Refusal] = field(default_factory=dict)
    methods: Mapping[str, Refusal] = field(default_factory=dict)
    running: Mapping[str, Refusal] = field(default_factory=dict)


def takers(unit: Unit) -> dict[str, list[list[str]]]:
    """The parameters of the functions and methods of a file, by what calls of them name."""
    found: dict[str, list[list[str]]] = {}
    for node in unit.definitions:
        if isinstance(node, NamedFunction):
            above = unit.parents[node]
            of_class = isinstance(above, ast.ClassDef) and node.name == "__init__"
            name = above.name if isinstance(above, ast.ClassDef) and of_class else node.name
            taken = [a.arg for a in parameters(node.args)]
            found.setdefault(name, []).append([a for a in taken if a not in ("self", "cls")])
    return found


def given_to(
    project: Project,
    unit: Unit,
    user: Unit,
    refuses: Refuses,
    made: Callable[[], Mapping[str, Refusal]],
    handed: Callable[[], Mapping[str, Refusal]],
) -> tuple[Given, Given]:
    """Which parameters in ``unit`` the file ``user`` gives such a thing, and which such an object.

    By the functions that have the parameters, as calls name them. ``made`` gives what ``objects``
    does, ``handed`` such objects that the functions of ``user`` are given themselves, by their last
    names there; it is asked where one of them may be handed on.
    """
    taking = unit.once(takers)
    called = user.once(_calls_by_name)
    # In the order in which they stand: of two that give the same, the last one counts.
    named = sorted(each for name in taking.keys() & called.keys() for each in called[name])
    all_calls = user.nodes(ast.Call)
    calls = [all_calls[n] for n in named if may_mean(project, unit, user, all_calls[n].func)]
    if not calls:
        return {}, {}
    having = made()
    parameters_there = user.once(_parameters)
    passed = (each for call in calls for each in arguments_of(call))
    if any(last_name(each) in parameters_there for each in passed):
        having = {**handed(), **having}

    def an_object(value: ast.expr) -> Refusal | None:
        return refuses(value.func) if isinstance(value, ast.Call) else having.get(last_name(value))

    return dict(_given(calls, taking, refuses)), dict(_given(calls, taking, an_object))


def _parameters(unit: Unit) -> frozenset[str]:
    return frozenset(n.arg for n in unit.nodes(ast.arg)) - {"self", "cls"}


def _calls_by_name(unit: Unit) -> dict[str, list[int]]:
    """Which of its calls are calls of a name."""
    found: dict[str, list[int]] = {}
    for number, call in enumerate(unit.nodes(ast.Call)):
        found.setdefault(last_name(call.func), []).append(number)
    return found


def names_for(unit: Unit, given: Given) -> dict[str, Refusal]:
    """The last names that in ``unit`` what its functions are given has."""
    taking = unit.once(takers)
    names = {parameter: refusal for (_, parameter), refusal in given.items()}
    before = -1
    while before < len(names):
        before = len(names)
        further = _given(unit.nodes(ast.Call), taking, partial(_named, names))
        more = {parameter: refusal for (_, parameter), refusal in further}
        for targets, value in _bindings(unit):
            if (refusal := names.get(last_name(value))) is not None:
                more |= dict.fromkeys(filter(None, map(last_name, targets)), refusal)
        names = more | names
    return names


def may_mean(project: Project, unit: Unit, user: Unit, func: ast.expr) -> bool:
    """Whether ``user`` may call a function, or a class, of ``unit`` by ``func``."""
    path = user.names.qualified(func)
    if user is unit or path is None:
        return user is unit or isinstance(func, ast.Attribute) or _has_star(user)
    return leads_to(project, path, user, unit, path.rpartition(".")[2]) is not False


def _has_star(unit: Unit) -> bool:
    return any(stmt.names[0].name == "*" for stmt in unit.nodes(ast.ImportFrom))


def _named(names: Mapping[str, Refusal], value: ast.expr) -> Refusal | None:
    return names.get(last_name(value))


def _bindings(unit: Unit) -> Iterator[tuple[list[ast.expr], ast.expr]]:
    """What names a value, or a part of one, and that value."""
    yield from ((stmt.targets, stmt.value) for stmt in unit.nodes(ast.Assign))
    loops: list[ast.For | ast.comprehension] = [*unit.nodes(ast.For)]
    for loop in [*loops, *unit.nodes(ast.comprehension)]:
        inside = [loop.iter, *(loop.iter.args if isinstance(loop.iter, ast.Call) else ())]
        targets: list[ast.expr] = [n for n in walk(loop.target) if isinstance(n, ast.Name)]
        yield from ((targets, each) for each in inside)


def _given(
    calls: Iterable[ast.Call], taking: Mapping[str, list[list[str]]], refuses: Refuses
) -> Iterator[tuple[tuple[str, str], Refusal]]:
    for call in calls:
        for taken in taking.get(last_name(call.func), ()):
            starred = any(isinstance(each, ast.Starred) for each in call.args)
            for place, value in enumerate(call.args):
                if (refusal := refuses(value)) is not None:
                    # Beyond the last stands what ``*args`` takes.
                    names = taken if starred else taken[: place + 1][-1:]
                    yield from (((last_name(call.func), name), refusal) for name in names)
            for keyword in call.keywords:
                if (refusal := refuses(keyword.value)) is not None:
                    names = taken if keyword.arg is None else [keyword.arg]
                    yield from (((last_name(call.func), name), refusal) for name in names)


def objects(user: Unit, refuses: Refuses) -> dict[str, Refusal]:
    """The last names of what such functions and classes make in the file."""
    found: dict[str, Refusal] = {}
    for stmt in user.nodes(ast.Assign):
        if isinstance(stmt.value, ast.Call):
            refusal = refuses(stmt.value.func)
            if refusal is not None:
                found |= dict.fromkeys(filter(None, map(last_name, stmt.targets)), refusal)
    return found


def last_name(node: ast.expr) -> str:
    """By what a value, or what holds it, goes in the end."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")

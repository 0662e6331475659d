"""What runs ops that no tape records, where it is handed in: ``attack(net)``."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.places import is_module, split_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.bindings import bound_parts, last_name, parts, with_second_names
from tapemigrate.source.trees import arguments_of
from tapemigrate.tape.request import Refusal

#: Why a tape would miss what a name runs.
Refuses = Callable[[ast.expr], Refusal | None]
#: By function and parameter, why a tape would miss what is handed in there.
Given = dict[tuple[str, str], Refusal]

_R = TypeVar("_R")


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
    gives: Callable[[int], bool],
    refuses: Refuses,
    runs: Refuses,
    made: Callable[[], Mapping[str, Refusal]],
    handed: Callable[[], Mapping[str, Refusal]],
) -> tuple[Given, Given]:
    """Which parameters in ``unit`` the file ``user`` gives such a thing, and which such an object.

    ``runs`` is what ``refuses`` is, of lambdas and methods as well.

    By the functions that have the parameters, as calls name them. ``made`` gives what ``objects``
    does, ``handed`` such objects that the functions of ``user`` are given themselves, by their last
    names there; it is asked where one of them may be handed on. ``gives`` tells of a call of
    ``user``, by its number, whether it hands in such a thing, or what ``made`` gives.
    """
    taking = unit.once(takers)
    called = user.once(calls_by_name)
    # In the order in which they stand: of two that give the same, the last one counts.
    named = sorted(each for name in taking.keys() & called.keys() for each in called[name])
    all_calls = user.nodes(ast.Call)

    def means(number: int) -> bool:
        return may_mean(project, unit, user, all_calls[number].func)

    handing_on = user.once(_handing_on) if named else frozenset()
    from_above = handed() if any(n in handing_on and means(n) for n in named) else {}
    # What a call may mean takes long to tell, and hardly any hands in anything of the kind.
    calls = [all_calls[n] for n in named if (from_above or gives(n)) and means(n)]
    if not calls:
        return {}, {}
    having = {**from_above, **made()}

    making = makers(user, refuses)

    def an_object(value: ast.expr) -> Refusal | None:
        if isinstance(value, ast.Call):
            return _of_maker(value, refuses, making)
        return having.get(last_name(value))

    of_any = (partial(_of_parts, asked) for asked in (runs, an_object))
    run, had = (dict(handed_by(calls, taking, each)) for each in of_any)
    return run, had


def _of_parts(refuses: Refuses, value: ast.expr) -> Refusal | None:
    """What ``refuses`` tells of any of which ``value`` may be one."""
    return next(filter(None, map(refuses, parts(value))), None)


def _of_maker(call: ast.Call, refuses: Refuses, making: Mapping[str, Refusal]) -> Refusal | None:
    """What is to say of what a call gives, by what is called: ``nets[kind]()``."""
    asked = (refuses(each) or making.get(last_name(each)) for each in parts(call.func))
    return next(filter(None, asked), None)


def gives_any(call: ast.Call, refuses: Refuses, runs: Refuses, made: Mapping[str, Refusal]) -> bool:
    """Whether a call is handed what ``refuses`` tells of, or an object that it, or ``made``, does.

    What is handed on from parameters of the function around is not among that.
    """
    for handed in arguments_of(call):
        for value in parts(handed):
            if runs(value) is not None or last_name(value) in made:
                return True
            if isinstance(value, ast.Call) and _of_maker(value, refuses, made) is not None:
                return True
    return False


def _handing_on(unit: Unit) -> frozenset[int]:
    """Which of its calls are handed a parameter of a function of the file."""
    parameters_there = unit.once(_parameters)
    calls = enumerate(unit.nodes(ast.Call))
    return frozenset(
        number
        for number, call in calls
        if any(
            last_name(part) in parameters_there
            for each in arguments_of(call)
            for part in parts(each)
        )
    )


def _parameters(unit: Unit) -> frozenset[str]:
    return frozenset(n.arg for n in unit.nodes(ast.arg)) - {"self", "cls"}


def calls_by_name(unit: Unit) -> dict[str, list[int]]:
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
        further = handed_by(unit.nodes(ast.Call), taking, partial(_named, names))
        more = {parameter: refusal for (_, parameter), refusal in further}
        for name, part in bound_parts(unit):
            if (refusal := _named(names, part)) is not None:
                more[name] = refusal
        names = more | names
    return names


def may_mean(project: Project, unit: Unit, user: Unit, func: ast.expr) -> bool:
    """Whether ``user`` may call a function, or a class, of ``unit`` by ``func``."""
    path = user.names.qualified(func)
    if user is unit or path is None:
        return user is unit or isinstance(func, ast.Attribute) or _has_star(user)
    return leads_to(project, path, user, unit, path.rpartition(".")[2]) is not False


@dataclass(frozen=True, slots=True)
class GivingCall:
    """A call of ``name`` in the file ``user``. ``path`` is what it imports; empty: a method's."""

    user: str
    name: str
    path: str | None

    def may_mean(self, home: str) -> bool:
        """Whether it may mean something of a file, told by names alone: see ``may_mean``."""
        if self.user == home or not self.path:
            return self.user == home or self.path is not None
        module, _ = split_path(self.path)
        package = os.path.join(os.path.dirname(home), "__init__.py")
        return not is_of_library(self.path) or any(
            is_module(self.user, module, each) is not False for each in (home, package)
        )


def giving_call(user: Unit, call: ast.Call) -> GivingCall:
    """The call, as far as that tells what it may mean."""
    path = user.names.qualified(call.func)
    if path is None and (isinstance(call.func, ast.Attribute) or _has_star(user)):
        path = ""
    return GivingCall(user.filename, last_name(call.func), path)


def _has_star(unit: Unit) -> bool:
    return any(stmt.names[0].name == "*" for stmt in unit.nodes(ast.ImportFrom))


def _named(names: Mapping[str, Refusal], value: ast.expr) -> Refusal | None:
    return names.get(last_name(value))


def handed_by(
    calls: Iterable[ast.Call],
    taking: Mapping[str, list[list[str]]],
    refuses: Callable[[ast.expr], _R | None],
) -> Iterator[tuple[tuple[str, str], _R]]:
    """The functions and parameters to which ``calls`` give what ``refuses`` tells of."""
    for call in calls:
        name = last_name(call.func)
        if name not in taking:
            continue
        # Told once for all functions of the name.
        placed = [(n, r) for n, value in enumerate(call.args) if (r := refuses(value)) is not None]
        keywords = [(k.arg, r) for k in call.keywords if (r := refuses(k.value)) is not None]
        if not placed and not keywords:
            continue
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        for taken in taking[name]:
            for place, refusal in placed:
                # Beyond the last stands what ``*args`` takes.
                names = taken if starred else taken[: place + 1][-1:]
                yield from (((name, each), refusal) for each in names)
            for keyword, refusal in keywords:
                names = taken if keyword is None else [keyword]
                yield from (((name, each), refusal) for each in names)


def objects(user: Unit, refuses: Refuses) -> dict[str, Refusal]:
    """The last names of what such functions and classes make in the file, and of those."""
    making = makers(user, refuses)
    found: dict[str, Refusal] = {}
    for name, made in bound_parts(user):
        if not isinstance(made, ast.Call):
            continue
        if (refusal := _of_maker(made, refuses, making)) is not None:
            found[name] = refusal
    for name in with_second_names(user, found) - found.keys() if found else ():
        found[name] = next(iter(found.values()))
    return making | found


def makers(user: Unit, refuses: Refuses) -> dict[str, Refusal]:
    """Second names of such functions and classes: ``nets`` of ``nets = {"small": Small}``."""
    named = [(name, r) for name, part in bound_parts(user) if (r := refuses(part))]
    return dict.fromkeys(with_second_names(user, dict(named)), named[0][1]) if named else {}

"""Functions that put something into a list or a dict that they are handed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.names_in_texts import replaced
from tapemigrate.rules.callgraph.setters import may_be_of_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.variable_lists import is_one_variable
from tapemigrate.source.trees import arguments_of, calls_in, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.sources.filled_lists import Filling, added

# Through how many functions that only hand it on.
_MOST_STEPS = 3


def fills(
    project: Project, view: View, call: ast.Call, path: Path, steps: int = _MOST_STEPS
) -> Filling:
    """What a function that the call may mean puts into what is at ``path``.

    It is handed that, or something that is written out there and holds it, or reads it outside.
    """
    func = call.func
    imported = view.kinds.name(func)
    if imported is not None:
        if is_of_library(imported):
            return Filling.NOTHING
        name, bound = imported.rpartition(".")[2], 0
    elif isinstance(func, ast.Name):
        name, bound = func.id, 0
    elif isinstance(func, ast.Attribute):
        name, bound = func.attr, 1
    else:
        return Filling.UNSEEN
    if isinstance(func, ast.Name) and len(path) == 1:
        if path[0] in project.effects(view.unit).outside_names(func.id):
            return Filling.ANYTHING
    found: set[Filling] = set()
    own = view.cls if _is_of_self(view, func) else None
    if own is not None and replaced(project, view.unit, name, method=True):
        own = None
    for unit in project.units.defining(name):
        effects = project.effects(unit)
        known = [
            each
            for each in effects.functions(name)
            if own is None or may_be_of_object(project, unit, each, own)
        ]
        surely = effects.filled(call, name, bound).surely
        if known or effects.class_named(name) is not None:
            found.add(Filling.NOTHING)
        if effects.class_named(name) is not None:
            surely = [*surely, *effects.filled(call, "__init__", 1).surely]
        if any(path_of(n) == path for each in surely for n in walk(each)):
            found.update(_adds(project, unit, each, call, path, bound) for each in known)
            found.add(Filling.NOTHING if effects.functions(name) else Filling.ANYTHING)
        for function in known if steps else ():
            home = project.view(unit, function)
            for inner, parameter in _handed_on(function, call, path, bound):
                filling = fills(project, home, inner, (parameter,), steps - 1)
                quiet = filling is Filling.UNSEEN and not _is_own(home, inner.func)
                found.add(Filling.NOTHING if quiet else filling)
    return max(found, default=Filling.UNSEEN)


def _is_of_self(view: View, func: ast.expr) -> bool:
    own = path_of(func.value) if isinstance(func, ast.Attribute) else None
    return own is not None and own == (view.kinds.self_name,)


def _handed_on(
    function: NamedFunction, call: ast.Call, path: Path, bound: int
) -> Iterator[tuple[ast.Call, str]]:
    """The calls in the function that are handed what is at ``path``, by its parameter's name."""
    for value, name in _given(function, call, bound):
        if path_of(value) == path and name:
            for inner in calls_in(function):
                if any(path_of(each) == (name,) for each in arguments_of(inner)):
                    yield inner, name


def _is_own(view: View, func: ast.expr) -> bool:
    """Whether it may be a function of the program: no method, and none of Python's own."""
    named = isinstance(func, ast.Name) and not hasattr(builtins, func.id)
    return named or view.kinds.name(func) is not None


def _given(function: NamedFunction, call: ast.Call, bound: int) -> list[tuple[ast.expr, str]]:
    """What a call gives the function, and the names of its parameters; empty where not told."""
    own = [a.arg for a in parameters(function.args)][bound:]
    given = [(a, own[i] if i < len(own) else "") for i, a in enumerate(call.args)]
    return given + [(k.value, k.arg or "") for k in call.keywords]


def _adds(
    project: Project,
    unit: Unit,
    function: NamedFunction,
    call: ast.Call,
    path: Path,
    bound: int,
) -> Filling:
    """What the function adds to what is at ``path``, if it does nothing else with it."""
    given = _given(function, call, bound)
    holding = [(v, name) for v, name in given if any(path_of(n) == path for n in walk(v))]
    if [path_of(v) for v, _ in holding] != [path] or not holding[0][1]:
        return Filling.ANYTHING
    view = project.view(unit, function)
    found = Filling.NOTHING
    for node in walk(function):
        if not isinstance(node, ast.Name) or node.id != holding[0][1]:
            continue
        method = unit.parents.get(node)
        put = unit.parents.get(method) if method is not None else None
        elements = added(put) if isinstance(put, ast.Call) and put.func is method else None
        if elements is None:
            return Filling.ANYTHING
        found = max([found, *(_kind(project, view, each) for each in elements)])
    return found


def _kind(project: Project, view: View, value: ast.expr) -> Filling:
    if isinstance(value, ast.Attribute) and not is_one_variable(project, view, value):
        return Filling.ANYTHING
    if isinstance(value, ast.Call):
        values: list[ast.expr | None] = [value]
    else:
        made = origins(view.flow.reads.get(value, frozenset()))
        values = [d.value if d.kind is Kind.ASSIGN else None for d in made]
    if not values or any(v is None or view.kinds.make(v) is not Make.VARIABLE for v in values):
        return Filling.ANYTHING
    new = all(v is not None and view.kinds.is_new(v) for v in values)
    return Filling.NEW_VARIABLES if new else Filling.VARIABLES

"""Whether what a call gives is one tensor, by the functions and classes in sight that it runs."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.instances import instances_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.list_signs import ListSigns
from tapemigrate.rules.values.imported_functions import function_as_written
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.returned import given, place_of

# Through how many names a value is followed.
_DEPTH = 3


def gives_one_tensor(project: Project, view: View, value: ast.expr) -> bool:
    """Whether ``Generator(z).x`` is one, or what a function gives that the code shows."""
    match value:
        case ast.Attribute(value=ast.Call() as maker, attr=name):
            found = instances_of(project, view, maker)
            if not found.classes or found.stray or found.unseen or found.other:
                return False
            return all(_keeps_one(project, *each, name) for each in found.classes)
        case ast.Call():
            return _gives_one(project, view, value, _DEPTH)
    return False


def _gives_one(project: Project, view: View, call: ast.Call, depth: int) -> bool:
    """Whether all functions that a call may mean give one tensor."""
    inners = _meant(project, view, call)
    ends = [(inner, end.value) for inner in inners for end in inner.flow.returns]
    return (
        bool(ends)
        and not any(inner.flow.yields for inner in inners)
        and all(end is not None and _is_tensor(project, at, end, depth) for at, end in ends)
    )


def _meant(project: Project, view: View, call: ast.Call) -> list[View]:
    """The functions that a call means, of this file or another one; no methods."""
    if isinstance(call.func, ast.Name):
        own = view.kinds.runs_only(call)
        found = [own] if own is not None else _functions_given(project, view, call.func)
        if found:
            plain = all(runs_as_written(each) for each in found)
            return [project.view(view.unit, each) for each in found if plain]
    elsewhere = function_as_written(project, view, call.func)
    return [] if elsewhere is None else [elsewhere]


def _keeps_one(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
    """Whether an object of the class has one tensor by that name, whichever method set it."""
    values = assigned_in(unit, cls).get(name, [])
    views = (project.view(unit, project.scope_of(unit, value)) for value in values)
    return bool(values) and all(
        _is_tensor(project, view, value, _DEPTH) for view, value in zip(views, values, strict=True)
    )


def _functions_given(project: Project, view: View, name: ast.Name) -> list[NamedFunction]:
    """The functions of the file that another one gave the name: ``net, loss = choose()``."""
    effects = project.effects(view.unit)
    found: list[NamedFunction] = []
    for made in origins(view.flow.reads.get(name, frozenset())):
        place = place_of(made)
        maker = view.kinds.runs_only(made.value) if isinstance(made.value, ast.Call) else None
        values = given(maker, place) if maker is not None and place is not None else []
        if made.kind is not Kind.ELEMENT or not values:
            return []
        for each in values:
            named = effects.functions(each.id) if isinstance(each, ast.Name) else []
            if len(named) != 1 or named[0].decorator_list:
                return []
            found += named
    return found


def _is_tensor(project: Project, view: View, value: ast.expr, depth: int) -> bool:
    """Whether the value is what an op gives, and no list."""
    if isinstance(value, ast.Name) and depth:
        made = origins(view.flow.reads.get(value, frozenset()))
        values = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
        return len(values) == len(made) > 0 and all(
            _is_tensor(project, view, each, depth - 1) for each in values
        )
    made_of = view.kinds.make(value)
    if isinstance(value, ast.Call) and depth and made_of is Make.UNKNOWN:
        return _gives_one(project, view, value, depth - 1)
    return made_of is Make.TENSOR and not ListSigns(project).gives(view, value)

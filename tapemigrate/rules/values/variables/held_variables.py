"""Objects that hold variables or give them: ``net.params``, ``net.get_vars()``, a property."""

from __future__ import annotations

import ast

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.instances import instances_at
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.containers import is_filled_in_sight
from tapemigrate.rules.values.objects.attributes import inherited_values, set_below
from tapemigrate.rules.values.objects.unnamed import sets_without_name
from tapemigrate.rules.values.variables.ends_taken import ends_taken

#: An expression, and the scope in which it stands.
Placed = tuple[View, ast.expr | None]


def given_by_object(
    project: Project, view: View, node: ast.expr, listed: bool = True
) -> list[Placed]:
    """All that ``node``, an attribute of an object or a call of its method, may give.

    Empty where not all of it is known: the object has to be made of classes at hand. ``listed``: it
    may be a list that is kept, and then all that is put into it has to be seen as well.
    """
    call = node if isinstance(node, ast.Call) else None
    read = node if call is None else call.func
    if not isinstance(read, ast.Attribute) or path_of(read) is None:
        return []
    if path_of(read.value) == (view.kinds.self_name,):
        return []
    found = instances_at(project, view, read)
    if found.stray or found.other or found.unseen:
        return []
    given: list[Placed] = []
    for unit, cls in found.classes:
        each = _given(project, unit, cls, read.attr, call, listed)
        if not each:
            return []
        given += each
    return given


def kept_by_self(project: Project, view: View, node: ast.expr) -> list[Placed]:
    """All that ``node``, an attribute of ``self``, may be; empty where not all of it is known."""
    path = path_of(node)
    if view.cls is None or path is None or len(path) != 2 or path[0] != view.kinds.self_name:
        return []
    name = path[1].lstrip(".")
    if project.foreign_stores(view.unit, view.cls, name) or inherited_values(project, view, name):
        return []
    if set_below(project, view, name) or set_by_text(project, view.unit, name):
        return []
    if sets_without_name(project, view) or classes(project).has_unseen_bases(view.unit, view.cls):
        return []
    if _is_filled(project, name) or not is_filled_in_sight(project, name):
        return []
    values = attribute_values(project, view, name)
    return [(project.view(view.unit, project.scope_of(view.unit, v)), v) for v in values]


def _given(
    project: Project,
    unit: Unit,
    cls: ast.ClassDef,
    name: str,
    call: ast.Call | None,
    listed: bool,
) -> list[Placed]:
    """The same for objects of one class, and of none that extends it."""
    effects = project.effects(unit)
    above = classes(project).above(cls.name) - {each.name for each in effects.lineage(cls)}
    if above or classes(project).has_unseen_bases(unit, cls):
        return []
    if cls.decorator_list or project.foreign_stores(unit, cls, name):
        return []
    if set_by_text(project, unit, name):
        return []
    inner = _view(project, unit, cls)
    values = attribute_values(project, inner, name) if inner is not None else []
    method = effects.method(cls, name)
    if method is None:
        # A list that is kept is not what it was made as once it has another name or owner.
        if call is not None or _is_filled(project, name):
            return []
        if listed and not is_filled_in_sight(project, name):
            return []
        homes = [project.view(unit, project.scope_of(unit, value)) for value in values]
        return list(zip(homes, values, strict=True))
    if values or _is_property(method) is not (call is None):
        return []
    if len(method.decorator_list) > (call is None):
        return []
    body = project.view(unit, method)
    ends = body.flow.returns if call is None else ends_taken(body, call)
    return [] if body.flow.yields else [(body, end.value) for end in ends]


def _is_filled(project: Project, name: str) -> bool:
    """Whether something is put into an attribute of that name, of whichever object."""
    return any(name in unit.once(_filled) for unit in project.units.having(name))


def _filled(unit: Unit) -> frozenset[str]:
    """The names of attributes into which the file puts something."""
    found: set[str] = set()
    for node in unit.nodes(ast.Attribute):
        match unit.parents[node]:
            case ast.Attribute(attr=method) if method in CHANGERS:
                found.add(node.attr)
            case ast.AugAssign(target=target) if target is node:
                found.add(node.attr)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                found.add(node.attr)
    return frozenset(found)


def _view(project: Project, unit: Unit, cls: ast.ClassDef) -> View | None:
    """The scope of one of its methods, by which its attributes are known."""
    methods = (s for s in cls.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef))
    first = next(methods, None)
    return None if first is None else project.view(unit, first)


def _is_property(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return [path_of(d) for d in method.decorator_list] == [("property",)]

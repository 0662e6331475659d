"""Parts of its object that a method differentiates: whether its callers find there what it will."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.rules.callgraph.callers import place_of, set_by_text
from tapemigrate.rules.callgraph.setters import related, runs_of_setters
from tapemigrate.rules.handing.as_tensors import may_be_object
from tapemigrate.rules.handing.kept import Kept
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.attributes import inherited_values, sets_without_name
from tapemigrate.rules.values.shape_evidence import attribute_values
from tapemigrate.source.trees import copied
from tapemigrate.tape.request import Request

# Methods by which a class decides what its attributes are.
_HOOKS = frozenset({"__getattr__", "__getattribute__", "__setattr__"})


def unfit(
    project: Project, view: View, request: Request, targets: Iterable[str], sources: Iterable[str]
) -> str:
    """Why an attribute may be something else where it is asked for than where it was set."""
    cls = view.cls
    targets, names = tuple(targets), (*targets, *sources)
    if not names:
        return ""
    if cls is None:
        return "there is no object that callers know as well"
    for name in names:
        for _, each in related(project, cls):
            for stmt in each.body:
                if _defines(stmt, name) or getattr(stmt, "name", "") in _HOOKS:
                    return f"`self.{name}` may be computed where it is asked for"
        others = project.foreign_stores(view.unit, cls, name)
        if any(not isinstance(value, ast.Constant) for value in others):
            return f"other code sets `{name}` on the object"
        if problem := set_by_text(project, view.unit, name):
            return problem
        given = attribute_values(project, view, name) or inherited_values(project, view, name)
        if not given:
            return f"nothing in sight sets `self.{name}`"
    if sets_without_name(project, view):
        return "its attributes are set by texts"
    me = view.kinds.self_name or "self"
    paths = [(me, f".{name}") for name in targets]
    path = may_be_object(project, view, request, paths, Kept(view, request, ""))
    if path is not None:
        return f"`self{path[1]}` may be more than a tensor, and compute what is asked of it"
    return ""


def _defines(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement of a class gives it, and not its objects, something of the name."""
    if isinstance(stmt, ast.Assign):
        named = any(isinstance(t, ast.Name) and t.id == name for t in stmt.targets)
        return named and not isinstance(stmt.value, ast.Constant)
    return getattr(stmt, "name", "") == name


def set_out_of_sight(
    project: Project, view: View, names: Iterable[str], sites: Iterable[CallSite]
) -> str:
    """What may set one of the attributes where the callers at ``sites`` do not see it."""
    assert view.cls is not None
    drivers = {project.scope_of(site.unit, site.call) for site in sites}
    runs = runs_of_setters(project, view.unit, view.cls, names, drivers)
    if isinstance(runs, str):
        return runs
    for unit, node in runs:
        if isinstance(node, ast.Call):
            effect = project.view(unit, project.scope_of(unit, node)).kinds.effect(node)
            if not effect.changes:
                where = place_of(view.unit, unit, node)
                return f"what is called in {where} may set a part of the object in a subclass"
    return ""


def read_of_object(project: Project, site: CallSite, name: str) -> ast.Attribute | str:
    """The attribute ``name`` of the object whose method is called at ``site``, as it is then.

    Or why that cannot be told, to which the place is added.
    """
    func = site.call.func
    path = path_of(func.value) if isinstance(func, ast.Attribute) else None
    if path is None or not isinstance(func, ast.Attribute) or path[-1].lstrip(".")[:1].isupper():
        return f"of what object `{name}` is cannot be told"
    flow = project.view(site.unit, project.scope_of(site.unit, site.call)).flow
    for made in flow.defs.values():
        given = path_of(made.value) if made.value is not None else None
        if made.kind is Kind.ASSIGN and given is not None and path in (given, made.path):
            return f"`{text_of(path)}` has another name"
    # What the call itself reads is its whole object.
    read = ast.copy_location(ast.Attribute(copied(func.value), name, ast.Load()), site.call)
    if not flow.read_at(read, (*path, f".{name}"), func.value):
        return f"of what object `{name}` is cannot be told"
    return read

"""Parts of its object that a method differentiates: whether its callers find there what it will."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path, names_class, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.callgraph.setters import of_one_object, runs_of_setters
from tapemigrate.rules.handing.as_tensors import may_be_object
from tapemigrate.rules.handing.kept import Kept
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.objects.attributes import inherited_values
from tapemigrate.rules.values.objects.unnamed import WITHOUT_NAME, sets_without_name
from tapemigrate.source.trees import copied, walk
from tapemigrate.tape.request import Request

# Methods by which a class decides what its attributes are.
_HOOKS = frozenset({"__getattr__", "__getattribute__", "__setattr__"})


def unfit(
    project: Project, view: View, request: Request, targets: Iterable[str], sources: Iterable[str]
) -> str:
    """Why an attribute may be something else where it is asked for than where it was set."""
    cls = view.cls
    targets = sorted(targets)
    names = (*targets, *sorted(sources))
    if not names:
        return ""
    if cls is None:
        return "there is no object that callers know as well"
    for name in names:
        for _, each in of_one_object(project, cls):
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
        return WITHOUT_NAME
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
    owners = {_owner(site.call) for site in sites}
    runs = runs_of_setters(project, view.unit, view.cls, names, {*drivers, view.scope})
    if isinstance(runs, str):
        return runs
    for unit, node in runs:
        scope = project.scope_of(unit, node)
        where = place_of(view.unit, unit, node)
        if isinstance(node, ast.FunctionDef):
            if any(map(_sets_up, drivers)):
                return f"a constructor sets a part of the object in {where}"
        elif isinstance(node, ast.Call):
            there = project.view(unit, scope)
            changes = there.kinds.effect(node).changes
            if not changes:
                return f"what is called in {where} may set a part of the object in a subclass"
            if path_of(changes[0]) is None:
                return f"the object whose method is called in {where} has no name"
            if _owner(node) not in owners | {("self",)} and not _is_another(there, node):
                return f"what is called in {where} may be a method of the same object"
    return ""


def _owner(call: ast.Call) -> Path | None:
    return path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None


def _sets_up(scope: ast.AST) -> bool:
    """Whether the constructor of a base class is called in it, which may set anything."""
    calls = (n.func for n in walk(scope) if isinstance(n, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr == "__init__" for func in calls)


def _is_another(view: View, call: ast.Call) -> bool:
    """Whether the method is called on an object that was made here, and has one name."""
    assert isinstance(call.func, ast.Attribute)
    made = origins(view.flow.reads.get(call.func.value, frozenset()))
    path = _owner(call)
    return bool(made) and all(
        d.path == path
        and d.kind is Kind.ASSIGN
        and isinstance(d.value, ast.Call)
        and names_class((path_of(d.value.func) or ("",))[-1])
        for d in made
        if d.path == path or len(d.path) <= len(path or ())
    )


def read_of_object(project: Project, site: CallSite, name: str) -> ast.Attribute | str:
    """The attribute ``name`` of the object whose method is called at ``site``, as it is then.

    Or why that cannot be told, to which the place is added.
    """
    func = site.call.func
    path = path_of(func.value) if isinstance(func, ast.Attribute) else None
    if path is None or not isinstance(func, ast.Attribute) or names_class(path[-1]):
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

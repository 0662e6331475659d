"""Whether what a method is handed may be computed from a part of the method's own object.

The caller has other names for the object, and what it calls may have more of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tapemigrate.flow.functions import NamedFunction, is_static
from tapemigrate.flow.paths import looked_up, path_of
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.callers.passed import PLAIN
from tapemigrate.rules.proof.kept.shared_origin import share
from tapemigrate.rules.proof.state.found_aside import functions_run
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.trees import arguments_of, walk


def may_be_made_of_part(
    project: Project,
    tracer: Tracer,
    ancestry: Ancestry,
    view: View,
    site: CallSite,
    other: ast.expr,
    part: str,
) -> bool:
    """Whether ``other``, that ``site`` hands to the method of ``view``, may be made of ``part``.

    A name of the part itself is none that is made of it.
    """
    assert view.cls is not None
    caller = project.view(site.unit, project.scope_of(site.unit, site.call))
    values = ancestry.values_behind(caller, other)
    if values is None:
        return True
    kin = {view.cls.name, *classes(project).extending(view.cls.name)}
    kin |= classes(project).above(view.cls.name)
    computed = any(_is_computed(at, n) for at, value in values for n in walk(value))
    if computed and any(_reads(value, part) for _, value in values):
        return True
    owner = path_of(site.call.func.value) if isinstance(site.call.func, ast.Attribute) else None
    for at, value in values:
        run = functions_run(project, at, _unfollowed(at, value))
        if run is None or any(_reads_own(unit, f, part, kin) for unit, f in run):
            return True
        beside = {n for root in (value, *(f for _, f in run)) for n in _parts_read(root)} - {part}
        if any(_is_kept_beside(project, tracer, view, each, part) for each in sorted(beside)):
            return True
        for call in (n for n in walk(value) if isinstance(n, ast.Call)):
            if at.kinds.called(call) is None and not _is_seen(project, at, call, run):
                handed = [path for a in _handed(call) if (path := path_of(a)) is not None]
                if owner in handed or any(_is_object_of(at.unit, a, kin) for a in _handed(call)):
                    return True
    return False


def _unfollowed(view: View, value: ast.expr) -> list[ast.AST]:
    """What may name functions in a value, but for those whose results were followed."""
    calls = (n for n in walk(value) if isinstance(n, ast.Call))
    followed = {n for c in calls if view.kinds.called(c) is not None for n in walk(c.func)}
    names = (n for n in walk(value) if isinstance(n, ast.Name | ast.Attribute))
    return [n for n in names if n not in followed]


def _is_computed(view: View, node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return not view.kinds.makes_object(node) and view.kinds.make(node) not in PLAIN
    return isinstance(node, ast.BinOp | ast.UnaryOp)


def _reads(root: ast.AST, part: str) -> bool:
    nodes = (looked_up(node) or node for node in walk(root))
    return any(isinstance(n, ast.Attribute) and n.attr == part for n in nodes)


def _parts_read(root: ast.AST) -> set[str]:
    nodes = (looked_up(node) or node for node in walk(root))
    return {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}


def _is_kept_beside(project: Project, tracer: Tracer, view: View, name: str, part: str) -> bool:
    """Whether an object of the class keeps by ``name`` what was made of the ``part`` beside it."""
    for value in attribute_values(project, view, name):
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        traced = tracer.value(inner, value)
        if part in traced.attributes or share(project, tracer, view, part, traced):
            return True
    return False


def _reads_own(unit: Unit, function: NamedFunction, part: str, kin: set[str]) -> bool:
    """Whether a function reads such a part, other than of an object of another class."""
    holder = unit.parents.get(function)
    args = function.args
    me = next((a.arg for a in (*args.posonlyargs, *args.args)), None)
    stranger = (
        isinstance(holder, ast.ClassDef) and not is_static(function) and holder.name not in kin
    )
    nodes = (looked_up(node) or node for node in walk(function))
    return any(
        isinstance(n, ast.Attribute)
        and n.attr == part
        and isinstance(n.ctx, ast.Load)
        and not (stranger and path_of(n) == (me, f".{part}"))
        for n in nodes
    )


def _is_seen(
    project: Project, view: View, call: ast.Call, run: Sequence[tuple[Unit, NamedFunction]]
) -> bool:
    """Whether it is known what the call runs."""
    path = view.unit.names.qualified(call.func)
    if path is not None and is_of_library(path):
        return True
    name = (path_of(call.func) or ("",))[-1].lstrip(".")
    classes_meant = classes(project).named(name)
    # By a name alone no method is called.
    plain = isinstance(call.func, ast.Name)
    meant = (
        function
        for unit, function in run
        if not (plain and isinstance(unit.parents.get(function), ast.ClassDef))
    )
    return bool(classes_meant) or any(function.name == name for function in meant)


def _handed(call: ast.Call) -> Iterable[ast.expr]:
    own = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*own, *arguments_of(call)]


def _is_object_of(unit: Unit, value: ast.expr, kin: set[str]) -> bool:
    """Whether the value is an object of one of these classes, by what the file calls so."""
    made = constructors(unit, value) or []
    return any((path_of(maker) or ("",))[-1].lstrip(".") in kin for maker in made)

"""What runs in place of a method of ``self`` on some objects, beside what its own class shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.defuse import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callers import constructors, place_of, set_by_text
from tapemigrate.rules.classes import PLAIN_BASES, bases, classes, is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.provenance import Tracer
from tapemigrate.rules.shape_evidence import argument_for, attribute_values
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make


def replacements(project: Project, tracer: Tracer, view: View, name: str) -> Iterator[str]:
    """Those that may read a tensor that is not passed to them: what they are, in words."""
    cls = view.cls
    if cls is None:
        return
    for unit, other in _beside(project, cls):
        for member in other.body:
            if isinstance(member, ast.FunctionDef) and member.name == name:
                if _reads_tensors(project, tracer, project.view(unit, member), member):
                    yield f"`{name}` of `{other.name}`"
            elif _is_callable(member, name):
                yield f"`{name}` of `{other.name}`"
    family = {cls.name, *classes(project).extending(cls.name)}
    for base in _unseen(project, cls):
        yield f"`{name}` of `{base}`, which is not seen here, if it has one,"
    for unit, node in project.stores(name):
        if _is_another(project, unit, node.value, family):
            continue
        value = getattr(unit.parents[node], "value", None)
        scope = project.scope_of(unit, node)
        if value is None or project.view(unit, scope).kinds.make(value) is not Make.PYTHON:
            yield f"`{ast.unparse(node)}`, set in {place_of(view.unit, unit, node)},"
    if set_by_text(project, view.unit, name):
        yield f"what is set as `{name}`"


def _beside(project: Project, cls: ast.ClassDef) -> list[tuple[Unit, ast.ClassDef]]:
    """The subclasses, and what else these extend, which may come before ``cls``."""
    known = classes(project)
    below = known.extending(cls.name)
    mixed = {name for each in below for name in known.above(each)}
    others = (below | mixed) - known.above(cls.name) - {cls.name}
    return [each for name in sorted(others) for each in known.named(name)]


def _unseen(project: Project, cls: ast.ClassDef) -> list[str]:
    """What subclasses extend before ``cls``, and no file at hand has."""
    known = classes(project)
    found = set[str]()
    for unit, below in (c for n in known.extending(cls.name) for c in known.named(n)):
        for base, name in zip(below.bases, bases(below), strict=True):
            if known.named(name):
                break
            if name not in PLAIN_BASES and not is_of_library(unit.names.qualified(base)):
                found.add(name)
    return sorted(found)


def _reads_tensors(project: Project, tracer: Tracer, view: View, method: ast.FunctionDef) -> bool:
    """Whether the method reads attributes of ``self`` that hold what an op gave."""
    read = {
        node.attr
        for node in walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and path_of(node.value) == (view.kinds.self_name,)
    }
    read -= {
        d.path[1].lstrip(".")
        for d in view.flow.defs.values()
        if len(d.path) == 2 and d.kind is Kind.ASSIGN
    }
    for attribute in sorted(read):
        values = attribute_values(project, view, attribute)
        if any(view.kinds.make(v) is Make.TENSOR for v in values):
            return True
        if tracer.attribute(view, attribute).foreign:
            return True
        if any(_is_handed_a_tensor(project, view.unit, value) for value in values):
            return True
    return False


def _is_handed_a_tensor(project: Project, unit: Unit, value: ast.expr) -> bool:
    """Whether the value is a parameter of a constructor that is handed what an op gave."""
    scope = project.scope_of(unit, value)
    cls = project.class_of(unit, scope)
    if not isinstance(value, ast.Name) or cls is None or not isinstance(scope, ast.FunctionDef):
        return False
    for site in project.mentions(cls.name).calls:
        given = argument_for(site.call, scope, value.id, True)
        if given is None:
            continue
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        made = origins(caller.flow.uses_in(given)) if path_of(given) is not None else frozenset()
        values = [d.value for d in made if d.value is not None] or [given]
        if any(caller.kinds.make(v) is Make.TENSOR for v in values):
            return True
    return False


def _is_another(project: Project, unit: Unit, owner: ast.expr, family: set[str]) -> bool:
    """Whether the object is certainly none of these classes."""
    if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
        cls = project.class_of(unit, project.scope_of(unit, owner))
        return cls is None or cls.name not in family
    if unit.names.qualified(owner) is not None and (path_of(owner) or ("",))[-1] not in family:
        return True
    made = constructors(unit, owner)
    names = {(path_of(maker) or ("",))[-1].lstrip(".") for maker in made or ()}
    return bool(names) and not names & family


def _is_callable(member: ast.stmt, name: str) -> bool:
    """Whether a statement of a class gives it something of that name that can be called."""
    if isinstance(member, ast.AsyncFunctionDef):
        return member.name == name
    if not isinstance(member, ast.Assign) or isinstance(member.value, ast.Constant):
        return False
    return any(isinstance(t, ast.Name) and t.id == name for t in member.targets)

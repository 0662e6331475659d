"""Numbers and texts that a class has for all of its objects: ``self.GAMMA``, never set anew."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.assigned import waits
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.unnamed import sets_without_name

_HOOKS = frozenset({"__getattribute__", "__getattr__", "__new__", "__init_subclass__"})


def is_constant_of_object(project: Project, view: View, name: str) -> bool:
    """Whether ``self.name`` is such a number or text, whichever class of the files made the object.

    It stands in the bodies of classes alone, and no class or object is ever given another one.
    """
    cls = view.cls
    known = project.once(_known)
    if cls is None:
        return False
    if (cls, name) not in known:
        known[cls, name] = _is_constant(project, view, cls, name)
    return known[cls, name]


def _known(_: Project) -> dict[tuple[ast.ClassDef, str], bool]:
    return {}


def _is_constant(project: Project, view: View, cls: ast.ClassDef, name: str) -> bool:
    all_classes = classes(project)
    above = {cls.name, *all_classes.above(cls.name)}
    if not any(name in _given(each) for n in above for _, each in all_classes.named(n)):
        return False
    if any(True for _ in project.stores(name)) or set_by_text(project, view.unit, name):
        return False
    if sets_without_name(project, view) or all_classes.has_unseen_bases(view.unit, cls):
        return False
    given: list[ast.expr] = []
    for _, each in of_one_object(project, cls):
        named = {s.name for s in each.body if isinstance(s, NamedFunction | ast.ClassDef)}
        if each.keywords or each.decorator_list or named & {name, *_HOOKS}:
            return False
        values = _given(each).get(name, ())
        if not all(map(_is_plain, values)):
            return False
        given += (value for value in values if value is not None)
    return not waits(given)


def _given(cls: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    """What stands in the body of a class for its names; None for what is no plain assignment."""
    found: dict[str, list[ast.expr | None]] = {}
    for stmt in cls.body:
        plain = isinstance(stmt, ast.Assign) and all(isinstance(t, ast.Name) for t in stmt.targets)
        for node in ast.walk(stmt) if not isinstance(stmt, NamedFunction | ast.ClassDef) else ():
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                value = stmt.value if plain and isinstance(stmt, ast.Assign) else None
                found.setdefault(node.id, []).append(value)
    return found


def _is_plain(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple(elts=elts):
            return all(map(_is_plain, elts))
    return False

"""Numbers and texts that objects keep out of settings they are made with: ``config["size"]``.

Where each maker hands in a dict that stands in sight, one entry is known, whatever the others are.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import parameters
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.decorated import may_change_arguments
from tapemigrate.rules.callgraph.enclosing import enclosing
from tapemigrate.rules.callgraph.inherited_constructors import heirs, made_by
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.attributes import inherited_values
from tapemigrate.rules.values.objects.unnamed import sets_without_name
from tapemigrate.source.bound import shows_names
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import arguments_of, walk

# Through how many functions settings are handed on, and names lead to others.
_DEPTH = 4
_READING = frozenset({"get", "items", "keys", "values", "copy"})
_TELLING = frozenset({"print", "len", "str", "repr", "sorted"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_number_given(project: Project, view: View, name: str) -> bool:
    """Whether all that ``self.name`` ever holds are numbers and texts out of such dicts."""
    known = project.once(_known)
    if view.cls is None:
        return False
    key = view.cls, name
    if key not in known:
        known[key] = False  # settings that are made of this very attribute
        known[key] = _is_number_given(project, view, view.cls, name)
    return known[key]


def _known(_: Project) -> dict[tuple[ast.ClassDef, str], bool]:
    return {}


def _is_number_given(project: Project, view: View, cls: ast.ClassDef, name: str) -> bool:
    values = attribute_values(project, view, name)
    if not values or not all(map(_entry_of, values)):
        return False
    if project.foreign_stores(view.unit, cls, name) or any(
        True for _ in inherited_values(project, view, name)
    ):
        return False
    if set_by_text(project, view.unit, name) or sets_without_name(project, view):
        return False
    return all(_is_known(project, view, value) for value in values)


def _entry_of(value: ast.expr) -> tuple[str, str] | None:
    """The name of the settings and the key: of ``config["size"]``, ``config.get("size")``."""
    match value:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)):
            return name, key
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="get"),
            args=[ast.Constant(value=str() as key), *other],
            keywords=[],
        ) if all(isinstance(each, ast.Constant) for each in other):
            return name, key
    return None


def _is_known(project: Project, view: View, value: ast.expr) -> bool:
    """Whether the entry is a number or text for all who make an object."""
    scope = project.scope_of(view.unit, value)
    cls = project.class_of(view.unit, scope)
    found = _entry_of(value)
    if found is None or cls is None or not isinstance(scope, ast.FunctionDef):
        return False
    if scope.name != "__init__" or may_change_arguments(view.unit, scope):
        return False
    name, key = found
    inner = project.view(view.unit, scope)
    if not _is_as_handed_in(inner, value, name):
        return False
    named = {cls.name, *(heir.name for _, heir in heirs(project, cls))}
    made = made_by(project, view.unit, cls)
    if not made.calls or made.others or project.unread(named):
        return False
    for site in made.calls:
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        given = argument_for(site.call, scope, name, True)
        if given is None or not any(given is each for each in arguments_of(site.call)):
            return False
        if not _has_number(project, caller, given, key, site.call, _DEPTH):
            return False
    return True


def _is_as_handed_in(inner: View, value: ast.expr, name: str) -> bool:
    """Whether a function reads of its parameter what its callers have put there."""
    uses = [u.made for u in inner.flow.uses_in(value) if u.made.path[0] == name]
    return bool(uses) and all(d.kind in (Kind.PARAM, Kind.ENTRY) for d in uses)


def _has_number(
    project: Project, view: View, given: ast.expr, key: str, call: ast.Call, depth: int
) -> bool:
    """Whether ``given``, an argument of ``call``, is a dict in which that entry is such a one."""
    match given:
        case ast.Dict(keys=keys, values=values):
            if not all(isinstance(k, ast.Constant) for k in keys):
                return False
            pairs = zip(keys, values, strict=True)
            found = [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key]
            return bool(found) and _is_plain(view, found[-1], depth)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            entries = [k.value for k in keywords if k.arg == key]
            whole = all(k.arg is not None for k in keywords)
            return whole and bool(entries) and _is_plain(view, entries[0], depth)
        case ast.Name() if depth:
            made = [u.made for u in view.flow.reads.get(given, ())]
            if len(made) != 1 or made[0].path != (given.id,):
                return False
            if not _is_left_alone(project, view, given, call):
                return False
            if made[0].kind is Kind.ASSIGN and made[0].value is not None:
                return _has_number(project, view, made[0].value, key, call, depth - 1)
            return made[0].kind is Kind.PARAM and _is_handed(project, view, given.id, key, depth)
    return False


def _is_handed(project: Project, view: View, name: str, key: str, depth: int) -> bool:
    """The same of the parameter of a function, for all of its callers."""
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef) or view.cls is not None or view.flow.yields:
        return False
    if name not in {a.arg for a in parameters(scope.args)} or scope.decorator_list:
        return False
    mentions = mentions_of(project, view.unit, scope).within(enclosing(view))
    if not mentions.calls or mentions.others or project.unread({scope.name}):
        return False
    for site in mentions.calls:
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        given = argument_for(site.call, scope, name, False)
        if given is None or not any(given is each for each in arguments_of(site.call)):
            return False
        if not _has_number(project, caller, given, key, site.call, depth - 1):
            return False
    return True


def _is_plain(view: View, value: ast.expr, depth: int) -> bool:
    """Whether it is a number or text that stands there, or is made of such."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=one):
            return _is_plain(view, one, depth)
        case ast.BinOp(left=one, right=other):
            return _is_plain(view, one, depth) and _is_plain(view, other, depth)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(_is_plain(view, each, depth) for each in parts)
        case ast.Name() if depth:
            made = [u.made for u in view.flow.reads.get(value, ())]
            return bool(made) and all(
                d.kind is Kind.ASSIGN
                and d.path == (value.id,)
                and d.value is not None
                and _is_plain(view, d.value, depth - 1)
                for d in made
            )
    return False


def _is_left_alone(project: Project, view: View, given: ast.Name, call: ast.Call) -> bool:
    """Whether nobody may have put something into what has the name when the call runs."""
    scope, unit = view.scope, view.unit
    if shows_names(unit.text):
        return False
    if isinstance(scope, ast.Module) and project.imports.importing([unit.filename]):
        return False
    again = any(isinstance(above, _LOOPS) for above in _above(view, call))
    for node in walk(scope):
        if not isinstance(node, ast.Name) or node.id != given.id or node is given:
            continue
        parent = unit.parents[node]
        inner = project.scope_of(unit, node) is not scope
        if not isinstance(node.ctx, ast.Load):
            if inner or isinstance(node.ctx, ast.Del) or isinstance(parent, ast.AugAssign):
                return False
        elif not _only_reads(unit.parents, node, parent):
            if inner or again or begin(node) < end(call):
                return False
    return True


def _above(view: View, node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    while node is not view.scope and node in view.unit.parents:
        node = view.unit.parents[node]
        found.append(node)
    return found


def _only_reads(parents: dict[ast.AST, ast.AST], node: ast.Name, parent: ast.AST) -> bool:
    """``config["size"]``, ``config.items()``, ``print(config)``"""
    if isinstance(parent, ast.Subscript):
        return parent.value is node and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
        above = parents[parent]
        return parent.attr in _READING and isinstance(above, ast.Call) and above.func is parent
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in _TELLING
    return False

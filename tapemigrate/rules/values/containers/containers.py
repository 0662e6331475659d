"""Lists and dicts that are kept as attributes: whether all that is put into them can be seen."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short

_ASKING = frozenset({"keys", "values", "items", "get"})
# Through how many names and methods a list is followed.
_DEPTH = 4
_READERS = frozenset({"len", "zip", "enumerate", "list", "tuple", "sorted", "reversed"})


def is_filled_in_sight(project: Project, name: str, depth: int = _DEPTH) -> bool:
    """Whether attributes of that name are nowhere given another name, nor handed on.

    A function that only reads what it is handed may have it, and so may one that a method gives it.
    """
    return all(
        node.attr != name
        or isinstance(node.ctx, ast.Store)
        or _is_used_at_once(unit, node)
        or _is_handed_to_a_reader(project, unit, node)
        or _is_given_to_readers(project, unit, node, depth)
        for unit in project.units.having(name)
        for node in unit.nodes(ast.Attribute)
    )


def _is_used_at_once(unit: Unit, node: ast.Attribute) -> bool:
    parent = unit.parents[node]
    own = isinstance(node.value, ast.Name) and node.value.id == "self"
    match parent:
        case ast.Subscript() if not isinstance(parent.ctx, ast.Load):
            # what is assigned so, ``attributes.contents`` tells
            return own and isinstance(unit.parents[parent], ast.Assign)
        case ast.Attribute(attr="append"):
            return own
    return _only_reads(parent, node, unit.names.qualified)


def _only_reads(
    parent: ast.AST, node: ast.expr, qualified: Callable[[ast.expr], str | None]
) -> bool:
    """Whether what stands round a list, or a dict, reads its elements and does no more."""
    match parent:
        case ast.Subscript(ctx=ast.Load()):
            return parent.value is node
        case ast.For() | ast.comprehension():
            return parent.iter is node
        case ast.Attribute():
            return parent.attr in _ASKING
        case ast.Call(func=ast.Name(id=function)) if function in _READERS:
            return True
        case ast.Call(func=ast.Attribute(value=session, attr="run")):
            return "sess" in (path_of(session) or ("",))[-1]
        case ast.Call():
            return short(qualified(parent.func)) is not None
    return False


def _is_given_to_readers(project: Project, unit: Unit, node: ast.Attribute, depth: int) -> bool:
    """``return self.params``, where whoever calls the method only reads what it gives."""
    method = project.scope_of(unit, node)
    if not isinstance(unit.parents[node], ast.Return) or not isinstance(method, ast.FunctionDef):
        return False
    calls = project.mentions(method.name)
    if method.decorator_list or calls.others or not calls.calls or not depth:
        return False
    return all(_is_only_read(project, site.unit, site.call, depth - 1) for site in calls.calls)


def _is_only_read(project: Project, unit: Unit, node: ast.expr, depth: int) -> bool:
    """Whether a list is read where ``node`` stands, and by the names that it is given there."""
    parent = unit.parents[node]
    if _only_reads(parent, node, unit.names.qualified):
        return True
    if not isinstance(parent, ast.Assign) or not depth:
        return _is_handed_to_a_reader(project, unit, node)
    scope = project.scope_of(unit, node)
    for target in parent.targets:
        if isinstance(target, ast.Attribute) and is_filled_in_sight(project, target.attr, depth):
            continue
        if not isinstance(target, ast.Name) or not isinstance(scope, ast.FunctionDef):
            return False
        if any(target.id in each.names for each in unit.nodes(ast.Global)):
            return False
        named = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == target.id]
        if any(isinstance(unit.parents[each], ast.AugAssign) for each in named):
            return False
        uses = (n for n in named if not isinstance(n.ctx, ast.Store))
        if not all(_is_only_read(project, unit, each, depth - 1) for each in uses):
            return False
    return True


def _is_handed_to_a_reader(project: Project, unit: Unit, node: ast.expr) -> bool:
    """``flatgrad(loss, net.params)``, where the function of the file, or another, only reads it."""
    call = unit.parents[node]
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    kinds = project.view(unit, project.scope_of(unit, node)).kinds
    function, path = kinds.runs_only(call), kinds.name(call.func)
    own = (path_of(call.func) or ("",))[0] == kinds.self_name  # it is handed its object first
    if function is None and path is not None and kinds.elsewhere is not None:
        kinds, function = kinds.elsewhere(path) or (kinds, None)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    if not (own or path is not None or isinstance(call.func, ast.Name)):
        return False
    named = (a.arg for a in parameters(function.args))
    given = next((p for p in named if argument_for(call, function, p, own) is node), None)
    parents = {child: each for each in walk(function) for child in ast.iter_child_nodes(each)}
    uses = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == given]
    return given is not None and all(_only_reads(parents[n], n, kinds.name) for n in uses)

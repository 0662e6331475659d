"""Sources that a function is not handed, but reads where they stand: in the module or the function
around it. Its caller may read them there as well, and have its tape watch them.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind, Use
from tapemigrate.flow.functions import Scope, parameters
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project
from tapemigrate.source.trees import walk

_NO_TENSORS = frozenset({Kind.IMPORT, Kind.FUNCTION, Kind.CLASS})


def read_by_caller(
    project: Project, unit: Unit, function: ast.FunctionDef, name: str, site: CallSite
) -> ast.Name | str:
    """What ``function`` of ``unit`` reads as ``name``, as its caller would at ``site``.

    Or why the caller would not, to which the place is added.
    """
    another = f"`{name}` may mean something else"
    caller = project.scope_of(site.unit, site.call)
    home = _home(unit, function, name)
    if site.unit is not unit or home is not _home(unit, caller, name) or _in_class(site):
        return another
    if name in unit.once(_rebound):
        return another
    flow = project.view(unit, caller).flow
    if caller is home:
        # The call reads what the function captures.
        uses = {u for u in flow.reads.get(site.call.func, ()) if u.made.path[0] == name}
    else:
        uses = {Use(d) for d in flow.defs.values() if d.path == (name,) and d.kind is Kind.ENTRY}
    if not uses:
        return f"`{name}` is not what the caller reads"
    if any(u.made.kind in _NO_TENSORS for u in uses):
        return another
    read = ast.copy_location(ast.Name(name, ast.Load()), site.call)
    flow.reads[read] = frozenset(uses)
    flow.reread()
    return read


def _home(unit: Unit, scope: Scope, name: str) -> ast.AST:
    """The scope whose ``name`` code in ``scope`` reads."""
    node: ast.AST = scope
    while not isinstance(node, ast.Module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if name in unit.once(_bound).setdefault(node, _names(node)):
                return node
        node = unit.parents[node]
    return node


def _names(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that the function, or one in it, gives a value."""
    found = {a.arg for a in parameters(scope.args)}
    for node in walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node is not scope:
                found.add(node.name)
            case ast.alias():
                found.add(node.asname or node.name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return frozenset(found)


def _rebound(unit: Unit) -> frozenset[str]:
    """The names of other scopes that functions of the file may give another value."""
    declared = [n.names for n in unit.nodes(ast.Global)]
    declared += [n.names for n in unit.nodes(ast.Nonlocal)]
    return frozenset(name for names in declared for name in names)


def _bound(unit: Unit) -> dict[ast.AST, frozenset[str]]:
    return {}


def _in_class(site: CallSite) -> bool:
    """Whether it stands in the body of a class, whose names only that body sees."""
    node: ast.AST = site.call
    while not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module):
        if isinstance(node, ast.ClassDef):
            return True
        node = site.unit.parents[node]
    return False

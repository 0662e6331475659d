"""Functions that are passed a tensor and a source, and differentiate the one by the other.

``ddy(x, y)`` asks for gradients of ``y``, whose forward pass ran before the call. A gradient of
what it gives, by the same ``x``, is one of that forward pass as well, which no tape round the call
has seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.slices import origins
from tapemigrate.rules import catalog
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.calls import APIS
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.rules.reading import read
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.syntax import base
from tapemigrate.tape.placing.region import Region

#: The parameters that a function differentiates, each with one that it does so by.
_Asked = dict[ast.AST, set[tuple[str, str]]]


def is_passed_on_from_outside(region: Region, view: View) -> bool:
    """Whether the target is made of what such a function gives for a parameter, by a source."""
    asked, calls = view.unit.once(_asked_and_called)
    below = {request.call for request in region.lower}
    sources = {d for leaf in region.sources.leaves for d in leaf.defs}
    for call in calls:
        function = view.kinds.called(call) if _runs(region, call) else None
        if call in below or function not in asked:
            continue
        assert isinstance(function, ast.FunctionDef)
        method = isinstance(view.unit.parents[function], ast.ClassDef)
        for target, source in asked[function]:
            by = argument_for(call, function, source, method)
            of = argument_for(call, function, target, method)
            if by is None or of is None:
                continue
            made = origins(view.flow.uses_in(base(of))) - sources
            outside = bool(made) and all(d.kind is Kind.PARAM for d in made)
            if outside and sources & {use.made for use in view.flow.uses_in(by)}:
                return True
    return False


def _runs(region: Region, call: ast.Call) -> bool:
    """Whether the call stands in what the target is made of, or in the target itself."""
    if any(begin(s) <= begin(call) < end(s) for s in region.needed):
        return True
    return any(node is call for node in walk(region.request.target))


def _asked_and_called(unit: Unit) -> tuple[_Asked, list[ast.Call]]:
    """What such functions differentiate, and the calls that bear the name of one."""
    found = _asked(unit)
    names = {f.name for f in found if isinstance(f, ast.FunctionDef)}
    calls = unit.nodes(ast.Call) if names else []
    return found, [c for c in calls if _name(c.func) in names]


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _asked(unit: Unit) -> _Asked:
    """What the functions of the file, called by their names, differentiate of their parameters."""
    found: _Asked = {}
    pending: list[tuple[ast.FunctionDef, tuple[str, str]]] = []
    for expr, path in unit.names.references():
        symbol = catalog.lookup(path, {})
        call = unit.parents.get(expr)
        if symbol is None or symbol.api not in APIS or not isinstance(call, ast.Call):
            continue
        request = read(unit, call, symbol.api, symbol.version).request
        if call.func is expr and request is not None:
            sources = request.sources
            listed = sources.elts if isinstance(sources, ast.List | ast.Tuple) else [sources]
            for source in listed:
                pending += _note(found, unit, call, request.target, source)
    by_name: dict[str, list[ast.Call]] = {}
    for call in unit.nodes(ast.Call) if found else ():
        if isinstance(call.func, ast.Name):
            by_name.setdefault(call.func.id, []).append(call)
    for function, names in pending:  # which grows meanwhile
        for call in by_name.get(function.name, ()):
            of, by = (argument_for(call, function, name, method=False) for name in names)
            if of is not None and by is not None:
                pending += _note(found, unit, call, of, by)
    return found


def _note(
    found: _Asked, unit: Unit, call: ast.Call, target: ast.expr, source: ast.expr
) -> Iterator[tuple[ast.FunctionDef, tuple[str, str]]]:
    """The function round ``call``, if it is found to differentiate one parameter by another."""
    node: ast.AST | None = call
    while node is not None and not isinstance(node, ast.FunctionDef | ast.Lambda):
        node = unit.parents.get(node)
    of = base(target)
    if isinstance(node, ast.FunctionDef) and isinstance(of, ast.Name):
        if isinstance(source, ast.Name) and _is_kept(node, {of.id, source.id}, unit):
            names = (of.id, source.id)
            if names not in found.setdefault(node, set()):
                found[node].add(names)
                yield node, names


def _is_kept(function: ast.FunctionDef, names: set[str], unit: Unit) -> bool:
    """Whether the names are parameters that hold what was passed wherever they are read."""
    args = function.args
    if not names <= {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}:
        return False
    return names.isdisjoint(unit.once(_stored).get(function, set()))


def _stored(unit: Unit) -> dict[ast.AST, set[str]]:
    """The names that each function gives values to, or one that stands in it does."""
    found: dict[ast.AST, set[str]] = {}
    for name in unit.nodes(ast.Name):
        if isinstance(name.ctx, ast.Store):
            node: ast.AST | None = name
            while node is not None:
                if isinstance(node, ast.FunctionDef):
                    found.setdefault(node, set()).add(name.id)
                node = unit.parents.get(node)
    return found

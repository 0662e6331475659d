"""What inner functions and lambdas read of objects around them, if the forward pass calls them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import parameters, shared_names
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.placing.region import Region

_PLAIN = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN)


def captured_functions(region: Region, view: View) -> list[ast.AST]:
    """The functions made in the scope of which the target is made, as far as the scope shows."""
    found: dict[ast.AST, None] = {}
    for made in backward(view.flow.uses_in(region.request.target)).made:
        if made.kind is Kind.FUNCTION:
            node = made.value if made.value is not None else made.stmt
            if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
                found[node] = None
    return list(found)


def captured(region: Region, view: View) -> list[Def]:
    """The attributes that such functions read of what came from outside, ``self`` for one."""
    functions = captured_functions(region, view)
    if not functions:
        return []
    outside = {d.path[0] for d in view.flow.defs.values() if d.kind is Kind.PARAM}
    given = {d.path for d in view.flow.defs.values() if d.kind is not Kind.ENTRY}
    outside |= {name for name in _handed_in_around(view) if (name,) not in given}
    cut = {d.path for leaf in region.sources.leaves for d in leaf.defs}
    known = {d.path for d in region.roots}
    found: dict[tuple[str, ...], Def] = {}
    for function in functions:
        assert isinstance(function, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef)
        own = {a.arg for a in parameters(function.args)}
        for node in walk(function):
            path = path_of(node) if isinstance(node, ast.Attribute) else None
            if path is None or path[0] in own or path[0] not in outside:
                continue
            path = path[:2]
            if path not in (cut | given | known):
                found[path] = Def(path, Kind.ENTRY, None)
    return list(found.values())


def _handed_in_around(view: View) -> Iterator[str]:
    """The parameters of the functions around the scope."""
    node = view.unit.parents.get(view.scope)
    while node is not None:
        if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (a.arg for a in parameters(node.args))
        node = view.unit.parents.get(node)


def is_set_inside(project: Project, holder: View, name: str) -> bool:
    """Whether a function inside of ``holder`` gives its name ``name`` what an op may have made."""
    for inner in walk(holder.scope):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if inner is holder.scope or name not in shared_names(inner):
            continue
        view = project.view(holder.unit, inner)
        for made in view.flow.defs.values():
            if made.path[0] == name and made.value is not None:
                if view.kinds.make(made.value) not in _PLAIN:
                    return True
    return False

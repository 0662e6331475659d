"""What of an object is read where a method hands the object on: ``return scaled(self, x)``."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import is_super, names_class, path_of
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import arguments_of, walk

# They read nothing that the object keeps, or only what the text beside it names.
_HARMLESS = frozenset(
    {"isinstance", "type", "id", "hash", "repr", "str", "super", "callable", "issubclass"}
    | {"getattr", "hasattr", "setattr", "print"}
)


def read_of_whole(
    project: Project,
    lineage: list[tuple[Unit, ast.ClassDef]],
    unit: Unit,
    method: NamedFunction,
    me: str | None,
) -> frozenset[str]:
    """The attributes that may be read of the object, ``me`` in its ``method``, by others.

    Of a function of the file it is known which names it reads; everything else may read all.
    """
    found: set[str] = set()
    for node in walk(method):
        if not isinstance(node, ast.Name) or node.id != me or not isinstance(node.ctx, ast.Load):
            continue
        parent = unit.parents.get(node)
        if isinstance(parent, ast.keyword):
            parent = unit.parents.get(parent)
        if isinstance(parent, ast.Call) and parent.func is not node:
            read = _read_by(project, unit, parent)
        elif isinstance(parent, ast.Assign | ast.List | ast.Tuple | ast.Dict | ast.arguments):
            read = None
        else:
            continue
        kept = {name for home, cls in lineage for name in assigned_in(home, cls)}
        found |= kept if read is None else kept & read
    return frozenset(found)


def _read_by(project: Project, unit: Unit, call: ast.Call) -> set[str] | None:
    """The attributes that are read where the call leads, of whatever object; None: unknown."""
    found: set[str] = set()
    pending, met = [call], set[ast.AST]()
    for each in pending:  # which grows meanwhile
        func = each.func
        if isinstance(func, ast.Name) and func.id in _HARMLESS:
            continue
        if is_of_library(unit.names.qualified(func)) or _leads_up(func):
            continue  # what a class above has is looked into by itself
        functions = project.effects(unit).functions((path_of(func) or ("",))[-1].lstrip("."))
        if not functions:
            return None
        for function in functions:
            if function not in met:
                met.add(function)
                nodes = walk(function)
                found |= {n.attr for n in nodes if isinstance(n, ast.Attribute)}
                own = {a.arg for a in parameters(function.args)}
                pending += [n for n in nodes if isinstance(n, ast.Call) and _is_handed(n, own)]
    return found


def _leads_up(func: ast.expr) -> bool:
    """``super().forward(x)``, ``Base.forward(self, x)``."""
    if not isinstance(func, ast.Attribute):
        return False
    path = path_of(func.value)
    return is_super(func.value) or (path is not None and len(path) == 1 and names_class(path[0]))


def _is_handed(call: ast.Call, names: set[str]) -> bool:
    return any(isinstance(a, ast.Name) and a.id in names for a in arguments_of(call))

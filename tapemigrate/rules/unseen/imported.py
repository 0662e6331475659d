"""Imported graphs: which calls have nothing to do with the one that their file imports."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path
from tapemigrate.flow.slices import backward
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.rules.unseen.hazards import Hazards
from tapemigrate.rules.values.shape_evidence import global_values
from tapemigrate.tape.request import Refusal, Request

_LIBRARIES = frozenset({"tensorflow", "numpy", "math", "sys", "os", "random", "time"})
# Variables that are looked up may be the imported ones.
_LOOKS_UP = frozenset(
    {"trainable_variables", "global_variables", "all_variables", "local_variables", "outputs"}
    | {"get_collection", "get_collection_ref", "get_variables", "model_variables"}
)


def refuse(danger: Hazards, view: View, request: Request) -> Refusal | None:
    """Why ``request`` cannot go on a tape, if its file imports a graph that it may be about.

    It is not if all that its target and its sources are made of, in this scope and in the module,
    is made in sight, and by nothing that imports a graph or looks something up in one.
    """
    if danger.imports is None:
        return None
    uses = view.flow.uses_in(request.target) | view.flow.uses_in(request.sources)
    nodes: list[ast.AST] = [request.target, request.sources]
    names: set[str] = set()
    for made in backward(uses).made:
        if made.kind in (Kind.PARAM, Kind.EXCEPT):
            return danger.imports
        if made.kind is Kind.ENTRY:
            if not _is_known(view.unit, made.path):
                return danger.imports
            names.add(made.path[0])
        if made.value is not None:
            nodes.append(made.value)
    nodes += _behind(view.unit, names, nodes)
    parts = [n for node in nodes for n in ast.walk(node)]
    if any(_last(n) in _LOOKS_UP or _is_foreign_value(n, view.unit) for n in parts):
        return danger.imports
    return danger.imports if danger.unseen(nodes) is not None else None


def _behind(unit: Unit, names: set[str], nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """What the module gives ``names``, and the functions that ``nodes`` name, and so on."""
    functions: dict[str, list[ast.AST]] = {}
    for node in unit.parents:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            functions.setdefault(node.name, []).append(node)
    found: list[ast.AST] = []
    pending = names | {name for name in _named(nodes) if name in functions}
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        seen.add(name)
        more = [*global_values(unit, name), *functions.get(name, ())]
        found += more
        pending |= _named(more) - seen
    return found


def _named(nodes: Iterable[ast.AST]) -> set[str]:
    """The names and the attributes in ``nodes``."""
    return {name for node in nodes for n in ast.walk(node) if (name := _last(n)) is not None}


def _is_known(unit: Unit, path: Path) -> bool:
    """Whether all that the module gives the name is in sight."""
    name = path[0]
    stores = [n for n in unit.nodes(ast.Name) if n.id == name and not isinstance(n.ctx, ast.Load)]
    if stores:
        return len(stores) == len(global_values(unit, name)) and len(path) == 1
    top = [getattr(stmt, "name", None) for stmt in unit.tree.body]
    return name in top or _imports(unit, name) or hasattr(builtins, name)


def _imports(unit: Unit, name: str) -> bool:
    aliases = [a for each in unit.nodes(ast.Import) for a in each.names]
    aliases += [a for each in unit.nodes(ast.ImportFrom) for a in each.names]
    return any(name == (alias.asname or alias.name.split(".")[0]) for alias in aliases)


def _is_foreign_value(node: ast.AST, unit: Unit) -> bool:
    """Whether another file of the user's makes it, and it is no function that is called here."""
    if not isinstance(node, ast.Name) or not _imports(unit, node.id):
        return False
    top: ast.expr = node
    while isinstance(parent := unit.parents.get(top), ast.Attribute):
        top = parent
    path = unit.names.qualified(top)
    called = isinstance(parent, ast.Call) and parent.func is top
    return path is None or not (called or path.split(".")[0] in _LIBRARIES)


def _last(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None

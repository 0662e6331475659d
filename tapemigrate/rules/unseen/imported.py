"""Imported graphs: which calls have nothing to do with the one that their file imports."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.rules.unseen.graph_around import graph_around
from tapemigrate.rules.unseen.hazards import Hazards
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import arguments_of, top_level, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.request import Refusal, Request

_LIBRARIES = frozenset({"tensorflow", "numpy", "math", "sys", "os", "random", "time"})
# Variables that are looked up may be the imported ones.
_LOOKS_UP = frozenset(
    {"trainable_variables", "global_variables", "all_variables", "local_variables", "outputs"}
    | {"get_collection", "get_collection_ref", "get_variables", "model_variables"}
)
# By these, code is run that no name in sight leads to.
_BY_TEXT = frozenset({"getattr", "eval", "exec", "__import__", "import_module", "globals"})
# Through how many names a tensor is followed.
_DEPTH = 12


def refuse(danger: Hazards, view: View, request: Request) -> Refusal | None:
    """Why ``request`` cannot go on a tape, if its file imports a graph that it may be about.

    It is not if all that its target and its sources are made of, in this scope and in the module,
    is made in sight, and by nothing that imports a graph or looks something up in one. Nor if its
    sources are made in a graph of their own, or by ops of this scope, where nothing is imported.
    """
    if danger.imports is None or _is_of_new_graph(danger, view, request):
        return None
    if _is_of_new_ops(danger, view, request):
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
    parts = [n for node in nodes for n in walk(node)]
    if any(_last(n) in _LOOKS_UP or _is_foreign_value(n, view.unit) for n in parts):
        return danger.imports
    return danger.imports if danger.unseen(nodes) is not None else None


def _is_of_new_graph(danger: Hazards, view: View, request: Request) -> bool:
    """Whether the sources are tensors of a graph that begins here, and holds no imported op.

    No op takes tensors of two graphs: what the sources lead to is of theirs.
    """
    graph = graph_around(view, request.stmt)
    if graph is None or not _are_made_in(view, (graph,), request.sources):
        return False
    place = next(p for p in view.blocks.chain(request.stmt) if p.block.owner is graph)
    return _imports_nothing(danger, view, [*graph.items, *place.block.body[: place.index + 1]])


def _is_of_new_ops(danger: Hazards, view: View, request: Request) -> bool:
    """Whether the sources are made by ops of this scope, of which an imported op knows nothing.

    A graph takes such a tensor in only where it is imported: by ``input_map``.
    https://www.tensorflow.org/api_docs/python/tf/graph_util/import_graph_def
    """
    body = view.blocks.top.body
    if not _are_made_in(view, body, request.sources):
        return False
    before = [stmt for stmt in body if begin(stmt) <= begin(request.stmt)]
    for node in (n for stmt in before for n in walk(stmt) if isinstance(n, ast.Call)):
        path = path_of(node.func)
        if path is None or path[0] == view.kinds.self_name:
            continue
        made = origins(view.flow.uses_in(node.func))
        if any(d.kind in (Kind.PARAM, Kind.EXCEPT) for d in made):
            return False  # what a caller hands in may import one
    return _imports_nothing(danger, view, before)


def _imports_nothing(danger: Hazards, view: View, nodes: Sequence[ast.AST]) -> bool:
    """Whether what the nodes run, with the functions of the file, imports no graph."""
    nodes = [*nodes, *_behind(view.unit, set(), nodes)]
    found = (_last(n) for node in nodes for n in walk(node))
    return not any(name in _BY_TEXT for name in found) and danger.unseen(nodes) is None


def _are_made_in(view: View, inside: Sequence[ast.stmt], sources: ast.expr) -> bool:
    parts = sources.elts if isinstance(sources, ast.List | ast.Tuple) else [sources]
    return all(_is_made_in(view, inside, part, _DEPTH) for part in parts)


def _is_made_in(view: View, inside: Sequence[ast.stmt], value: ast.expr, depth: int) -> bool:
    """Whether ``value`` is a tensor, or a list of tensors, that ops ``inside`` make."""
    if depth == 0:
        return False
    if path_of(value) is not None:
        made = [u.made for u in view.flow.reads.get(value, frozenset())]
        return bool(made) and all(_is_filled_in(view, inside, d, depth - 1) for d in made)
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(_is_made_in(view, inside, part, depth - 1) for part in parts)
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call() if view.kinds.make(value) is Make.LEAF:
            return True
        case ast.Call() if view.kinds.make(value) is Make.TENSOR:
            given = arguments_of(value)
            parts = [p for g in given for p in (g.elts if isinstance(g, ast.List) else [g])]
        case _:
            return False
    return any(_is_made_in(view, inside, part, depth - 1) for part in parts)


def _is_filled_in(view: View, inside: Sequence[ast.stmt], made: Def, depth: int) -> bool:
    """The same of one definition, or of what it puts into a list."""
    stmt, value = made.stmt, made.value
    first, last = inside[0], inside[-1]
    if stmt is None or not begin(first) <= begin(stmt) < end(last):
        return False
    if made.kind is Kind.ASSIGN and value is not None:
        return _is_made_in(view, inside, value, depth)
    if made.kind is not Kind.MUTATE or not isinstance(value, ast.Call):
        return False
    appends = isinstance(value.func, ast.Attribute) and value.func.attr == "append"
    return (
        appends
        and len(value.args) == 1
        and _is_made_in(view, inside, value.args[0], depth)
        and all(_is_filled_in(view, inside, use.made, depth) for use in made.before)
    )


def _behind(unit: Unit, names: set[str], nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """What the module gives ``names``, and the functions that ``nodes`` name, and so on."""
    functions: dict[str, list[ast.AST]] = {}
    for node in unit.definitions:
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
    return {name for node in nodes for n in walk(node) if (name := _last(n)) is not None}


def _is_known(unit: Unit, path: Path) -> bool:
    """Whether all that the module gives the name is in sight."""
    name = path[0]
    stores = [n for n in unit.nodes(ast.Name) if n.id == name and not isinstance(n.ctx, ast.Load)]
    if stores:
        return len(stores) == len(global_values(unit, name)) and len(path) == 1
    top = [getattr(stmt, "name", None) for stmt in top_level(unit.tree)]
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

"""The order in which a statement runs its parts, which moving one of them may change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.source.points import AHEAD, begin, end
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.ops.call_effects import is_session
from tapemigrate.tape.ops.kinds import Kinds, Make

_COMPUTING = (Make.TENSOR, Make.LEAF, Make.PYTHON)
# Modules whose functions draw from a stream of numbers.
_DRAWING = ("numpy.random.", "random.")
_ASSIGNING = ("assign", "scatter_")
# Ops that get their seeds in the order in which they are made: see
# https://www.tensorflow.org/api_docs/python/tf/random/set_seed
_SEEDED = ("random", "dropout", "truncated_normal", "multinomial", "shuffle", "sample")
# Through how many functions it is looked whether they make such ops.
_DEPTH = 3


def acts_before(root: ast.AST, target: ast.expr, kinds: Kinds) -> bool:
    """Whether a part of a statement that runs ahead of ``target`` does more than to compute.

    So must the target, or it is all the same: ``noise() + tf.gradients(net(x), x)[0]``, where both
    may draw random numbers, or make variables. Or it reads what the target's functions set, or
    gives a name that the target reads: ``(y := net(x)), tf.gradients(y * y, x)[0]``.
    """
    ahead = list(_ahead(root, target))
    if not _named(ahead).isdisjoint(_names(walk(target), ast.Load)):
        return True
    if not any(_acts(node, kinds) for node in walk(target)):
        return False
    if isinstance(root, ast.With | ast.AsyncWith) and _is_entered_late(root, target):
        return True
    if any(_acts(node, kinds) for node in ahead):
        return True
    read = _names(ahead, ast.Load) - _names(_called_ahead(root), ast.Load)
    return bool(read) and not read.isdisjoint(_set_by(target, kinds) | _named(walk(target)))


def _named(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are given in the middle of an expression."""
    return {node.target.id for node in nodes if isinstance(node, ast.NamedExpr)}


def _called_ahead(root: ast.AST) -> Iterator[ast.AST]:
    """What is read of functions, to call them: no other one takes their place."""
    for call in walk(root):
        if isinstance(call, ast.Call):
            yield from walk(call.func)


def _names(nodes: Iterable[ast.AST], way: type[ast.expr_context]) -> set[str]:
    """The names and attributes that are read, or set, or in which elements are."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, way):
            while isinstance(node, ast.Subscript):
                node = node.value
            found.add(node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", ""))
    return found


def _set_by(target: ast.expr, kinds: Kinds) -> set[str]:
    """What functions of the file set, or put something into, that run for the target."""
    found = set[str]()
    pending: list[ast.AST] = [target]
    seen = set[ast.AST]()
    while pending:
        root = pending.pop()
        nodes = list(walk(root))
        shared = {
            name for n in nodes if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names
        }
        parts = (n for n in nodes if not isinstance(n, ast.Name) or n.id in shared)
        found |= _names(parts, ast.Store)
        calls = [n for n in nodes if isinstance(n, ast.Call)]
        for call in calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGERS:
                found |= _names([call.func.value], ast.Load)
            new = [each for each in kinds.may_run(call) if each not in seen]
            seen.update(new)
            pending += new
    return found


def _is_entered_late(stmt: ast.With | ast.AsyncWith, target: ast.expr) -> bool:
    """Whether something is entered ahead of the item that the target stands in."""
    return not any(node is target for node in walk(stmt.items[0]))


def _ahead(root: ast.AST, target: ast.expr) -> Iterator[ast.AST]:
    """What stands in the statement and has run when the target does."""
    # A list of targets may be put together of what stands there.
    parts = (n for n in walk(target) if isinstance(n, ast.expr) and hasattr(n, "lineno"))
    start = min(map(begin, parts), default=AHEAD)
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        if node is target or isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            pending += [node.value] if node.value is not None else []  # its targets come after
            continue
        if isinstance(node, ast.stmt) and node is not root:
            continue
        if isinstance(node, ast.expr) and end(node) <= start:
            yield node
        pending += children(node)


def _acts(node: ast.AST, kinds: Kinds) -> bool:
    if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = kinds.name(node.func) or ""
    if name.startswith(_DRAWING) or name.rpartition(".")[2].startswith(_ASSIGNING):
        return True
    if isinstance(node.func, ast.Attribute) and is_session(node.func):
        return True
    if _is_seeded(node, kinds, _DEPTH):
        return True
    return kinds.make(node) not in _COMPUTING and not kinds.only_computes(node)


def _is_seeded(call: ast.Call, kinds: Kinds, depth: int) -> bool:
    """Whether the call makes random ops, itself or by functions of the file."""
    name = kinds.tensorflow(call.func)
    if name is not None:
        return any(word in name for word in _SEEDED)
    function = kinds.called(call) if depth else None
    inside = (n for n in walk(function) if isinstance(n, ast.Call)) if function is not None else ()
    return any(_is_seeded(each, kinds, depth - 1) for each in inside)

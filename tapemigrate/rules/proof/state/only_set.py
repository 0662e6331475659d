"""Whether a function sets what outlives it, and never finds there what was set before.

``if state.h is None: state.h = tf.exp(x)`` keeps what an earlier call has made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.source.trees import walk

# What may leave out that something is set, or make it of what was there.
_CHOOSING = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.Match, ast.AugAssign)


def only_sets(function: ast.AST, name: str) -> bool:
    """Whether what goes by ``name``, ``CACHE`` or ``state.h``, is only given values there."""
    last = name.rpartition(".")[2]
    nodes = walk(function)
    set_into = {node for each in nodes if _is_set(each) for node in _holders(each)}
    for node in nodes:
        if isinstance(node, _CHOOSING):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CHANGERS:
                return False
        if _named(node) == last and not _is_set(node) and node not in set_into:
            return False
    return True


def _is_set(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _holders(target: ast.AST) -> Iterator[ast.AST]:
    """``Kept.parts`` and ``Kept`` of ``Kept.parts["h"]``."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        yield target


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")

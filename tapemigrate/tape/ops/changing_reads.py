"""Statements that change their object as they read of it: a property that keeps what it made.

``tf.summary.histogram("kernel", self.kernel)`` may make the kernel that the forward pass finds. So
may ``len(self)``, and whatever else runs a method without a call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.ops.kinds import Kinds

# What Python runs of its own as an object is made, or goes.
_ONCE = frozenset({"__init__", "__new__", "__del__"})


def changing_reads(blocks: Blocks, kinds: Kinds) -> Iterator[ast.stmt]:
    """The statements of a method that do so."""
    cls, me = kinds.cls, kinds.self_name
    if cls is None or me is None:
        return
    by_operators = _change_by_operators(kinds, cls)
    for stmt in blocks.statements():
        nodes = [n for each in children(stmt) for n in _expressions(each)]
        read = [n for n in nodes if isinstance(n, ast.Attribute) and path_of(n.value) == (me,)]
        if any(isinstance(n.ctx, ast.Load) and _changes(kinds, cls, n.attr) for n in read):
            yield stmt
        elif by_operators:
            parts = {n.value for n in nodes if isinstance(n, ast.Attribute)}
            parts |= {n.func for n in nodes if isinstance(n, ast.Call)}
            if any(isinstance(n, ast.Name) and n.id == me and n not in parts for n in nodes):
                yield stmt


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of what belongs to a statement itself, and to none inside of it."""
    if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
        yield from walk(node)


def _changes(kinds: Kinds, cls: ast.ClassDef, name: str) -> bool:
    """Whether a property keeps something on its object, or a decorator keeps what it gave."""
    method = kinds.effects.method(cls, name)
    if method is None or not method.decorator_list:
        return False
    return kinds.effects.writes_self(cls, name) or kinds.effects.remembers(method)


def _change_by_operators(kinds: Kinds, cls: ast.ClassDef) -> bool:
    """Whether a method that Python runs, ``__len__`` for one, keeps something on its object."""
    return any(
        isinstance(each, NamedFunction)
        and each.name[:2] == each.name[-2:] == "__"
        and each.name not in _ONCE
        and kinds.effects.writes_self(cls, each.name)
        for above in kinds.effects.lineage(cls)
        for each in above.body
    )

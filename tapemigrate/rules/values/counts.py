"""Parameters that are counts, because TensorFlow takes nothing else where they stand.

``tf.get_variable("w", [n, 3])`` raises for a tensor ``n``, and a number carries no gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Def
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.project import View
from tapemigrate.source.trees import children

# What takes a shape that is known when it is called, by name or in second place.
_SHAPED = frozenset({"get_variable", "placeholder"})
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
# What may leave a part of it undone.
_LATER = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp)


def is_count(root: Def, view: View, stmt: ast.stmt) -> bool:
    """Whether a parameter has to be a number, or ``stmt`` is never reached."""
    return any(
        isinstance(size, ast.Name)
        and path_of(size) == root.path
        and {u.made for u in view.flow.reads.get(size, ())} == {root}
        for call in _calls_before(view, stmt)
        for size in _sizes(view, call)
    )


def _sizes(view: View, call: ast.Call) -> list[ast.expr]:
    """The elements of a shape that is written in a call."""
    if view.kinds.tensorflow(call.func) not in _SHAPED:
        return []
    named = [k.value for k in call.keywords if k.arg == "shape"]
    for shape in named or call.args[1:2]:
        if isinstance(shape, ast.List | ast.Tuple):
            return shape.elts
    return []


def _calls_before(view: View, stmt: ast.stmt) -> Iterator[ast.Call]:
    """The calls that have run whenever ``stmt`` is reached."""
    for place in view.blocks.chain(stmt):
        for each in _run(place.block.body[: place.index]):
            stack: list[ast.AST] = [each]
            while stack:
                node = stack.pop()
                if isinstance(node, ast.Call):
                    yield node
                if not isinstance(node, (*_LATER, ast.GeneratorExp)):
                    stack.extend(children(node))


def _run(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The simple statements of a block, those under ``with`` among them."""
    for stmt in body:
        if isinstance(stmt, ast.With):
            yield from _run(stmt.body)
        elif isinstance(stmt, _SIMPLE):
            yield stmt

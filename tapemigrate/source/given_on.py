"""A value that a name gives on in the next row, read as one statement of both.

``h = tf.square(x)`` and then ``self.h = h`` are ``self.h = h = tf.square(x)`` in all but the text.
The statement stands where the two do.
"""

from __future__ import annotations

import ast

from tapemigrate.patterns import late
from tapemigrate.source.apart import blocks_of_functions, is_whole, stand_for
from tapemigrate.source.trees import walk

_FORM = late(r"=[ \t]*[A-Za-z_]\w*(?:\[[^\[\]\n]+\])?[ \t]*(?:[\r\n;#]|\Z)")


def join_given_on(tree: ast.Module, text: str) -> bool:
    """Makes one statement of each two; whether there are any."""
    if _FORM.search(text) is None:
        return False
    done = False
    for block in blocks_of_functions(tree):
        place = 0
        while place + 1 < len(block):
            both = _joined(*block[place : place + 2])
            if both is not None:
                stand_for(tree, block, place, both, count=2)
                done = True
            else:
                place += 1
    return done


def _joined(made: ast.stmt, given: ast.stmt) -> ast.Assign | None:
    """``a = b = value`` of ``b = value`` and ``a = b``, or None."""
    match made, given:
        case (
            ast.Assign(targets=named, value=value),
            ast.Assign(targets=[target], value=ast.Name(id=read)),
        ) if made.lineno < given.lineno and _is_path(target):
            names = [t.id for t in named if isinstance(t, ast.Name)]
            others = [t for t in (target, *named) if not isinstance(t, ast.Name) or t is target]
            if read not in names or any(name in _names(t) for t in others for name in names):
                return None
            if is_whole(value):
                return None
            both = ast.copy_location(ast.Assign([target, *named], value), made)
            both.end_lineno, both.end_col_offset = given.end_lineno, given.end_col_offset
            return both
    return None


def _is_path(target: ast.expr) -> bool:
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name)


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}

"""A value that a name gives on in the next row, read as one statement of both.

``h = tf.square(x)`` and then ``self.h = h`` are ``self.h = h = tf.square(x)`` in all but the text.
The statement stands where the two do, and a rewrite has them apart again. What is written anew as
a whole, with what it is given to, stays as it is: functions, and gradients.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tapemigrate.patterns import late
from tapemigrate.source.trees import statements, walk

_FORM = late(r"=[ \t]*[A-Za-z_]\w*[ \t]*(?:[\r\n;#]|\Z)")
_WHOLE = re.compile(r"grad|hess|jacob|vjp|jvp")
_KEPT = "_joined"
_BLOCKS = ("body", "orelse", "finalbody")


# A block, the statement that stands in it, and the two for which it does.
_Joined = tuple[list[ast.stmt], ast.Assign, tuple[ast.stmt, ast.stmt]]


def join_given_on(tree: ast.Module, text: str) -> bool:
    """Makes one statement of each two; whether there are any."""
    if _FORM.search(text) is None:
        return False
    joined: list[_Joined] = []
    for function in statements(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in _blocks(function):
                place = 0
                while place + 1 < len(block):
                    made, given = block[place : place + 2]
                    both = _joined(made, given)
                    if both is not None:
                        block[place : place + 2] = [both]
                        joined.append((block, both, (made, given)))
                    else:
                        place += 1
    vars(tree)[_KEPT] = joined
    return bool(joined)


@contextmanager
def parted(tree: ast.Module) -> Iterator[None]:
    """Has each two statements apart meanwhile, as they are in the text."""
    joined: list[_Joined] = vars(tree).get(_KEPT, [])
    for block, both, parts in reversed(joined):
        place = next(place for place, stmt in enumerate(block) if stmt is both)
        block[place : place + 1] = parts
    try:
        yield
    finally:
        for block, both, (made, _) in joined:
            place = next(place for place, stmt in enumerate(block) if stmt is made)
            block[place : place + 2] = [both]


def _blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in statements(function):
        yield from (block for name in _BLOCKS if (block := getattr(node, name, None)))


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
            if _is_whole(value):
                return None
            both = ast.copy_location(ast.Assign([target, *made.targets], value), made)
            both.end_lineno, both.end_col_offset = given.end_lineno, given.end_col_offset
            return both
    return None


def _is_path(target: ast.expr) -> bool:
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name)


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def _is_whole(value: ast.expr) -> bool:
    """Whether it may be written anew together with what it is given to."""
    for node in walk(value):
        match node:
            case ast.Lambda():
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if _WHOLE.search(name):
                    return True
    return False

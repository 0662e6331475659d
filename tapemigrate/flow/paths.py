"""Access paths: ``x``, ``self.x``, ``d['k']`` as tuples of strings."""

from __future__ import annotations

import ast
from typing import Any

Path = tuple[str, ...]


def path_of(node: Any) -> Path | None:
    """The path that an expression names, or None where it is more than a path.

    >>> path_of(ast.parse("self.net['w']", mode="eval").body)
    ('self', '.net', "['w']")
    """
    cls = node.__class__  # this is asked for more than anything else
    if cls is ast.Name:
        return (node.id,)
    steps: list[str] = []
    while True:
        if cls is ast.Name:
            steps.append(node.id)
            return tuple(reversed(steps))
        if cls is ast.Attribute:
            steps.append("." + node.attr)
            node = node.value
        elif cls is ast.Subscript and isinstance(node.slice, ast.Constant):
            steps.append(f"[{node.slice.value!r}]")
            node = node.value
        else:
            return None
        cls = node.__class__


def looked_up(node: ast.AST) -> ast.Attribute | None:
    """``o.h`` for ``getattr(o, "h")``, ``vars(o)["h"]`` and the like.

    >>> ast.unparse(looked_up(ast.parse("getattr(self, 'h', None)", mode="eval").body))
    'self.h'
    """
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            pass
        case ast.Subscript(
            value=ast.Attribute(value=owner, attr="__dict__")
            | ast.Call(func=ast.Name(id="vars"), args=[owner]),
            slice=ast.Constant(value=str(name)),
            ctx=ast.Load(),
        ):
            pass
        case ast.Call(
            func=ast.Call(
                func=ast.Name(id="attrgetter") | ast.Attribute(attr="attrgetter"),
                args=[ast.Constant(value=str(name))],
            ),
            args=[owner],
        ):
            pass
        case _:
            return None
    return ast.copy_location(ast.Attribute(owner, name, ast.Load()), node)


def text_of(path: Path) -> str:
    """The path as Python writes it."""
    return "".join(path)

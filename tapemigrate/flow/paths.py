"""Access paths: ``x``, ``self.x``, ``d['k']`` as tuples of strings."""

from __future__ import annotations

import ast

Path = tuple[str, ...]


def path_of(node: ast.AST) -> Path | None:
    """The path that an expression names, or None where it is more than a path.

    >>> path_of(ast.parse("self.net['w']", mode="eval").body)
    ('self', '.net', "['w']")
    """
    steps: list[str] = []
    while True:
        if isinstance(node, ast.Name):
            steps.append(node.id)
            return tuple(reversed(steps))
        if isinstance(node, ast.Attribute):
            steps.append("." + node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            steps.append(f"[{node.slice.value!r}]")
            node = node.value
        else:
            return None


def text_of(path: Path) -> str:
    """The path as Python writes it."""
    return "".join(path)

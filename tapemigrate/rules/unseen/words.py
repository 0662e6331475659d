"""Names as they stand in a file, whatever they mean."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from tapemigrate.rules.finding import Unit


def may_hold(unit: Unit, words: Iterable[str]) -> bool:
    """Whether one of the words stands in the file."""
    return any(word in unit.text for word in words)


def last_of(node: Any) -> str | None:
    """The name, or the attribute, if the node is one."""
    cls = node.__class__
    if cls is ast.Name:
        return node.id  # type: ignore[no-any-return]  # it is a name's
    return node.attr if cls is ast.Attribute else None


def is_defun(node: ast.expr) -> bool:
    """Whether it is a ``Defun``, or a call of it."""
    target = node.func if isinstance(node, ast.Call) else node
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return name == "Defun"

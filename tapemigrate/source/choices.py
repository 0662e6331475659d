"""Choices that are made in the text already, ``x if True else None``, read as what they choose."""

from __future__ import annotations

import ast

from tapemigrate.patterns import late
from tapemigrate.source.trees import children, put_for, walk

_FORM = late(r"if(?<!\wif)\s+(?:True|False|None|\d+)\s+else\b")


def settle_choices(tree: ast.Module, text: str) -> bool:
    """Puts what is chosen in the place of such choices; whether there may be any."""
    if _FORM.search(text) is None:
        return False
    for node in walk(tree):
        for child in children(node):
            if isinstance(child, ast.IfExp) and isinstance(child.test, ast.Constant):
                put_for(node, child, child.body if child.test.value else child.orelse)
    return True

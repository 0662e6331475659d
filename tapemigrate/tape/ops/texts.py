"""Expressions that give texts, whatever they are made of: through these no gradient flows."""

from __future__ import annotations

import ast


def is_text(node: ast.expr) -> bool:
    """Whether it is a text, or a tensor of such: ``"layer_%d" % n``, ``folder + "/log.txt"``."""
    while isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add) and is_text(node.right):
            return True
        if not isinstance(node.op, ast.Add | ast.Mod):
            return False
        node = node.left
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr)

"""What code finds by a text that is evaluated where it runs: ``eval("self.h%d" % i)``."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tapemigrate.source.trees import kept, walk


class Evaluated(NamedTuple):
    """The names in texts that are written out, and the calls of which the text cannot be seen."""

    names: frozenset[str]
    unseen: frozenset[str]


def evaluated(node: ast.AST) -> Evaluated:
    """What ``node`` itself evaluates so."""
    return kept(node, _evaluated)


def _evaluated(root: ast.AST) -> Evaluated:
    names: set[str] = set()
    unseen: set[str] = set()
    for node in walk(root):
        match node:
            case ast.Call(func=ast.Name(id="eval"), args=[text], keywords=[]):
                found = _names_in(text)
                if found is None:
                    unseen.add(ast.unparse(node))
                else:
                    names |= found
    return Evaluated(frozenset(names), frozenset(unseen))


def _names_in(text: ast.expr) -> set[str] | None:
    """The names in the text; None where these cannot be told."""
    match text:
        case ast.Constant(value=str(code)):
            try:
                tree = ast.parse(code.strip(), mode="eval")
            except SyntaxError:
                return set()
            return {n.id for n in walk(tree) if isinstance(n, ast.Name)}
        case ast.BinOp(op=ast.Add() | ast.Mod(), left=ast.Constant(value=str(begin))):
            # ``"tf.nn." + name``: what is looked up in a module that is named at its beginning.
            return set() if begin.startswith("tf.") else None
    return None

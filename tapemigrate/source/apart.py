"""Statements of functions that stand for others of the text, until a rewrite has those back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tapemigrate.source.trees import statements, walk

_KEPT = "_standing"
_BLOCKS = ("body", "orelse", "finalbody")
_WHOLE = re.compile(r"(?<!stop_)grad|hess|jacob|vjp|jvp", re.IGNORECASE)
# A block, the statement that stands in it, and those for which it does.
_Standing = tuple[list[ast.stmt], ast.stmt, Sequence[ast.stmt]]


def stand_for(tree: ast.Module, block: list[ast.stmt], new: ast.stmt, old: list[ast.stmt]) -> None:
    """Puts ``new`` in the place of ``old``, which follow each other in a block."""
    _replace(block, old, [new])
    vars(tree).setdefault(_KEPT, []).append((block, new, old))


@contextmanager
def apart(tree: ast.Module) -> Iterator[None]:
    """Has the statements of the text in their places meanwhile."""
    standing: list[_Standing] = vars(tree).get(_KEPT, [])
    for block, new, old in reversed(standing):
        _replace(block, [new], old)
    try:
        yield
    finally:
        for block, new, old in standing:
            _replace(block, old, [new])


def _replace(block: list[ast.stmt], old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> None:
    place = next(place for place, stmt in enumerate(block) if stmt is old[0])
    block[place : place + len(old)] = new


def blocks_of_functions(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The blocks of statements in functions, each once."""
    seen = set[int]()
    for function in statements(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in statements(function):
                for name in _BLOCKS:
                    block: list[ast.stmt] | None = getattr(node, name, None)
                    if block and id(block) not in seen:
                        seen.add(id(block))
                        yield block


def is_whole(value: ast.expr) -> bool:
    """Whether it may be written anew together with what it is given to: functions, gradients."""
    for node in walk(value):
        match node:
            case ast.Lambda():
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if _WHOLE.search(name):
                    return True
    return False

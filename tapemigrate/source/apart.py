"""Statements of functions that stand for others of the text, until a rewrite has those back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tapemigrate.source.trees import arguments_of, statements, walk

_KEPT = "_standing"
_BLOCKS = ("body", "orelse", "finalbody")
_WHOLE = re.compile(r"(?<!stop_)grad|hess|jacob|vjp|jvp", re.IGNORECASE)


@dataclass
class _Standing:
    """The blocks in which such statements stand, and what each of these stands for."""

    blocks: dict[int, list[ast.stmt]] = field(default_factory=dict)
    old: dict[ast.stmt, list[ast.stmt]] = field(default_factory=dict)

    def text_of(self, stmt: ast.stmt) -> Iterator[ast.stmt]:
        """The statements of the text for which ``stmt`` stands, or itself."""
        if stmt not in self.old:
            yield stmt
        for each in self.old.get(stmt, ()):
            yield from self.text_of(each)


def stand_for(
    tree: ast.Module, block: list[ast.stmt], place: int, *new: ast.stmt, count: int = 1
) -> None:
    """Puts ``new`` in the place of as many statements of the block."""
    standing: _Standing = vars(tree).setdefault(_KEPT, _Standing())
    standing.blocks[id(block)] = block
    standing.old |= {stmt: [] for stmt in new}
    standing.old[new[0]] = block[place : place + count]
    block[place : place + count] = new


@contextmanager
def apart(tree: ast.Module) -> Iterator[None]:
    """Has the statements of the text in their places meanwhile."""
    standing: _Standing = vars(tree).get(_KEPT, _Standing())
    read = [(block, [*block]) for block in standing.blocks.values()]
    for block, stmts in read:
        block[:] = [old for stmt in stmts for old in standing.text_of(stmt)]
    try:
        yield
    finally:
        for block, stmts in read:
            block[:] = stmts


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
    nodes = walk(value)
    handed = {each for node in nodes if isinstance(node, ast.Call) for each in arguments_of(node)}
    for node in nodes:
        match node:
            case ast.Lambda() if node not in handed:
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if _WHOLE.search(name):
                    return True
    return False

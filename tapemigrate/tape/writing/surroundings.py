"""What the tapes of a scope have to know of the file around it, where they are written."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from tapemigrate.flow.blocks import Blocks
from tapemigrate.source.positions import Lines


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The file around a scope.

    ``tensorflow`` names the module where an expression stands, and ``v1`` what has the functions
    for v1 graphs. ``cell`` gives the notebook cell of a row, in which a ``with`` has to end.
    ``branches``: a session runs graphs that may hold branches and loops.
    """

    lines: Lines
    blocks: Blocks
    parents: dict[ast.AST, ast.AST]
    taken: frozenset[str]
    tensorflow: Callable[[ast.expr], str]
    v1: Callable[[ast.expr], str]
    cell: Callable[[int], int]
    branches: bool = False

"""Sources that an object may hold already, and that get a name on one way through the tape only.

``weights = self.weights`` in the branch for objects that have them: before it, where the tape
opens, the attribute may not be there.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.leaf import Leaf

# What is asked of an object, and uses nothing that it holds.
_ASKED = frozenset({"dir", "hasattr", "vars", "isinstance", "id", "type"})


def is_watched_by_name(made: Def, leaf: Leaf, recorded: Sequence[ast.stmt]) -> bool:
    """Whether what ``made`` was is watched under a condition, and used by no other name there.

    ``recorded`` are the statements that the tape records. The attribute need not be watched, or be
    there, where it opens then.
    """
    if made.kind is not Kind.ENTRY or len(made.path) < 2:
        return False
    nodes = [n for stmt in recorded for n in walk(stmt)]
    names = [
        d.stmt
        for d in leaf.defs
        if d.kind is Kind.ASSIGN and d.value is not None and path_of(d.value) == made.path
        if d.stmt is not None and d.stmt in nodes
    ]
    if not names or any(stmt in recorded for stmt in names):
        return False
    last = max(map(end, names))
    own = {n for stmt in names for n in walk(stmt)}
    return not any(_may_use(node, made, last) for node in nodes if node not in own)


def _may_use(node: ast.AST, made: Def, last: Point) -> bool:
    """Whether the attribute is read there, or by what is called before it has a name of its own."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return path_of(node) == made.path
    if not isinstance(node, ast.Call) or begin(node) >= last:
        return False
    if isinstance(node.func, ast.Name) and node.func.id in _ASKED:
        return False
    paths = [path for part in (node.func, *arguments_of(node)) if (path := path_of(part))]
    return any(path[0] == made.path[0] for path in paths)

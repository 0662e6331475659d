"""Attributes of objects that gradients are asked for: a file that sets them may hold the class."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.model import SET, Handed
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.syntax import VARIABLES_BY_NAME
from tapemigrate.tape.request import Request


def object_links(scope: Scope, requests: Iterable[Request]) -> frozenset[Handed]:
    """What sets the source, and one of the attributes beside it, of ``model.loss, model.x``."""
    found: set[Handed] = set()
    paths = [p for n in walk(scope) if (p := _read(n)) is not None]
    for request in requests:
        for node in walk(request.sources):
            for path in _sources(scope, node):
                owner, name = path[:-1], path[-1].lstrip(".")
                if VARIABLES_BY_NAME.search(name):
                    continue
                # ``self.model = model`` may stand between.
                beside = {
                    p[-1].lstrip(".")
                    for p in paths
                    if len(p) > 1 and p[-2].lstrip("._") == owner[-1].lstrip("._")
                }
                if beside - {name}:
                    anchors = frozenset(SET + each for each in beside - {name})
                    found.add(Handed(SET + name, anchors, followed=True))
    return frozenset(found)


def _read(node: ast.AST) -> Path | None:
    return path_of(node) if isinstance(node, ast.Attribute) else None


def _sources(scope: Scope, node: ast.AST) -> list[Path]:
    """The part of an object that is differentiated by, also where it has a name here."""
    if isinstance(node, ast.Attribute):
        found = [path_of(node)]
    elif isinstance(node, ast.Name):
        found = [
            path_of(stmt.value)
            for stmt in walk(scope)
            if isinstance(stmt, ast.Assign) and any(path_of(t) == (node.id,) for t in stmt.targets)
        ]
    else:
        return []
    return [
        path
        for path in found
        if path is not None
        and path[-1].startswith(".")
        and (len(path) > 2 or (len(path) == 2 and path[0] not in ("self", "tf")))
    ]

"""Whether TensorFlow has a name where a tape opens: an import of it may stand further down."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.names import TENSORFLOW_MODULES
from tapemigrate.source.points import AHEAD, Point, begin
from tapemigrate.source.trees import top_level


class Imports:
    """The imports by which one scope reaches TensorFlow."""

    def __init__(self, flow: Flow) -> None:
        self._places: dict[str, Point] = {}
        self._bound: dict[str, Point] = {}
        top = top_level(flow.scope) if isinstance(flow.scope, ast.Module) else ()
        self._stars = [begin(stmt) for stmt in top if _brings_all(stmt)]
        for made in flow.defs.values():
            if len(made.path) == 1 and made.kind in (Kind.IMPORT, Kind.ASSIGN) and made.stmt:
                name = made.path[0]
                self._bound[name] = min(begin(made.stmt), self._bound.get(name, begin(made.stmt)))
            if made.kind is Kind.IMPORT and isinstance(made.stmt, ast.Import | ast.ImportFrom):
                for name in _of_tensorflow(made.stmt):
                    place = begin(made.stmt)
                    self._places[name] = min(place, self._places.get(name, place))

    def missing_at(self, place: Point, used: str) -> str:
        """The name that TensorFlow gets at that place or later, where it has none before it.

        ``used``: by which name the code reaches it. Another module may bring it along.
        """
        if self._places:
            known = any(each < place for each in self._places.values())
            return "" if known else next(iter(self._places))
        bound = self._bound.get(used, max(self._stars, default=AHEAD))
        return "" if bound < place else used


def _brings_all(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and any(alias.name == "*" for alias in stmt.names)


def _of_tensorflow(stmt: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The names that the import gives TensorFlow's module."""
    for alias in stmt.names:
        if isinstance(stmt, ast.ImportFrom):
            path = f"{stmt.module}.{alias.name}"
        elif alias.asname is None:
            path = alias.name.partition(".")[0]
        else:
            path = alias.name
        if path in TENSORFLOW_MODULES and not getattr(stmt, "level", 0):
            yield alias.asname or path.rpartition(".")[2]

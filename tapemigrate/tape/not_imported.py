"""Whether TensorFlow has a name where a tape opens: an import of it may stand further down."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.names import TENSORFLOW_MODULES


class Imports:
    """The imports by which one scope reaches TensorFlow."""

    def __init__(self, flow: Flow) -> None:
        self._lines: dict[str, int] = {}
        for made in flow.defs.values():
            if made.kind is Kind.IMPORT and isinstance(made.stmt, ast.Import | ast.ImportFrom):
                for name in _of_tensorflow(made.stmt):
                    line = min(made.stmt.lineno, self._lines.get(name, made.stmt.lineno))
                    self._lines[name] = line

    def missing_in(self, line: int) -> str:
        """The name that TensorFlow gets in that line or later, where it has none before it."""
        return "" if any(n < line for n in self._lines.values()) else next(iter(self._lines), "")


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

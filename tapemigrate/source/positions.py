"""From the positions of ``ast`` (UTF-8 bytes) to places in the text (characters)."""

from __future__ import annotations

import ast
import io
from array import array
from bisect import bisect_left
from itertools import accumulate

from tapemigrate.source.span import Span


class Lines:
    """The lines of a text, split where Python's tokenizer splits them: CRLF, LF, lone CR."""

    def __init__(self, text: str) -> None:
        self.text = text
        # ``newline=""`` splits at the three newlines of Python source, keeps them, and, unlike
        # ``str.splitlines``, at nothing else.
        self._lines = io.StringIO(text, newline="").readlines()
        self._ascii = text.isascii()
        self._starts: list[int] | None = None
        self._byte_columns: dict[int, array[int]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def row(self, row: int) -> str:
        """The line ``row`` (from one) with its newline; empty beyond the end of the text."""
        return self._lines[row - 1] if 0 < row <= len(self._lines) else ""

    def span(
        self, node: ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword | ast.alias
    ) -> Span:
        """Where ``node`` stands in the text.

        Raises:
            ValueError: when the node has no end position (it does not come from a parser).
        """
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError(f"{type(node).__name__} has no end position")
        return Span(
            node.lineno,
            self.column(node.lineno, node.col_offset),
            node.end_lineno,
            self.column(node.end_lineno, node.end_col_offset),
        )

    def column(self, row: int, byte_column: int) -> int:
        """The column (from zero) of a UTF-8 byte column of ``ast`` on the line ``row``."""
        if self._ascii:
            return byte_column
        ends = self._byte_columns.get(row)
        if ends is None:
            line = self.row(row)
            # An empty table stands for a line of which every character is one byte.
            ends = array("q")
            if not line.isascii():
                ends.extend(accumulate(len(c.encode("utf-8", "surrogatepass")) for c in line))
            self._byte_columns[row] = ends
        if not ends or byte_column <= 0:
            return byte_column
        return bisect_left(ends, byte_column) + 1

    def offset(self, row: int, column: int) -> int:
        """The index into the text of a place: ``row`` from one, ``column`` from zero."""
        if self._starts is None:
            self._starts = [0, *accumulate(map(len, self._lines))]
        return self._starts[min(row - 1, len(self._lines))] + column

    def segment(self, span: Span) -> str:
        """The text at ``span``."""
        if span.row == span.end_row:
            return self._lines[span.row - 1][span.column : span.end_column]
        start = self.offset(span.row, span.column)
        return self.text[start : self.offset(span.end_row, span.end_column)]

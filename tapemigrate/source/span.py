"""A stretch of a text, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a text. Rows count from one, columns from zero, both in characters.

    Rows end at CRLF, LF or a lone CR, as Python's tokenizer has it (not at form feeds).
    """

    row: int
    column: int
    end_row: int
    end_column: int

"""The plain data that every layer shares: positions, edits, fixes, diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Applicability = Literal["safe", "unsafe", "display"]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: ``row`` and ``column`` count from one, in characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """``content`` takes the place of the text from ``start`` up to ``end`` of ``filename``."""

    filename: str
    start: Position
    end: Position
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What would mend a diagnostic. The edits land together or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: where it is, which rule says so, why, and what to do about it.

    ``message`` is one line. ``help`` (may have several lines) is the recipe for what no fix covers.
    ``cell`` is the notebook cell, counted from one, and None in plain Python files.
    ``comment_row`` is the row for a suppression comment, where the first row cannot hold one.
    """

    code: str
    message: str
    filename: str
    location: Position
    end_location: Position
    help: str = ""
    fix: Fix | None = None
    cell: int | None = None
    comment_row: int | None = None

    @property
    def noqa_row(self) -> int:
        """The row on which a suppression comment for this diagnostic stands."""
        return self.location.row if self.comment_row is None else self.comment_row

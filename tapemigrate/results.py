"""What a run has found: the findings and the new bytes of each file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tapemigrate import stored
from tapemigrate.model import Diagnostic, Position
from tapemigrate.source.decoding import SourceError, SourceFile

#: ``check`` rewrites nothing. ``fix`` and ``preview`` do; they differ in what diagnostics that are
#: left refer to: the new text, which is about to be written, or the old one, which stays.
#: ``silence`` adds a suppression comment for everything that is found.
Mode = Literal["check", "fix", "preview", "silence"]

#: A row of a file, or of a cell of a notebook.
Place = tuple[int | None, int]


@dataclass(frozen=True, slots=True)
class FileResult:
    """What was found in one file.

    ``diagnostics`` is what is left to tell, ``mended`` what the rewrite took care of. ``lines``
    holds the rows on which diagnostics stand, by cell (None outside notebooks) and row. ``old``
    and ``new`` are the bytes before and after a rewrite that changes the file. Those of one
    ``group`` are written together or not at all.
    """

    filename: str
    diagnostics: tuple[Diagnostic, ...] = ()
    mended: tuple[Diagnostic, ...] = ()
    lines: dict[Place, str] = field(default_factory=dict, hash=False)
    old: bytes = b""
    new: bytes | None = None
    group: str = ""


@dataclass(slots=True)
class Outcome:
    """What a run has found, file by file in the order of the paths.

    ``files`` are those that were looked at, ``notes`` are lines for the user. ``known`` counts
    the findings that a baseline has taken out.
    """

    results: list[FileResult]
    notes: list[str]
    files: Sequence[str]
    known: int = 0

    @property
    def seen(self) -> int:
        """How many files were looked at."""
        return len(self.files)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics, in order."""
        return [each for result in self.results for each in result.diagnostics]


def failure(filename: str, error: SourceError, line: str = "") -> FileResult:
    """What is told of a file that could not be analysed."""
    start = Position(error.row, error.column)
    diagnostic = Diagnostic(error.code, error.message, filename, start, start, cell=error.cell)
    place = (error.cell, error.row)
    return FileResult(filename, (diagnostic,), lines={place: line} if line else {})


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings of one file by their places."""
    return tuple(sorted(diagnostics, key=lambda each: (each.cell or 0, each.location, each.code)))


def rows_of(file: SourceFile, diagnostics: Iterable[Diagnostic]) -> dict[Place, str]:
    """The rows on which the findings stand."""
    from tapemigrate.source.positions import Lines

    wanted: dict[int | None, set[int]] = {}
    for each in diagnostics:
        rows = range(each.location.row, each.end_location.row + 1)
        wanted.setdefault(each.cell, set()).update(rows)
    texts: dict[int | None, str] = {None: file.text}
    if file.notebook is not None:
        texts = {cell.number: cell.text for cell in file.notebook.cells}
    found: dict[Place, str] = {}
    for cell, rows_wanted in wanted.items():
        lines = Lines(texts.get(cell, ""))
        found.update({(cell, row): lines.row(row) for row in sorted(rows_wanted)})
    return found


def plain_result(result: FileResult) -> list[Any]:
    """What was found in a file that was only checked, as lists."""
    lines = [[*place, line] for place, line in result.lines.items()]
    found = [stored.plain_diagnostic(each) for each in result.diagnostics]
    return [result.filename, found, lines, result.group]


def result_of(plain: list[Any]) -> FileResult:
    """What ``plain_result`` was given."""
    filename, found, lines, group = plain
    diagnostics = tuple(stored.diagnostic(each) for each in found)
    by_place = {(cell, row): line for cell, row, line in lines}
    return FileResult(filename, diagnostics, lines=by_place, group=group)

"""A suppression comment for all that was found in a file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tapemigrate.model import Diagnostic, Position
from tapemigrate.results import FileResult, in_order, rows_of
from tapemigrate.settings import ALWAYS_REPORTED
from tapemigrate.source.decoding import SourceFile, encode


def silenced(
    data: bytes, file: SourceFile, found: Iterable[Diagnostic], idle: Sequence[Diagnostic] = ()
) -> FileResult:
    """The file with a comment for all that was found, apart from comments that do nothing.

    ``idle`` are the suppressions that would have nothing to silence.
    """

    def needless(each: Diagnostic) -> bool:
        place = (file.filename, each.cell, each.noqa_row)
        return any(
            place == (other.filename, other.cell, other.location.row)
            and each.code in other.message.split()
            for other in idle
        )

    found = [each for each in found if not needless(each)]
    silent = [each for each in found if _can_be_silenced(each, file)]
    left = in_order(each for each in found if not _can_be_silenced(each, file))
    from tapemigrate.suppression import Suppressions

    text = Suppressions(file.text).with_noqa(_in_text(each, file) for each in silent)
    if text == file.text or ast.dump(ast.parse(text)) != ast.dump(ast.parse(file.text)):
        left = in_order(found)
        return FileResult(file.filename, left, lines=rows_of(file, left))
    new = encode(replace(file, text=text), text)
    return FileResult(file.filename, left, in_order(silent), rows_of(file, left), data, new)


def _can_be_silenced(each: Diagnostic, file: SourceFile) -> bool:
    if each.code == "TM910" or each.code in ALWAYS_REPORTED:
        return False
    if file.notebook is None or each.cell is None:
        return True
    # What a magic takes for text has no comments.
    return file.notebook.takes_comment(each.cell, each.noqa_row)


def _in_text(each: Diagnostic, file: SourceFile) -> Diagnostic:
    """``each`` with the row that it has in the text of all cells together."""
    if file.notebook is None or each.cell is None:
        return each
    row = file.notebook.row_of(each.cell, each.location.row)
    return replace(each, location=Position(row or each.location.row, each.location.column))

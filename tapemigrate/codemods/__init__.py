"""Applies a plan to the text of a file. Knows nothing of data flow or of TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.codemods.chunks import chunks
from tapemigrate.codemods.edits import edits
from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.layout import file_indent
from tapemigrate.codemods.rewrite import rewrite
from tapemigrate.source.apart import apart
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import Op, in_text

__all__ = ["CodemodError", "apply", "edits"]


def apply(text: str, tree: ast.Module, ops: Sequence[Op]) -> str:
    """``text``, of which ``tree`` is the tree, with ``ops`` applied.

    Lines that no operation touches stay byte for byte the same. Only the statements of the module,
    or of a class, that an operation other than a replacement of expressions works on are parsed by
    LibCST.

    Raises:
        CodemodError: when an operation does not fit the text, or the text cannot be rewritten.
    """
    if not ops:
        return text
    with apart(tree):
        return _applied(text, tree, [in_text(op) for op in ops])


def _applied(text: str, tree: ast.Module, ops: Sequence[Op]) -> str:
    lines = Lines(text)
    indent = file_indent(tree, lines)
    out: list[str] = []
    row = 1
    # How many blank lines ``out`` ends in, or None as long as it has nothing else.
    blank: int | None = None
    for chunk in chunks(tree, ops, lines):
        kept = range(row, chunk.row)
        out += map(lines.row, kept)
        blank = _blank_at_end(lines, kept, blank)
        new = rewrite(text, chunk, lines, indent)
        row = chunk.end_row + 1
        if new:
            # What has just been written may have brought the blank lines that this one wants.
            made = Lines(new)
            rows = [made.row(k + 1) for k in range(len(made))]
            above = 0 if kept else min(_blank_at_start(rows), blank or 0)
            out += rows[above:]
            blank = _blank_at_start(rows[::-1])
            continue
        # Of the blank lines above and below what went, those of one side go as well.
        below = 0
        while row + below <= len(lines) and not lines.row(row + below).strip():
            below += 1
        if row + below > len(lines) and blank:
            del out[-blank:]
        row += below if blank is None else min(blank, below)
    out += map(lines.row, range(row, len(lines) + 1))
    return "".join(out)


def _blank_at_start(rows: Sequence[str]) -> int:
    return next((count for count, row in enumerate(rows) if row.strip()), len(rows))


def _blank_at_end(lines: Lines, rows: range, before: int | None) -> int | None:
    for count, row in enumerate(reversed(rows)):
        if lines.row(row).strip():
            return count
    return None if before is None else before + len(rows)

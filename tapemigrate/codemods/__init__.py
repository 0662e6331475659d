"""Applies a plan to the text of a file. Knows nothing of data flow or of TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.codemods.chunks import chunks
from tapemigrate.codemods.edits import edits
from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.layout import file_indent
from tapemigrate.codemods.rewrite import rewrite
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import Op

__all__ = ["CodemodError", "apply", "edits"]


def apply(text: str, tree: ast.Module, ops: Sequence[Op]) -> str:
    """``text``, of which ``tree`` is the tree, with ``ops`` applied.

    Lines that no operation touches stay byte for byte the same. Only the top-level statements that
    an operation other than a replacement of expressions works on are parsed by LibCST.

    Raises:
        CodemodError: when an operation does not fit the text, or the text cannot be rewritten.
    """
    if not ops:
        return text
    lines = Lines(text)
    indent = file_indent(tree, lines)
    out = []
    done = 0
    for chunk in chunks(tree, ops):
        start = lines.offset(chunk.row, 0)
        out += [text[done:start], rewrite(text, tree, chunk, lines, indent)]
        done = lines.offset(chunk.end_row + 1, 0)
    out.append(text[done:])
    return "".join(out)

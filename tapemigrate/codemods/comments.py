"""Comments inside of what a plan replaces: they move above the statement."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tapemigrate.codemods.locate import Site, Statements, blocks
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, Replace, ReplaceStatement


def kept_comments(
    replaces: Sequence[Replace], found: Mapping[Span, Site], lines: Lines
) -> Iterator[Insert]:
    """What inserts the comments that would go with the expressions ``found``."""
    for op in replaces:
        if op.span.row == op.span.end_row:
            continue
        comments = lost_comments(lines.segment(op.span), op.code)
        anchor = lines.span(found[op.span].statement)
        # There is no place for a comment above an ``elif`` that would read as its own.
        if comments and not lines.row(anchor.row).startswith("elif", anchor.column):
            yield Insert(anchor, "before", comments)


def with_comments(op: ReplaceStatement, statements: Statements, lines: Lines) -> ReplaceStatement:
    """``op`` with the comments of the simple statement that it replaces, unless it deletes it."""
    if (
        op.span.row == op.span.end_row
        or not op.code
        or any(blocks(statements.at(op.span).statement))
    ):
        return op
    comments = lost_comments(lines.segment(op.span), op.code)
    return replace(op, code=f"{comments}\n{op.code}") if comments else op


def lost_comments(old: str, new: str) -> str:
    """The comments in the expression or statement ``old`` that ``new`` lacks, a line each."""
    if "#" not in old:
        return ""
    # The parentheses make one line of what stood in parentheses or after a backslash.
    readline = io.StringIO(f"({old}\n)", newline=None).readline
    try:
        tokens = list(tokenize.generate_tokens(readline))
    except (tokenize.TokenError, SyntaxError):
        return ""
    found = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join(comment for comment in found if comment not in new)

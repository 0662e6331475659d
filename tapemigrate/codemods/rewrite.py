"""One chunk of a file, rewritten."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from tapemigrate.codemods.blockplan import BlockPlans, StructuralOp
from tapemigrate.codemods.chunks import Chunk
from tapemigrate.codemods.comments import kept_comments, with_comments
from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.expressions import splice, splices
from tapemigrate.codemods.layout import Layout, newline_of
from tapemigrate.codemods.locate import Statements, blocks, sites
from tapemigrate.codemods.parameters import parameter
from tapemigrate.codemods.plain import is_plain, plain, restored
from tapemigrate.codemods.stubs import Stubs, with_stubs
from tapemigrate.patterns import late
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import AddParameter, Replace, ReplaceStatement

# What LibCST may be given (measured with 1.9): 3,000 ``elif`` branches are well, 10,000 end the
# process; a quarter of a million tokens take up to 15 s and 1 GB.
MAX_DEPTH = 2_500
MAX_TOKENS = 250_000

_TOKEN = late(r"#[^\r\n]*|\w+|[^\w \t\f]")


def rewrite(text: str, chunk: Chunk, lines: Lines, indent: str) -> str:
    """The text that takes the place of the rows of ``chunk``; ``indent`` is the file's unit.

    Raises:
        CodemodError: when the plan does not fit the text, or LibCST cannot handle it.
    """
    nodes = chunk.statements
    start, end = lines.offset(chunk.row, 0), lines.offset(chunk.end_row + 1, 0)
    newline = newline_of(lines.row(chunk.row)) or newline_of(lines.row(1)) or "\n"
    layout = Layout(newline, indent)
    replaces = [op for op in chunk.ops if isinstance(op, Replace)]
    found = sites(nodes, {op.span for op in replaces}, lines)
    statements = Statements(chunk.owner, chunk.part, lines)
    parts = splices(replaces, found, text, lines, layout)
    parts += [
        parameter(op, statements, text, lines) for op in chunk.ops if isinstance(op, AddParameter)
    ]
    parts.sort(key=lambda part: part[:2])
    structural: list[StructuralOp] = [
        *(op for op in chunk.ops if not isinstance(op, Replace | AddParameter)),
        *kept_comments(replaces, found, lines),
    ]
    if not structural:
        return splice(text, start, end, parts)

    _check_replaced(structural, replaces, statements)
    structural = [
        with_comments(op, statements, lines) if isinstance(op, ReplaceStatement) else op
        for op in structural
    ]
    plans = BlockPlans(statements, structural)
    _check_depth(nodes)
    stubs = Stubs(text[start:end])
    old = splice(text, start, end, with_stubs(nodes, parts, text, lines, stubs))
    try:
        return stubs.restore(_restructure(old, chunk, plans, layout, lines))
    except RecursionError as error:
        raise CodemodError(f"rows {chunk.row}-{chunk.end_row} are nested too deeply") from error


def _restructure(old: str, chunk: Chunk, plans: BlockPlans, layout: Layout, lines: Lines) -> str:
    if next(islice(_TOKEN.finditer(old), MAX_TOKENS, None), None):
        raise CodemodError(f"a block of more than {MAX_TOKENS:,} tokens is too long to rewrite")
    # Imported here: it brings LibCST, which costs half a second that most runs need not spend.
    from tapemigrate.codemods.structure import restructure, write

    # Lines that are indented are parsed as the block of a statement of their own.
    header = f"if 1:{layout.newline}" if isinstance(chunk.owner, ast.ClassDef) else ""
    old = header + old
    if is_plain(old) and layout.newline != "\r":
        new = write(restructure(chunk.owner, chunk.part, old, plans, layout, lines))
    else:
        lf = replace(layout, newline="\n")
        module = restructure(chunk.owner, chunk.part, plain(old), plans, lf, lines)
        new = restored(write(module), old, layout.newline)
    return new[len(header) :]


def _check_replaced(
    structural: Sequence[StructuralOp], expressions: Sequence[Replace], statements: Statements
) -> None:
    """No expression may be replaced in a statement that goes."""
    spans = sorted(
        statements.extent(op.span) for op in structural if isinstance(op, ReplaceStatement)
    )
    for op in expressions:
        k = bisect_right(spans, op.span) - 1
        if k >= 0 and (op.span.row, op.span.column) < (spans[k].end_row, spans[k].end_column):
            raise CodemodError(f"a replacement in row {op.span.row} lies in a replaced statement")


def _check_depth(nodes: Sequence[ast.stmt]) -> None:
    pending = [(node, 1) for node in nodes]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise CodemodError(f"nested too deeply to rewrite (depth {depth})")
        for owner, field in blocks(node):
            pending += [(child, depth + 1) for child in getattr(owner, field)]

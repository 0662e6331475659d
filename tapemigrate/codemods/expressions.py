"""Replacing expressions: texts for spans, with the parentheses that precedence demands."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.layout import Layout, margin
from tapemigrate.codemods.locate import Site
from tapemigrate.codemods.precedence import Level, code_level, required
from tapemigrate.patterns import late
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Replace

# Start and end as indices into the text, and what takes the place of what is between them.
Splice = tuple[int, int, str]

# What may stand in the braces of an f-string in every Python that we run on.
_FSTRING_SAFE = late(r"[^'\"\\{}#\r\n]*")
_WORD_END = late(r"\w\Z")
_WORD_START = late(r"[\w'\"]")


def splices(
    replaces: Sequence[Replace],
    found: Mapping[Span, Site],
    text: str,
    lines: Lines,
    layout: Layout,
) -> list[Splice]:
    """What ``replaces``, at the sites ``found``, do to ``text``, in its order.

    Raises:
        CodemodError: when two spans overlap, or when the code is no expression.
    """
    ordered = sorted(replaces, key=lambda op: op.span)
    for one, two in pairwise(ordered):
        if (two.span.row, two.span.column) < (one.span.end_row, one.span.end_column):
            raise CodemodError(f"two replacements overlap in row {two.span.row}")
    return [_splice(op, found[op.span], text, lines, layout) for op in ordered]


def splice(text: str, start: int, end: int, parts: Sequence[Splice]) -> str:
    """The stretch of ``text`` from ``start`` to ``end`` with ``parts``, which lie in it."""
    out = []
    for part_start, part_end, code in parts:
        out += [text[start:part_start], code]
        start = part_end
    out.append(text[start:end])
    return "".join(out)


def parentheses(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Start and end, parentheses included, if they stand directly around a stretch of ``text``."""
    while start and text[start - 1].isspace():
        start -= 1
    while text[end : end + 1].isspace():
        end += 1
    around = (text[max(start - 1, 0) : start], text[end : end + 1])
    return (start - 1, end + 1) if around == ("(", ")") else None


def _splice(op: Replace, site: Site, text: str, lines: Lines, layout: Layout) -> Splice:
    start = lines.offset(op.span.row, op.span.column)
    end = lines.offset(op.span.end_row, op.span.end_column)
    code = op.code.strip()
    try:
        bare = code_level(code)
    except SyntaxError:
        bare = None
    if bare is None:
        code = f"({code}\n)" if "#" in code.rsplit("\n", 1)[-1] else f"({code})"
        try:
            code_level(code)
        except SyntaxError as error:
            raise CodemodError(f"the plan's code is no expression: {op.code!r}") from error
    elif _needs_parentheses(code, bare, site, text, start, end):
        code = f"({code})"
    if site.in_fstring:
        _check_fstring(code, site, text[start:end])
    elif isinstance(site.node, ast.Lambda) and code.isidentifier() and not _is_argument(site):
        # The name needs no parentheses where the lambda did.
        start, end = parentheses(text, start, end) or (start, end)
    if op.verbatim:
        code = code.replace("\r\n", "\n").replace("\n", layout.newline)
    else:
        code = layout.bring(code, margin(lines.row(op.span.row)))
    if _shares_parentheses(site):
        code = f"({code})"
    if start and _WORD_END.match(text[start - 1]) and _WORD_START.match(code):
        code = " " + code
    if _WORD_END.search(code) and _WORD_START.match(text, end):
        code += " "
    return start, end, code


def _needs_parentheses(code: str, bare: Level, site: Site, text: str, start: int, end: int) -> bool:
    if isinstance(site.parent, ast.Attribute) and code.isdigit():
        return True
    if bare >= required(site.parent, site.field):
        return False
    if isinstance(site.parent, ast.Call | ast.ClassDef | ast.withitem):
        # The parentheses around the expression may be theirs.
        return True
    return parentheses(text, start, end) is None


def _shares_parentheses(site: Site) -> bool:
    """Whether the parentheses that ``ast`` counts to a generator are those of its call."""
    call = site.parent
    return (
        isinstance(site.node, ast.GeneratorExp)
        and isinstance(call, ast.Call)
        and (call.end_lineno, call.end_col_offset)
        == (site.node.end_lineno, site.node.end_col_offset)
    )


def _is_argument(site: Site) -> bool:
    """Whether the parentheses around the expression may belong to what it stands in."""
    holders = ast.Call | ast.ClassDef | ast.withitem
    return isinstance(site.parent, holders) and site.field != "func"


def _check_fstring(code: str, site: Site, segment: str) -> None:
    # Before Python 3.12 the positions of what stands in an f-string over several lines are wrong.
    try:
        there = ast.parse(f"({segment})", mode="eval").body
    except SyntaxError:
        there = None
    if there is None or ast.dump(there) != ast.dump(site.node):
        raise CodemodError(
            f"the position of an f-string's part in row {site.node.lineno} is unsure"
        )
    if not _FSTRING_SAFE.fullmatch(code):
        raise CodemodError(f"the code does not fit into the f-string in row {site.node.lineno}")

"""The report for people: the line, what on it is meant, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tapemigrate.model import Diagnostic
from tapemigrate.reports import Report
from tapemigrate.reports.common import printable
from tapemigrate.reports.concise import headline, place
from tapemigrate.rules import catalog
from tapemigrate.rules.conditions import apart, listed

# How much of a line is shown: some "lines" are a million characters long.
_WIDTH = 120
_BEFORE = 40


def render(report: Report) -> str:
    """The report, a block of lines a diagnostic."""
    return "".join("\n".join(_block(each, report)) + "\n\n" for each in report.diagnostics)


def _block(each: Diagnostic, report: Report) -> Iterator[str]:
    fix, assumptions = apart("" if each.fix is None else each.fix.message)
    # What the fix rests on stands below, and what one call does is a part of it.
    told = replace(each, message=apart(each.message)[0]) if assumptions else each
    code, rest = headline(told).split(" ", 1)
    paint = _paint if report.color else _plain
    number = str(each.location.row)
    margin = " " * len(number)
    bar = paint("|", "34;1")
    yield f"{paint(code, '31;1')} {rest}"
    yield f"{margin}{paint('-->', '34;1')} {place(each)}"
    line = report.line(each)
    if line.strip():
        shown, caret = _excerpt(line, each)
        yield f"{margin} {bar}"
        yield f"{paint(number, '34;1')} {bar} {shown}"
        yield f"{margin} {bar} {paint(caret, '31;1')}"
    notes = []
    if each.fix is not None:
        kind = {"safe": "fix", "unsafe": "unsafe fix", "display": "suggestion"}
        notes.append((kind[each.fix.applicability], fix + listed(assumptions)))
    if each.help:
        notes.append(("help", each.help))
    notes.append(("see", catalog.url(each.code)))
    if line.strip():
        yield f"{margin} {bar}"
    for label, text in notes:
        first, *more = text.splitlines() or [""]
        yield f"{margin} {paint('=', '34;1')} {paint(label, '1')}: {printable(first)}"
        for each_line in more:
            yield f"{margin}   {printable(each_line)}".rstrip()


def _excerpt(line: str, each: Diagnostic) -> tuple[str, str]:
    """A piece of ``line`` that holds the beginning of the diagnostic, and the carets below it."""
    start = min(each.location.column - 1, len(line))
    same_row = each.end_location.row == each.location.row
    end = min(each.end_location.column - 1, len(line)) if same_row else len(line.rstrip())
    left = 0
    if len(line) > _WIDTH:
        left = max(0, start - _BEFORE)
    right = min(len(line), left + _WIDTH)
    end = min(max(end, start + 1), max(right, start + 1))
    before, marked, after = line[left:start], line[start:end], line[end:right]
    head, tail = "…" * (left > 0), "…" * (right < len(line))
    shown = head + _expand(before) + _expand(marked) + _expand(after) + tail
    blank = " " * (len(head) + _columns(_expand(before)))
    return shown.rstrip(), blank + "^" * max(1, _columns(_expand(marked)))


def _expand(text: str) -> str:
    return "    ".join(map(printable, text.split("\t")))


def _columns(text: str) -> int:
    """How many columns of a terminal ``text`` takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _plain(text: str, style: str) -> str:
    return text

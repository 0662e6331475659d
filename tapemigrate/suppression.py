"""Suppression comments: which diagnostics they silence, and which of them silence nothing.

``# noqa``, ``# noqa: TM101``, ``# tapemigrate: ignore`` and ``# tapemigrate: ignore[TM101]`` speak
for the row on which a diagnostic begins. Where no comment can stand on that row, because it ends in
a string or in a backslash, they stand on the next row that can hold one.
``# tapemigrate: ignore-file`` and ``# tapemigrate: ignore-file[TM101]``, on a row of their own,
speak for the whole file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from tapemigrate.model import Diagnostic, Edit, Fix, Position
from tapemigrate.patterns import late
from tapemigrate.settings import ALWAYS_REPORTED
from tapemigrate.source.positions import Lines

# Strings are matched only to be stepped over: a comment sign inside one starts no comment.
_TOKEN = late(
    r'"""[^\\"]*(?:(?:\\.|"(?!""))[^\\"]*)*(?:"""|\Z)'
    r"|'''[^\\']*(?:(?:\\.|'(?!''))[^\\']*)*(?:'''|\Z)"
    r'|"[^\\"\r\n]*(?:\\(?:\r\n|.)[^\\"\r\n]*)*"?'
    r"|'[^\\'\r\n]*(?:\\(?:\r\n|.)[^\\'\r\n]*)*'?"
    r"|(?P<comment>#[^\r\n]*)"
    r"|\\(?:\r\n|\r|\n)",
    re.DOTALL,
)
_CODES = r"[A-Za-z]+[0-9]+(?:[ \t]*[, \t][ \t]*[A-Za-z]+[0-9]+)*"
_SUPPRESSION = late(
    rf"#[ \t]*(?:(?P<noqa>[nN][oO][qQ][aA])(?:[ \t]*:[ \t]*(?P<noqa_codes>{_CODES}))?(?![\w:-])"
    r"|tapemigrate:[ \t]*ignore(?P<file>-file)?"
    rf"(?:\[[ \t]*(?P<codes>{_CODES})?[ \t]*\])?(?![\w\[]))"
)
_CODE = late(r"[A-Za-z]+[0-9]+")


@dataclass(slots=True)
class _Comment:
    """One suppression. ``codes`` is None where it speaks for all of them."""

    row: int
    column: int
    end_column: int
    noqa: bool
    whole_file: bool
    codes: tuple[str, ...] | None
    used: set[str] = field(default_factory=set)


class Suppressions:
    """The suppression comments of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._by_row: dict[int, list[_Comment]] = {}
        self._whole_file: list[_Comment] = []
        self._continued: dict[int, int] | None = None
        if _may_suppress(text):
            self._read()

    def comment_row(self, row: int) -> int:
        """The row on which a comment for ``row`` has to stand."""
        if self._continued is None:
            self._read()
        assert self._continued is not None
        while row in self._continued:
            row = self._continued[row]
        return row

    def covers(self, code: str, row: int) -> bool:
        """Whether a finding of ``code`` that begins on ``row`` is silenced. Marks who does it."""
        if code in ALWAYS_REPORTED:
            return False
        covered = False
        on_row = self._by_row.get(self.comment_row(row), ()) if self._by_row else ()
        for comment in (*on_row, *self._whole_file):
            if comment.codes is None or code in comment.codes:
                comment.used.add(code)
                covered = True
        return covered

    def unused(self, filename: str) -> list[Diagnostic]:
        """A TM910 for every suppression of which some part has silenced nothing so far.

        A bare ``# noqa`` and codes of other tools are none of ours.
        """
        found = []
        comments = [each for row in self._by_row.values() for each in row] + self._whole_file
        for comment in sorted(comments, key=lambda each: (each.row, each.column)):
            if comment.codes is None:
                if comment.noqa or comment.used:
                    continue
                idle: tuple[str, ...] = ()
            else:
                idle = tuple(
                    code
                    for code in comment.codes
                    if code not in comment.used and (code.startswith("TM") or not comment.noqa)
                )
                if not idle:
                    continue
            found.append(self._report(comment, idle, filename))
        return found

    def _report(self, comment: _Comment, idle: tuple[str, ...], filename: str) -> Diagnostic:
        start = Position(comment.row, comment.column + 1)
        end = Position(comment.row, comment.end_column + 1)
        kept = [code for code in comment.codes or () if code not in idle]
        if not kept:
            content = ""
        elif comment.noqa:
            content = f"# noqa: {', '.join(kept)}"
        else:
            content = f"# tapemigrate: ignore{'-file' * comment.whole_file}[{', '.join(kept)}]"
        what = " and ".join(idle) if idle else "anything"
        return Diagnostic(
            code="TM910",
            message=f"this suppression does not suppress {what}",
            filename=filename,
            location=start,
            end_location=end,
            help="Remove it.",
            fix=Fix(
                "safe", "remove the unused suppression", (Edit(filename, start, end, content),)
            ),
        )

    def with_noqa(self, found: Iterable[Diagnostic]) -> str:
        """The text with a ``# noqa`` for everything in ``found``.

        Codes are added to a ``# noqa`` with codes that stands there already.
        """
        codes_by_row: dict[int, dict[str, None]] = {}
        for each in found:
            codes_by_row.setdefault(self.comment_row(each.location.row), {})[each.code] = None
        lines = Lines(self._text)
        text = self._text
        for row in sorted(codes_by_row, reverse=True):
            codes = list(codes_by_row[row])
            line = lines.row(row)
            mine = next((c for c in self._by_row.get(row, ()) if c.noqa and c.codes), None)
            if mine is None:
                start, end = len(line.rstrip()), len(line.rstrip("\r\n"))
                content = f"  # noqa: {', '.join(codes)}"
            else:
                start, end = mine.column, mine.end_column
                content = f"# noqa: {', '.join(dict.fromkeys([*(mine.codes or ()), *codes]))}"
            offset = lines.offset(row, 0)
            text = text[: offset + start] + content + text[offset + end :]
        return text

    def _read(self) -> None:
        lines = Lines(self._text)
        starts = [lines.offset(row, 0) for row in range(1, len(lines) + 1)]
        row = 1
        self._continued = {}
        self._by_row.clear()
        self._whole_file.clear()
        for token in _TOKEN.finditer(self._text):
            comment = token["comment"]
            if comment is None:
                first = bisect_right(starts, token.start())
                last = bisect_right(starts, token.end())
                self._continued.update(dict.fromkeys(range(first, last), last))
                continue
            if not _may_suppress(comment):
                continue
            while row < len(starts) and starts[row] <= token.start():
                row += 1
            column = token.start() - starts[row - 1]
            alone = not lines.row(row)[:column].strip()
            for match in _SUPPRESSION.finditer(comment):
                listed = match["noqa_codes"] or match["codes"]
                found = _Comment(
                    row,
                    column + match.start(),
                    column + match.end(),
                    match["noqa"] is not None,
                    match["file"] is not None,
                    tuple(_CODE.findall(listed.upper())) if listed else None,
                )
                if not found.whole_file:
                    self._by_row.setdefault(row, []).append(found)
                elif alone:
                    self._whole_file.append(found)


def _may_suppress(text: str) -> bool:
    """Whether there may be a suppression in the text, told quickly."""
    return "tapemigrate:" in text or "noqa" in text.lower()


def remove(text: str, unused: Iterable[Diagnostic]) -> str:
    """``text`` without its unused suppressions (the TM910 of ``Suppressions.unused``).

    Every row stays a row and all code keeps its place, so that a plan made for ``text`` still
    holds for the result.
    """
    lines = Lines(text)
    edits = [edit for each in unused if each.fix for edit in each.fix.edits]
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        start = lines.offset(edit.start.row, edit.start.column - 1)
        end = lines.offset(edit.end.row, edit.end.column - 1)
        rest = text[end:]
        if not edit.content and (rest[:1] in ("", "\r", "\n")):
            while start and text[start - 1] in " \t":
                start -= 1
        text = text[:start] + edit.content + rest
    return text

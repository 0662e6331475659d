"""Unified diffs of texts of any size."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapemigrate.source import SourceFile

# ``difflib`` takes quadratic time, so it only sees what lies between two anchors, up to this many
# pairs of lines. A larger stretch is shown as replaced whole: a longer diff, never a wrong one.
_MOST_PAIRS = 1_000_000


def texts(old: SourceFile, new: SourceFile) -> Iterator[tuple[str, str, str]]:
    """What is to be compared, by name: two files, or the cells of a notebook that differ."""
    if old.notebook is None or new.notebook is None:
        yield old.filename, old.text, new.text
        return
    for before, after in zip(old.notebook.cells, new.notebook.cells, strict=True):
        if before.text != after.text:
            # That the last line of a cell has no newline is no news.
            name = f"{old.filename}:cell {before.number}"
            yield name, f"{before.text}\n", f"{after.text}\n"


def unified(old: str, new: str, name: str) -> Iterator[str]:
    """The lines of the unified diff, each with its newline. They keep CRLF and lone CR."""
    before, after = _lines(old), _lines(new)
    groups = _Matcher(before, after).get_grouped_opcodes(3)
    for number, group in enumerate(groups):
        if number == 0:
            yield f"--- {name}\n"
            yield f"+++ {name}\n"
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, a_start, a_end, b_start, b_end in group:
            if tag == "equal":
                yield from _marked(" ", before[a_start:a_end])
                continue
            yield from _marked("-", before[a_start:a_end])
            yield from _marked("+", after[b_start:b_end])


def _lines(text: str) -> list[str]:
    """Lines as ``patch`` and git have them: they end at line feeds only."""
    return io.StringIO(text, newline="\n").readlines()


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line
        else:
            yield f"{mark}{line}\n"
            yield "\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


class _Matcher(SequenceMatcher[str]):
    """Finds equal lines by way of those that are unique on both sides ("patience diff")."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, "", "", autojunk=False)
        self._before = before
        self._after = after

    def get_matching_blocks(self) -> list[Match]:
        a, b = self._before, self._after
        start = 0
        shorter = min(len(a), len(b))
        while start < shorter and a[start] == b[start]:
            start += 1
        tail = 0
        while tail < shorter - start and a[-1 - tail] == b[-1 - tail]:
            tail += 1
        a_end, b_end = len(a) - tail, len(b) - tail
        pairs = [(row, row, 1) for row in range(start)]
        i, j = start, start
        for next_i, next_j in [*_anchors(a, b, start, a_end, b_end), (a_end, b_end)]:
            pairs.extend(_between(a, b, i, next_i, j, next_j))
            if next_i < a_end:
                pairs.append((next_i, next_j, 1))
            i, j = next_i + 1, next_j + 1
        pairs.extend((a_end + row, b_end + row, 1) for row in range(tail))
        return [*_joined(pairs), Match(len(a), len(b), 0)]


def _anchors(
    a: Sequence[str], b: Sequence[str], start: int, a_end: int, b_end: int
) -> list[tuple[int, int]]:
    """Pairs of equal lines that are unique on both sides, as many as keep one order."""
    a_counts, b_counts = Counter(a[start:a_end]), Counter(b[start:b_end])
    places = {b[j]: j for j in range(start, b_end) if b_counts[b[j]] == 1}
    candidates = [
        (i, places[a[i]]) for i in range(start, a_end) if a_counts[a[i]] == 1 and a[i] in places
    ]
    # The longest rising run of the places in ``b``.
    ends: list[int] = []
    tops: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(candidates):
        position = bisect_left(ends, j)
        previous.append(tops[position - 1] if position else -1)
        if position == len(ends):
            ends.append(j)
            tops.append(index)
        else:
            ends[position] = j
            tops[position] = index
    chosen = []
    index = tops[-1] if tops else -1
    while index >= 0:
        chosen.append(candidates[index])
        index = previous[index]
    return chosen[::-1]


def _between(
    a: Sequence[str], b: Sequence[str], i: int, a_end: int, j: int, b_end: int
) -> Iterator[tuple[int, int, int]]:
    if i >= a_end or j >= b_end or (a_end - i) * (b_end - j) > _MOST_PAIRS:
        return
    matcher = SequenceMatcher(None, a[i:a_end], b[j:b_end], autojunk=False)
    for block in matcher.get_matching_blocks():
        if block.size:
            yield i + block.a, j + block.b, block.size


def _joined(pairs: Sequence[tuple[int, int, int]]) -> Iterator[Match]:
    """Blocks that touch become one, as ``get_opcodes`` expects."""
    i = j = size = 0
    for next_i, next_j, next_size in pairs:
        if next_i == i + size and next_j == j + size:
            size += next_size
            continue
        if size:
            yield Match(i, j, size)
        i, j, size = next_i, next_j, next_size
    if size:
        yield Match(i, j, size)

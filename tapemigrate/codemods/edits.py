"""What changed between two texts, as edits of whole lines."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from tapemigrate.model import Position

# ``difflib`` takes time that grows with the square of what it compares.
_MAX_LINES = 2_000

# Lines low to high (not included) of the old text, and what they become of the new one.
_Change = tuple[int, int, int, int]


def edits(old: str, new: str) -> list[tuple[Position, Position, str]]:
    """The edits that turn ``old`` into ``new``: from, up to, and the text that goes there.

    They replace, insert and delete whole lines, in the order of the text, with an unchanged line at
    least between two of them. Rows end at CRLF, LF or a lone CR.
    """
    before, after = _lines(old), _lines(new)
    return [
        (_position(before, low), _position(before, high), "".join(after[new_low:new_high]))
        for low, high, new_low, new_high in _changes(before, after)
    ]


def _changes(before: list[str], after: list[str]) -> Iterator[_Change]:
    low = new_low = 0
    for high, new_high in [*_anchors(before, after), (len(before), len(after))]:
        while low < high and new_low < new_high and before[low] == after[new_low]:
            low, new_low = low + 1, new_low + 1
        end, new_end = high, new_high
        while low < end and new_low < new_end and before[end - 1] == after[new_end - 1]:
            end, new_end = end - 1, new_end - 1
        if end - low + new_end - new_low > _MAX_LINES:
            yield low, end, new_low, new_end
        elif low < end or new_low < new_end:
            matcher = SequenceMatcher(None, before[low:end], after[new_low:new_end], autojunk=False)
            for kind, i, j, k, m in matcher.get_opcodes():
                if kind != "equal":
                    yield low + i, low + j, new_low + k, new_low + m
        low, new_low = high, new_high


def _anchors(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Pairs of equal lines that are unique in both texts, the most that keep their order."""
    old_counts, new_counts = Counter(before), Counter(after)
    places = {line: k for k, line in enumerate(after) if new_counts[line] == 1}
    pairs = [
        (k, places[line])
        for k, line in enumerate(before)
        if line in places and old_counts[line] == 1
    ]
    # The longest increasing subsequence, by the piles of patience sorting.
    tops: list[int] = []
    piles: list[int] = []
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        previous.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            piles.append(index)
        else:
            tops[pile], piles[pile] = place, index
    chosen = []
    index = piles[-1] if piles else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = previous[index]
    return chosen[::-1]


def _position(lines: list[str], row: int) -> Position:
    """The place behind the first ``row`` lines."""
    if row == len(lines) and lines and not lines[-1].endswith(("\n", "\r")):
        return Position(row, len(lines[-1]) + 1)
    return Position(row + 1, 1)


def _lines(text: str) -> list[str]:
    return io.StringIO(text, newline="").readlines()

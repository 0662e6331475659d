"""The difference of two texts as edits of lines."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tapemigrate.codemods import edits
from tapemigrate.model import Position
from tapemigrate.source.positions import Lines


def applied(old: str, changes: list[tuple[Position, Position, str]]) -> str:
    lines = Lines(old)
    for start, end, content in reversed(changes):
        low, high = lines.offset(start.row, start.column - 1), lines.offset(end.row, end.column - 1)
        old = old[:low] + content + old[high:]
    return old


def test_equal_texts_have_no_edits() -> None:
    assert edits("a\n", "a\n") == []
    assert edits("", "") == []


def test_each_change_is_an_edit_of_its_own() -> None:
    assert edits("a\nb\nc\nd\ne", "a\nB\nc\nd\nd2\nE") == [
        (Position(2, 1), Position(3, 1), "B\n"),
        (Position(5, 1), Position(5, 2), "d2\nE"),
    ]


def test_insertions_and_deletions_are_empty_on_one_side() -> None:
    assert edits("a\r\nb\r\n", "a\r\nx\r\nb\r\n") == [(Position(2, 1), Position(2, 1), "x\r\n")]
    assert edits("a\rb\rc\r", "a\rc\r") == [(Position(2, 1), Position(3, 1), "")]
    assert edits("", "a\n") == [(Position(1, 1), Position(1, 1), "a\n")]


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\r", "x"])).map("".join)


@settings(max_examples=200)
@given(texts, texts)
def test_the_edits_lead_to_the_new_text(old: str, new: str) -> None:
    changes = edits(old, new)
    assert applied(old, changes) == new
    for (_, end, _), (start, _, _) in pairwise(changes):
        assert end < start


def test_long_texts_are_cheap() -> None:
    old = [f"x{k} = {k}\n" if k % 3 else "pass\n" for k in range(60_000)]
    new = [line for k, line in enumerate(old) if k % 6_000] + ["end\n"]
    start = time.process_time()
    changes = edits("".join(old), "".join(new))
    assert time.process_time() - start < 5
    assert len(changes) == 11

"""Unified diffs: applied again, they give the new text."""

from __future__ import annotations

import difflib
import re

from hypothesis import given
from hypothesis import strategies as st

from tapemigrate.command.differences import unified

texts = st.lists(st.sampled_from(["a", "b", "c\r", "d\x0c", "e", "f"]), max_size=30).flatmap(
    lambda rows: st.sampled_from(["\n".join(rows), "".join(f"{row}\n" for row in rows)])
)


def patched(old: str, diff: list[str]) -> str:
    """``old`` with the hunks of ``diff`` applied: what ``patch`` does."""
    rows = re.findall(r"[^\n]*\n|[^\n]+\Z", old)
    result: list[str] = []
    position = 0
    marked = ""
    for line in diff[2:]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            result += rows[position:start]
            position = start
        elif line.startswith("\\"):
            if marked in ("+", " "):
                result[-1] = result[-1].removesuffix("\n")
        else:
            marked = line[0]
            if marked in " -":
                assert rows[position].removesuffix("\n") == line[1:].removesuffix("\n")
                position += 1
            if marked in " +":
                result.append(line[1:])
    return "".join(result + rows[position:])


@given(texts, texts)
def test_the_diff_gives_the_new_text(old: str, new: str) -> None:
    assert patched(old, list(unified(old, new, "f.py"))) == new


def test_equal_texts_have_no_diff() -> None:
    assert not list(unified("a\n", "a\n", "f.py"))


def test_it_reads_like_that_of_the_standard_library() -> None:
    old = "".join(f"{row}\n" for row in range(40))
    new = old.replace("7\n", "seven\n", 1).replace("30\n", "thirty\nmore\n")
    expected = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "f.py", "f.py")
    assert list(unified(old, new, "f.py")) == list(expected)


def test_a_large_text_takes_no_quadratic_time() -> None:
    old = "".join(f"g{row} = tf.gradients(y, x)\n" for row in range(60_000))
    new = "import x\n" + old.replace("tf.gradients", "tape.gradient")
    assert patched(old, list(unified(old, new, "f.py"))) == new

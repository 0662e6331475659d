"""Suppression comments: whom they speak for, and which are idle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapemigrate.model import Diagnostic, Position
from tapemigrate.source import Lines
from tapemigrate.suppression import Suppressions, remove


@pytest.mark.parametrize(
    ("comment", "covered"),
    [
        ("# noqa", True),
        ("#noqa", True),
        ("# NOQA", True),
        ("# noqa: TM101", True),
        ("# noqa:tm101", True),
        ("# noqa: E501,TM101", True),
        ("# noqa: E501 TM101", True),
        ("# type: ignore  # noqa: TM101", True),
        ("# tapemigrate: ignore", True),
        ("# tapemigrate: ignore[TM101]", True),
        ("# tapemigrate: ignore[TM102, TM101]", True),
        ("# noqa: TM102", False),
        ("# noqa: E501", False),
        ("# noqatall", False),
        ("+ 'a'  # noqa", True),
        ('+ "a"  # noqa', True),
        ("# noqa-file", False),
        ("# tapemigrate: ignore[TM102]", False),
        ("# tapemigrate: ignored", False),
        ("# tapemigrate: ignore-file[TM101]", False),  # not on a row of its own
        ("'# noqa'", False),
        ("'''# noqa", False),
        ("'\\'# noqa'", False),
    ],
)
def test_whom_a_comment_speaks_for(comment: str, covered: bool) -> None:
    suppressions = Suppressions(f"a\nx = 1  {comment}\nb\n")
    assert suppressions.covers("TM101", 2) is covered
    assert not suppressions.covers("TM101", 1)
    assert not suppressions.covers("TM101", 3)


def test_a_whole_file() -> None:
    suppressions = Suppressions("# tapemigrate: ignore-file[TM101]\na\n")
    assert suppressions.covers("TM101", 2)
    assert not suppressions.covers("TM102", 2)
    assert Suppressions("a\n  # tapemigrate: ignore-file\n").covers("TM904", 1)


def test_what_keeps_a_file_from_being_analysed_is_never_silenced() -> None:
    suppressions = Suppressions("x  # noqa\n")
    assert not suppressions.covers("TM901", 1)


def test_strings_are_stepped_over_at_every_newline() -> None:
    text = "x = '''\r\n# noqa\r\n'''\ry = \"a\\\r\n# noqa\"  # noqa\n"
    suppressions = Suppressions(text)
    assert [row for row in range(1, 6) if suppressions.covers("TM101", row)] == [4, 5]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("x = 1  # noqa: TM102", "x = 1"),
        ("x = 1  # noqa: TM101, TM102", "x = 1  # noqa: TM101"),
        ("x = 1  # noqa: TM102, E501", "x = 1  # noqa: E501"),
        ("x = 1  # noqa: TM102  # pylint: disable=all", "x = 1    # pylint: disable=all"),
        ("x = 1  # tapemigrate: ignore[TM102, TM101]", "x = 1  # tapemigrate: ignore[TM101]"),
        ("# tapemigrate: ignore-file[TM102]", ""),
        ("# tapemigrate: ignore-file[TM102, TM101]", "# tapemigrate: ignore-file[TM101]"),
        ("x = 1  # noqa", "x = 1  # noqa"),
        ("x = 1  # noqa: E501", "x = 1  # noqa: E501"),
        ("x = 1  # noqa: TM101", "x = 1  # noqa: TM101"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", ""])
def test_idle_parts_are_reported_and_removed(line: str, after: str, newline: str) -> None:
    text = f"é = 'ß'\n{line}{newline}"
    suppressions = Suppressions(text)
    suppressions.covers("TM101", 2)
    unused = suppressions.unused("f.py")
    assert [each.code for each in unused] == (["TM910"] if line != after else [])
    assert remove(text, unused) == f"é = 'ß'\n{after}{newline}"


def test_an_ignore_that_silences_nothing_at_all() -> None:
    text = "x = 1  # tapemigrate: ignore\n"
    unused = Suppressions(text).unused("f.py")
    assert unused[0].message == "this suppression does not suppress anything"
    assert remove(text, unused) == "x = 1\n"


@pytest.mark.parametrize(
    ("text", "row", "comment_row"),
    [
        ("x = 1\n", 1, 1),
        ("x = f('a'\n)  # noqa: TM101\n", 1, 1),
        ('x = f("""\na\n""")\n', 1, 3),
        ("x = f('''\n''') + g('''\n''')\ny\n", 1, 3),
        ("x = 1 + \\\n  2 + \\\r\n  3\ny\n", 1, 3),
        ("x = 'a\\\n  b'\ny\n", 1, 2),
        ("x = 'a'  # \\\ny\n", 1, 1),
        ("x = '''\n'''\ny\n", 3, 3),
    ],
)
def test_where_the_comment_for_a_row_stands(text: str, row: int, comment_row: int) -> None:
    assert Suppressions(text).comment_row(row) == comment_row
    rows = text.splitlines(keepends=True)
    rows[comment_row - 1] = rows[comment_row - 1].rstrip("\r\n") + "  # noqa: TM101\n"
    assert Suppressions("".join(rows)).covers("TM101", row)


def diagnostic(code: str, row: int) -> Diagnostic:
    return Diagnostic(code, "m", "f.py", Position(row, 1), Position(row, 2))


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("g(y, x)", "g(y, x)  # noqa: TM101, TM204"),
        ("g(y, x)  \t", "g(y, x)  # noqa: TM101, TM204"),
        ("g(y, x)  # slope", "g(y, x)  # slope  # noqa: TM101, TM204"),
        ("g(y, x)  # noqa: E501", "g(y, x)  # noqa: E501, TM101, TM204"),
        ("g(y, x)  # noqa:e501  # why", "g(y, x)  # noqa: E501, TM101, TM204  # why"),
        ("g(y, x)  # noqa: TM204", "g(y, x)  # noqa: TM204, TM101"),
        (
            "g(y, x)  # tapemigrate: ignore[TM102]",
            "g(y, x)  # tapemigrate: ignore[TM102]  # noqa: TM101, TM204",
        ),
        ("g('''\n  ''', x)", "g('''\n  ''', x)  # noqa: TM101, TM204"),
        ("g(y, \\\n  x)", "g(y, \\\n  x)  # noqa: TM101, TM204"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "end"])
def test_a_comment_is_added_where_it_silences(
    line: str, after: str, newline: str, end: str
) -> None:
    before, expected = (
        f"é = 'ß'\n{each}{end and chr(10)}".replace("\n", newline) for each in (line, after)
    )
    found = [diagnostic("TM101", 2), diagnostic("TM204", 2)]
    silenced = Suppressions(before).with_noqa(found)
    assert silenced == expected
    suppressions = Suppressions(silenced)
    assert suppressions.covers("TM101", 2)
    assert suppressions.covers("TM204", 2)


def test_comments_on_several_rows() -> None:
    found = [diagnostic("TM101", 1), diagnostic("TM102", 3)]
    text = Suppressions("a\nb\nc\n").with_noqa(found)
    assert text == "a  # noqa: TM101\nb\nc  # noqa: TM102\n"


@given(st.text("#noqa: TM1'\"\\\n\r\t[]tapemigrate:gnore-fl,", max_size=80))
def test_any_text_is_read_and_keeps_its_rows(text: str) -> None:
    unused = Suppressions(text).unused("f.py")
    after = remove(text, unused)
    assert len(Lines(after + "x")) == len(Lines(text + "x"))
    assert not [each for each in Suppressions(after).unused("f.py") if not each.fix]

"""Decoding, parsing and positions, held against Python's own reading of the same bytes."""

from __future__ import annotations

import ast
import codecs
import contextlib
import io
import sys
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapemigrate.source import Lines, SourceError, SourceFile, decode, encode, parse
from tapemigrate.source.decoding import hides_ascii

COOKIES = [
    (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "é"),
    (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", "€"),
    (b"# coding: utf-8\nx = '\xc3\xa9'\n", "é"),
    (b"# coding=utf8\r\nx = '\xc3\xa9'\r\n", "é"),
    (b"\xef\xbb\xbf# coding: utf-8\nx = '\xc3\xa9'\n", "é"),
    (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "é"),
    (b"\n# coding: koi8-r\nx = '\xc1'\n", "а"),
    (b"# coding: shift_jis\nx = '\x82\xa0'\n", "あ"),
    (b"x = '\xc3\xa9'\n# coding: latin-1\n", "é"),
    (b"\n\n# coding: latin-1\nx = '\xc3\xa9'\n", "é"),
]


@pytest.mark.parametrize(("data", "character"), COOKIES)
def test_decodes_as_python_does_and_back(data: bytes, character: str) -> None:
    file = decode(data, "f.py")
    assert character in file.text
    assert ast.dump(ast.parse(data)) == ast.dump(parse(file.text, "f.py"))
    assert encode(file, file.text) == data


@pytest.mark.parametrize(
    ("data", "row", "column", "word"),
    [
        (b"x = 1\ny = '\xe9'\n", 2, 6, "0xe9"),
        (b"# coding: ascii\rx = '\xc3'\r", 2, 6, "0xc3"),
        (b"# coding: no-such\nx = 1\n", 1, 1, "no-such"),
        (b"\n# coding: hex\n", 2, 1, "hex"),
        ("x = 1".encode("utf-16"), 1, 1, "UTF-16"),
        ("x = 1".encode("utf-32"), 1, 1, "UTF-32"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", 1, 1, "signature"),
        # Stateful: the two escapes say nothing, and would be lost.
        (b"# coding: iso-2022-jp\nx = '\x1b$B\x1b(B'\n", 1, 1, "bytes would change"),
    ],
)
def test_what_cannot_be_decoded_is_told_with_its_place(
    data: bytes, row: int, column: int, word: str
) -> None:
    with pytest.raises(SourceError, match=word) as caught:
        decode(data, "f.py")
    assert (caught.value.code, caught.value.row, caught.value.column) == ("TM903", row, column)


@given(st.binary(max_size=60))
def test_any_bytes_decode_and_come_back_or_are_refused(tail: bytes) -> None:
    for head in (b"", b"# coding: cp1252\n", b"# coding: utf-7\n", codecs.BOM_UTF8):
        with contextlib.suppress(SourceError):
            file = decode(head + tail, "f.py")
            assert encode(file, file.text) == head + tail


def test_what_an_encoding_has_no_bytes_for_is_told_with_its_place() -> None:
    file = SourceFile("f.py", "", "ascii")
    with pytest.raises(SourceError, match="cannot be written in ascii") as caught:
        encode(file, "a\nb = 'é'\n")
    assert (caught.value.row, caught.value.column) == (2, 6)


@pytest.mark.parametrize(
    ("data", "hidden"),
    [
        (b"tf.gradients", False),
        ("tf.gradients".encode("utf-16"), True),
        ("tf.gradients".encode("utf-16-le"), True),
        (b"# coding: utf-7\n", True),
        (b"# coding: cp037\n", True),
        (b"# coding: latin-1\n", False),
        (b"# coding: no-such\n", False),
        (b"x = 'coding: utf-7'\n", False),
    ],
)
def test_knows_where_names_may_hide(data: bytes, hidden: bool) -> None:
    assert hides_ascii(data) is hidden


@pytest.mark.parametrize(
    ("text", "code", "row"),
    [
        ("x = 1\nprint 'a'\n", "TM902", 2),
        ("try:\n    pass\nexcept A, e:\n    pass\n", "TM902", 3),
        ("raise A, 'b'\n", "TM902", 1),
        ("exec code\n", "TM902", 1),
        ("x = a <> b\n", "TM902", 1),
        ("x = `a`\n", "TM902", 1),
        ("x = 0777\n", "TM902", 1),
        ("x = 10L\n", "TM902", 1),
        ("x = ur'a'\n", "TM902", 1),
        ("def f(a, (b, c)):\n    pass\n", "TM902", 1),
        ("f = lambda (a, b): a\n", "TM902", 1),
        ("#!/usr/bin/python2\nif x:\ny\n", "TM902", 3),
        ("x = (\n", "TM901", 1),
        ("def f(a=(1, 2):\n    pass\n", "TM901", 1),
        ("x = 1\ny = 'a\n", "TM901", 2),
        ("if x:\n\ty\n        z\n", "TM901", 3),
        ("if x:\n    y\n  z\n", "TM901", 3),
        ("x = 1\r\n\0\r\n", "TM901", 2),
        ("x = 1\ry = (\r", "TM901", 2),
        ("x = " + "(" * 300 + ")" * 300, "TM901", 1),
        ("\ufeffx", "TM901", 1),
        ("x = '\ud800'\n", "TM901", 1),
    ],
)
def test_what_does_not_parse_is_told_with_its_row(text: str, code: str, row: int) -> None:
    with pytest.raises(SourceError) as caught:
        parse(text, "f.py")
    assert (caught.value.code, caught.value.row) == (code, row)
    assert "\n" not in caught.value.message


def test_no_warning_is_printed_for_other_peoples_escapes(recwarn: pytest.WarningsRecorder) -> None:
    parse(r"x = '\d'", "f.py")
    assert not recwarn.list


newlines = st.sampled_from(["\n", "\r\n", "\r"])
statements = st.sampled_from(
    [
        "x = f(é, 'ü')",
        "y = '€' + a.b(c)",
        "pass",
        "",
        "# ß",
        "z = '''a\x0cb\x0b\x85\u2028'''",
        "\x0c",
    ]
)


@given(st.lists(st.tuples(statements, newlines), max_size=8))
def test_segments_are_those_of_the_standard_library(rows: list[tuple[str, str]]) -> None:
    text = "".join(statement + newline for statement, newline in rows)
    lines = Lines(text)
    for node in ast.walk(parse(text, "f.py")):
        if isinstance(node, ast.expr | ast.stmt):
            span = lines.span(node)
            segment = lines.segment(span)
            start = lines.offset(span.row, span.column)
            assert text[start : start + len(segment)] == segment
            # Python's own helper turns every newline into a line feed.
            plain = segment.replace("\r\n", "\n").replace("\r", "\n")
            expected = ast.get_source_segment(text.replace("\r\n", "\n").replace("\r", "\n"), node)
            if not isinstance(node, ast.Constant) and "\x0c" not in text and "\x0b" not in text:
                assert plain == expected
            if isinstance(node, ast.Name):
                assert segment == node.id


def test_rows_are_those_of_the_tokenizer() -> None:
    text = "a = 1\nb = '''\x0c\n'''\n\x0c\nc = 2\n"
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    names = {each.string: each.start for each in tokens if each.type == tokenize.NAME}
    lines = Lines(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            span = lines.span(node)
            assert names[node.id] == (span.row, span.column)


def test_a_long_line_of_wide_characters_is_fast() -> None:
    text = "x = [" + "é, " * 50_000 + "]\n"
    lines = Lines(text)
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    assert all(lines.segment(lines.span(node)) == node.id for node in names)


def test_a_node_from_nowhere_has_no_span() -> None:
    with pytest.raises(ValueError, match="no end position"):
        Lines("x").span(ast.Name("x", ast.Load(), lineno=1, col_offset=0))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is newer")
def test_new_syntax_parses() -> None:
    parse("type A[T] = list[T]\ndef f[T](x: T) -> T: return x\n", "f.py")

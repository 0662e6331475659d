"""Which statements are parsed for a change, and what stands around them."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.codemods import apply
from tapemigrate.codemods.chunks import chunks
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import AddParameter, Insert, Op, ReplaceStatement, Wrap

MODEL = """\
a = 1


class Model(Base):
    # above

    rate = 0.1  # kept

    @property
    # between
    def one(self):
        x = self.x
        y = f(x)
            # deeper
        # below
# at the margin

    def two(self):
        def inner():
            return '''
in a string
'''
# at the margin
        y = inner(); z = y
        return z"""
CHANGED = """\
a = 1


class Model(Base):
    # above

    rate = 0.1  # kept

    @property
    # between
    def one(self):
        x = self.x
        with tape:
            y = f(x)
            # deeper
        # below
# at the margin

    def two(self, tape):
        def inner():
            return '''
in a string
'''
# at the margin
        y = inner()
        with tape:
            z = y
        return z"""


def span_of(text: str, start: str) -> Span:
    lines = Lines(text)
    spans = [lines.span(n) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt)]
    return next(span for span in spans if lines.segment(span).startswith(start))


def wrapped(text: str, start: str) -> Wrap:
    return Wrap(span_of(text, start), span_of(text, start), "with tape:")


def found(text: str, op: Op) -> list[tuple[str, int, int]]:
    touched = chunks(ast.parse(text), [op], Lines(text))
    return [(type(each.owner).__name__, each.row, each.end_row) for each in touched]


def test_a_statement_of_a_class_is_parsed_alone() -> None:
    assert found(MODEL, wrapped(MODEL, "y = f(x)")) == [("ClassDef", 9, 13)]
    assert found(MODEL, wrapped(MODEL, "z = y")) == [("ClassDef", 18, 25)]
    assert found(MODEL, wrapped(MODEL, "rate = 0.1")) == [("ClassDef", 7, 7)]


def test_what_the_class_itself_needs_takes_all_of_it() -> None:
    whole = span_of(MODEL, "class Model")
    for op in (
        ReplaceStatement(span_of(MODEL, "rate = 0.1"), ""),
        Insert(whole, "body", "b = 2"),
        Insert(whole, "before", "b = 2"),
    ):
        assert found(MODEL, op) == [("Module", 4, 25)]


@pytest.mark.parametrize("text", ["class A: x = 1; y = x\n", "class A(\n    B): x = 1; y = x\n"])
def test_a_class_without_a_block_is_parsed_whole(text: str) -> None:
    op = wrapped(text, "y = x")
    assert found(text, op)[0][:2] == ("Module", 1)
    assert apply(text, ast.parse(text), [op]).endswith("x = 1\n    with tape:\n        y = x\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("indent", ["    ", "  ", "\t"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n# end"])
def test_what_stands_around_stays(newline: str, indent: str, end: str) -> None:
    def laid_out(source: str) -> str:
        return (source.replace("    ", indent) + end).replace("\n", newline)

    text = laid_out(MODEL)
    ops = [
        wrapped(text, "y = f(x)"),
        AddParameter(span_of(text, "def two"), "tape"),
        wrapped(text, "z = y"),
    ]
    assert apply(text, ast.parse(text), ops) == laid_out(CHANGED)

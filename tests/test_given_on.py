"""What a name gives on in the next row: read as one statement, and written as two."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.codemods import CodemodError, apply
from tapemigrate.source.apart import apart
from tapemigrate.source.given_on import join_given_on
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, ReplaceStatement, Wrap

PAIR = """\
def f(self, x):
    h = (
        tf.square(x)
    )
    self.h = h  # kept
    return h
"""


def joined(body: str) -> list[str]:
    text = f"def f(self, x, y):\n{body}"
    tree = ast.parse(text)
    join_given_on(tree, text)
    return ast.unparse(tree.body[0].body).split("\n")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "one"),
    [
        ("    h = tf.square(x)\n    self.h = h\n", "self.h = h = tf.square(x)"),
        ("    h = x\n    a.b.c = h\n", "a.b.c = h = x"),
        ("    h = [x]\n    found = h\n", "found = h = [x]"),
        ("    h = x + 1\n    a = h\n    b = a\n", "b = a = h = x + 1"),
        ("    a = h = x + 1\n    b = h\n", "b = a = h = x + 1"),
        ("    if x:\n        h = x + 1\n        b = h\n", "    b = h = x + 1"),
    ],
)
def test_one_statement(body: str, one: str) -> None:
    assert joined(body)[-1] == one


@pytest.mark.parametrize(
    "body",
    [
        "    h = x + 1\n    y += h\n",
        "    h = x + 1\n    y = h + 1\n",
        "    h = x + 1\n    x = y\n    y = h\n",
        "    h = x + 1\n    y[0] = h\n",
        "    h = x + 1\n    y, z = h\n",
        "    h = x + 1\n    h.x = h\n",
        "    h = x + 1; y = h\n",
        "    h = lambda: x\n    y = h\n",
        "    h = tf.gradients(y, x)\n    y = h\n",
        "    h, z = x\n    y = h\n",
    ],
)
def test_two_statements(body: str) -> None:
    assert joined(body) == ast.unparse(ast.parse(f"if 1:\n{body}").body[0].body).split("\n")  # type: ignore[attr-defined]


def test_at_module_level_other_files_have_the_names() -> None:
    text = "h = f(x)\ny = h\n"
    tree = ast.parse(text)
    assert not join_given_on(tree, text)
    assert len(tree.body) == 2


def test_stands_where_the_two_do_and_is_parted_again() -> None:
    tree = ast.parse(PAIR)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    two = [ast.dump(stmt) for stmt in function.body]
    assert join_given_on(tree, PAIR)
    both = function.body[0]
    assert (both.lineno, both.end_lineno) == (2, 5)
    with apart(tree):
        assert [ast.dump(stmt) for stmt in function.body] == two
    assert function.body[0] is both


def test_what_is_written_round_it_goes_round_both() -> None:
    tree = ast.parse(PAIR)
    join_given_on(tree, PAIR)
    span = Span(2, 4, 5, 14)
    ops = [
        Wrap(span, span, "with tape:", "", ""),
        Insert(span, "before", "first()"),
        Insert(span, "after", "tape.watch(self.h)"),
    ]
    written = apply(PAIR, tree, ops)
    assert written == (
        "def f(self, x):\n"
        "    with tape:\n"
        "        first()\n"
        "        h = (\n"
        "            tf.square(x)\n"
        "        )\n"
        "        self.h = h  # kept\n"
        "        tape.watch(self.h)\n"
        "    return h\n"
    )


def test_no_statement_is_written_for_both() -> None:
    tree = ast.parse(PAIR)
    join_given_on(tree, PAIR)
    with pytest.raises(CodemodError, match="no statement at"):
        apply(PAIR, tree, [ReplaceStatement(Span(2, 4, 5, 14), "pass")])
    assert len(tree.body[0].body) == 2  # type: ignore[attr-defined]

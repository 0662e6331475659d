"""Calls that unpack what stands there, or are of a partial: what plain call each is read as."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.source.spelled_out import spell_out_calls

HEAD = "import functools\nimport tensorflow as tf\nfrom functools import partial\n"


def read(call: str) -> str:
    text = HEAD + call
    tree = ast.parse(text)
    spell_out_calls(tree, text)
    return ast.unparse(tree.body[-1])


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        ("f(*[a, b])", "f(a, b)"),
        ("f(a, *(b, c), d)", "f(a, b, c, d)"),
        ("self.f(*[a], k=1)", "self.f(a, k=1)"),
        ("f(**{'x': a})", "f(x=a)"),
        ("f(b, **{'x': a}, k=1)", "f(b, x=a, k=1)"),
        ("partial(f, a)(b)", "f(a, b)"),
        ("functools.partial(f, a, k=1)(b)", "f(a, b, k=1)"),
        ("partial(f, *[a])(*[b])", "f(a, b)"),
        ("g(f(*[a, b]))", "g(f(a, b))"),
    ],
)
def test_is_read_as(call: str, plain: str) -> None:
    assert read(call) == plain


@pytest.mark.parametrize(
    "call",
    [
        "f(*values)",
        "f(*[*values, a] if c else [a])",
        "f(**{name: a})",
        "f(**{**settings})",
        "tf.gradients(*[y, x])",
        "partial(f, a)",
        "partial(f, k=1)(k=2)",
        "partial(f, **settings)(b)",
        "partial(tf.add, a)(b)",
        "mine.partial(f, a)(b)",
    ],
)
def test_stays(call: str) -> None:
    assert read(call) == ast.unparse(ast.parse(call))


def test_nodes_keep_their_places() -> None:
    text = "f(*[a, b], **{'x': c})\n"
    tree = ast.parse(text)
    spell_out_calls(tree, text)
    (stmt,) = tree.body
    assert isinstance(stmt, ast.Expr)
    assert isinstance(stmt.value, ast.Call)
    places = [each.col_offset for each in (*stmt.value.args, *stmt.value.keywords)]
    assert places == [4, 7, 19]

"""Choices that are given to something: read as branches, and written as choices."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.codemods import apply
from tapemigrate.source.branched import branch_choices
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, Wrap

CHOICE = """\
def f(self, x):
    self.h = (tf.square(x) if self.deep
              else tf.sin(x))
    return self.h
"""


def read(row: str) -> str:
    text = f"def f(self, x, y):\n    {row}\n"
    tree = ast.parse(text)
    branch_choices(tree, text)
    return "\n".join(ast.unparse(tree).split("\n    ")[1:])


@pytest.mark.parametrize(
    ("row", "branches"),
    [
        ("z = f(x) if y else g(x)", "if y:\n    z = f(x)\nelse:\n    z = g(x)"),
        (
            "a = b.z = x if y else g(x)",
            "if y:\n    a = b.z = x\nelse:\n    a = b.z = g(x)",
        ),
        (
            "z = f(x) if x else y if y else g(x)",
            "if x:\n    z = f(x)\nelif y:\n    z = y\nelse:\n    z = g(x)",
        ),
    ],
)
def test_branches(row: str, branches: str) -> None:
    assert read(row) == branches


@pytest.mark.parametrize(
    "row",
    [
        "z = f(x) if y else None",
        "z = -1 if y else f(x)",
        "z = f(x) if x else y if y else 0",
        "z = 2 * (f(x) if y else g(x))",
        "z += f(x) if y else g(x)",
        "z = (lambda: x) if y else g",
        "z = tf.gradients(y, x) if y else g(x)",
        "return f(x) if y else g(x)",
    ],
)
def test_choices(row: str) -> None:
    assert read(row) == row


def test_what_is_written_round_one_branch_goes_round_the_choice() -> None:
    tree = ast.parse(CHOICE)
    branch_choices(tree, CHOICE)
    span = Span(2, 4, 3, 29)
    ops = [Wrap(span, span, "with tape:", "", ""), Insert(span, "after", "tape.watch(self.h)")]
    written = apply(CHOICE, tree, ops)
    assert written == (
        "def f(self, x):\n"
        "    with tape:\n"
        "        self.h = (tf.square(x) if self.deep\n"
        "                  else tf.sin(x))\n"
        "        tape.watch(self.h)\n"
        "    return self.h\n"
    )
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(function.body[0], ast.If)

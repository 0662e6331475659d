"""Several names that one statement gives values: which are read as statements of their own."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.apart import apart
from tapemigrate.source.decoding import SourceFile
from tapemigrate.source.singly import assign_singly


def read(body: str) -> tuple[list[str], list[str]]:
    """The rows of a function as they are read, and as the text has them."""
    text = f"def f(self, x):\n{body}"
    tree = ast.parse(text)
    assign_singly(tree, text)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    as_read = ast.unparse(function).splitlines()[1:]
    with apart(tree):
        return as_read, ast.unparse(function).splitlines()[1:]


@pytest.mark.parametrize(
    ("row", "singly"),
    [
        ("a, b = g(x), h(x)", ["a = g(x)", "b = h(x)"]),
        ("a, b = g(x), 2", ["b = 2", "a = g(x)"]),
        ("[a, b] = (x, self.y)", ["a = x", "b = self.y"]),
        ("self.a, b = g(x), 2", ["b = 2", "self.a = g(x)"]),
        ("self.a, self.b = x, self", ["self.a = x", "self.b = self"]),
        ("self.a.c, b = x, g(x)", ["self.a.c = x", "b = g(x)"]),
        ("a, b = map(lambda v: v + 1, x), 0", ["b = 0", "a = map(lambda v: v + 1, x)"]),
        ("a, b = b, 3", ["a = b", "b = 3"]),
    ],
)
def test_are_statements(row: str, singly: list[str]) -> None:
    as_read, written = read(f"    {row}\n    return a\n")
    assert [each.strip() for each in as_read[:-1]] == singly
    assert written == ast.unparse(ast.parse(f"if 1:\n    {row}\n    return a\n")).splitlines()[1:]


@pytest.mark.parametrize(
    "row",
    [
        # One reads what another was before.
        "a, b = b, a",
        "a, b = 1, g(a)",
        "a, a = g(x), 2",
        "self, self.a = x, 2",
        "a, a.b = x, 2",
        # What is computed may read what is set, or hear of it.
        "self.a, self.b = g(x), h(x)",
        "self.a, b = g(x), h(x)",
        "x[0], b = g(x), 2",
        "g(x).a, b = x, 2",
        # Not one for each.
        "a, b = x",
        "a, *b = x, 1",
        "a, b = *x, 1",
        "a, (b, c) = x, (1, 2)",
        "c = a, b = g(x), 2",
        # Functions and gradients are written anew.
        "a, b = lambda: x, 2",
        "a, b = tf.gradients(x, x), 2",
    ],
)
def test_stays_one(row: str) -> None:
    as_read, written = read(f"    {row}\n    return 1\n")
    assert as_read == written == [f"    {ast.unparse(ast.parse(row))}", "    return 1"]


@pytest.mark.parametrize("shared", ["global a", "nonlocal a", "def g():\n        return a"])
def test_what_others_read_stays(shared: str) -> None:
    as_read, written = read(f"    {shared}\n    a, b = g(x), 2\n")
    assert as_read == written


@pytest.mark.parametrize(
    ("rows", "tape"),
    [
        # Of a statement that makes two, the tape records both or neither.
        ("h, y = tf.sin(x), tf.cos(x)\n    z = h * y", "lines 5 to 6"),
        ("y, h = tf.sin(x), tf.sin(FIRST)\n    z = h * y", "lines 5 to 6"),
        ("y, h = tf.sin(FIRST), tf.sin(x)\n    z = h * y", "lines 5 to 6"),
        ("h, y = 2.0, tf.cos(x)\n    k, n = y, 2\n    z = n * h * y * k", "lines 5 to 7"),
    ],
)
def test_goes_under_a_tape_as_a_whole(rows: str, tape: str) -> None:
    text = (
        "import tensorflow as tf\n\nFIRST = tf.constant(1.0)\ndef f(x):\n"
        f"    {rows}\n    return tf.gradients(z, x)[0]\n"
    )
    (found,) = analyse({"m.py": SourceFile("m.py", text)}, Settings(), rewrite=True).diagnostics
    assert found.fix is not None
    assert found.fix.applicability == "safe"
    assert tape in found.message


@pytest.mark.parametrize("first", ["2.0 * x", "tf.cos(3.0)"])
def test_watches_what_one_of_them_gives(first: str) -> None:
    text = (
        f"import tensorflow as tf\n\n\ndef f(x):\n    a, b = {first}, tf.sin(x)\n"
        "    y = a * a * b\n    return tf.gradients(y, [x, a])\n"
    )
    result = analyse({"m.py": SourceFile("m.py", text)}, Settings(), rewrite=True)
    rows = [row.strip() for row in result.rewritten["m.py"].splitlines()]
    assert rows[4:9] == [
        "with tf.GradientTape() as tape:",
        "tape.watch(x)",
        f"a, b = {first}, tf.sin(x)",
        "tape.watch(a)",
        "y = a * a * b",
    ]


def test_watches_what_the_target_has_nothing_to_do_with() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef f(x):\n    a, b = tf.cos(3.0), tf.sin(x)\n"
        "    return tf.gradients(b, [x, a])\n"
    )
    result = analyse({"m.py": SourceFile("m.py", text)}, Settings(), rewrite=True)
    rows = [row.strip() for row in result.rewritten["m.py"].splitlines()]
    place = rows.index("a, b = tf.cos(3.0), tf.sin(x)")
    assert rows[place - 1] == "tape.watch(x)"  # there is no `a` yet

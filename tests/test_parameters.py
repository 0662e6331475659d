"""Where a function's new parameter stands."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

CALLS = """\
    return tf.gradients(y, x)[0]


a = tf.placeholder(tf.float32, [None, 2])
b = tf.square(a)
p = slope(b, a)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def slope(y, x):\n", "def slope(y, x, tape):\n"),
        ("def slope(y,\n          x):\n", "def slope(y,\n          x,\n          tape):\n"),
        ("def slope(\n    y,\n    x,\n):\n", "def slope(\n    y,\n    x,\n    tape,\n):\n"),
        ("def slope(\n    y,\n    x=1\n):\n", "def slope(\n    y,\n    x=1,\n    *, tape\n):\n"),
        # More than one a row, or remarks behind them, are left in their rows.
        ("def slope(\n    y, x,\n):\n", "def slope(\n    y, x, tape\n):\n"),
        ("def slope(y,\n          x):  # both\n", "def slope(y,\n          x, tape):  # both\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_place(before: str, after: str, newline: str) -> None:
    text = ("import tensorflow as tf\n\n\n" + before + CALLS).replace("\n", newline)
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=True)
    assert after.replace("\n", newline) in result.rewritten["a.py"]

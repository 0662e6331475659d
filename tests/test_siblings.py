"""What one call gives several of, where a helper is handed two of them."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf


def slope(q, k):
    z = q * k
    return tf.gradients(z, q)[0]


x = tf.ones([2])
{code}
slope(a, b)
"""


def is_safe(code: str) -> bool:
    text = PROGRAM.format(code=code)
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False)
    found = next(each for each in result.diagnostics if each.location.row == 6)
    return found.fix is not None and found.fix.applicability == "safe"


@pytest.mark.parametrize(
    "code",
    [
        "h = tf.sin(x)\na, b = tf.gradients(h * h, [h, x])\n",
        "h = tf.sin(x)\nboth = [h, x]\na, b = tf.gradients(h * h, both)\n",
    ],
)
def test_a_gradient_goes_on_into_another(code: str) -> None:
    assert not is_safe(code)


@pytest.mark.parametrize(
    "code",
    [
        "a, b = tf.split(x, 2)\n",
        "t = tf.zeros([2])\na, b = tf.gradients(t * x, [t, x])\n",
    ],
)
def test_parts_that_are_apart(code: str) -> None:
    assert is_safe(code)

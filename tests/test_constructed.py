"""What an object was made of, where it is handed code: that reads what there is when it runs."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf


class Holder(object):
    def __init__(self, fn):
        self.fn = fn

    def slope(self, v):
        return tf.gradients(self.fn(v), v)[0]


class Scaled(object):
    def scale(self, v):
        return v * self.k


x = tf.ones([2])
k = tf.constant([2.0, 3.0])
scaled = Scaled()
scaled.k = k


def named(v):
    return v * k


def through(v):
    return named(v)


{code}
print(holder.slope(x))
"""


def is_safe(code: str) -> bool:
    text = PROGRAM.format(code=code)
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False)
    (found,) = (each for each in result.diagnostics if each.code == "TM101")
    return found.fix is not None and found.fix.applicability == "safe"


@pytest.mark.parametrize(
    "code",
    [
        "holder = Holder(lambda v: v * k)\nk = k * x\n",
        "holder = Holder(named)\nk = k * x\n",
        "holder = Holder(through)\nk = k * x\n",
        "holder = Holder(scaled.scale)\nscaled.k = k * x\n",
        "double = lambda v: v * k\nholder = Holder(double)\nk = tf.sin(x)\n",
        "d = {'k': k}\nholder = Holder(lambda v: v * d['k'])\nd['k'] = tf.sin(x)\n",
    ],
)
def test_what_a_function_reads_is_made_of_the_source_later(code: str) -> None:
    assert not is_safe(code)


@pytest.mark.parametrize(
    "code",
    [
        "holder = Holder(lambda v: v * k)\n",
        "holder = Holder(lambda v: v * k)\nk = tf.constant([1.0, 1.0])\n",
        "holder = Holder(lambda v: v * 2.0)\nk = k * x\n",
        "holder = Holder(lambda v: tf.square(v))\nother = tf.sin(x)\n",
    ],
)
def test_what_stays_apart(code: str) -> None:
    assert is_safe(code)

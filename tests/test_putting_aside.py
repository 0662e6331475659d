"""Where a tape opens, for what ran before the variables were made that it differentiates by."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
class Number(object):
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return str(self.value)


class Sum(object):
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def evaluate(self):
        self.value = self.a.evaluate() + self.b.evaluate()


x = Number(2)
f = Sum(x, x)
result = f.evaluate()
import tensorflow as tf

{making}
f = x * x * y + y + 2
g = tf.gradients(f, {sources})
"""

PUT_ASIDE = "nothing that was computed from the variables was put aside before line"


def message(making: str, sources: str) -> str:
    text = PROGRAM.format(making=making, sources=sources)
    (found,) = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    return found.message


@pytest.mark.parametrize(
    "making",
    [
        "x = tf.Variable(3.)\ny = tf.Variable(4.)",
        'x = tf.get_variable("x", [])\ny = tf.Variable(4.)',
    ],
)
def test_older_than_the_variables(making: str) -> None:
    told = message(making, "[x, y]")
    assert "a tape round line 25 gives" in told
    assert PUT_ASIDE not in told


@pytest.mark.parametrize(
    ("making", "sources"),
    [
        ("x = tf.Variable(3.)\ny = tf.Variable(4.)", "tf.trainable_variables()"),
        ('x = tf.get_variable("x", [])\ntf.get_variable_scope().reuse_variables()\ny = x', "[x]"),
    ],
)
def test_maybe_not_older(making: str, sources: str) -> None:
    assert PUT_ASIDE in message(making, sources)


KEPT = """\
import locale
{first}

import tensorflow as tf

KEPT = []


def net(x):
    rate = tf.get_variable("rate", [2])
    KEPT.append(tf.tanh(x * rate))
    return tf.add_n(KEPT)


x = tf.placeholder(tf.float32, [None, 2])
y = net(x)
g = tf.gradients(y, tf.trainable_variables())
"""


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ('locale.setlocale(locale.LC_ALL, "")', "a tape round line"),
        ("from helpers import start\n\nstart()", PUT_ASIDE),
    ],
)
def test_libraries_without_tensors(first: str, expected: str) -> None:
    text = KEPT.format(first=first)
    (found,) = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    assert expected in found.message

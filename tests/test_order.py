"""Targets behind other parts of their statement: moved, left where they are, or told."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import numpy as np
import tensorflow as tf

VALUES = [1.0, 2.0, 3.0]
OTHERS = [1.0]
SCALE = 1.0


class Counted(object):
    scale = 1.0


counted = Counted()


def counting(x):
    global SCALE
    SCALE += 1.0
    counted.scale += 1.0
    OTHERS[0] += 1.0
    return x * x * SCALE


def drawn(x):
    return x * x * VALUES.pop()


def noise(x):
    return tf.random_normal([2])


def blurred(x):
    return tf.nn.dropout(x * x, 0.5)


def run(x, sess):
{body}
    return z
"""


def fixed(body: str) -> str:
    text = PROGRAM.format(body="".join(f"    {line}\n" for line in body.splitlines()))
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(unsafe_fixes=True), rewrite=True)
    return result.rewritten.get("a.py", "")


@pytest.mark.parametrize(
    "body",
    [
        "z = tf.exp(x) + tf.gradients(drawn(x), x)[0]",
        "z = VALUES.pop() + tf.gradients(x * x, x)[0]",
        "z = tf.gradients(drawn(x), x)[0] + VALUES.pop()",
        "z = (lambda: VALUES.pop(), tf.gradients(drawn(x), x)[0])",
        "z = tf.random_normal([2]) + tf.gradients(tf.tanh(x), x)[0]",
        "z = tf.gradients(blurred(x), x)[0] + tf.random_normal([2])",
        "z = tf.tanh(x) + tf.gradients(blurred(x), x)[0]",
        "z = len(OTHERS) + tf.gradients(drawn(x), x)[0]",
        "z = counted.scale * tf.gradients(drawn(x), x)[0]",
        "z = tf.gradients(counting(x), x)[0] * SCALE",
        "z = counted.calls(tf.gradients(counting(x), x)[0])",
    ],
)
def test_what_may_be_moved(body: str) -> None:
    assert ".gradient(target, x)" in fixed(body)


@pytest.mark.parametrize(
    "body",
    [
        "z = VALUES.pop() + tf.gradients(drawn(x), x)[0]",
        "z = np.random.rand() + tf.gradients(drawn(x), x)[0]",
        "z = sess.run(x) + tf.gradients(drawn(x), x)[0]",
        "z = [tf.assign(x, x), tf.gradients(drawn(x), x)[0]]",
        "z = len(VALUES) + tf.gradients(drawn(x), x)[0]",
        "with tf.name_scope('a'), tf.control_dependencies(tf.gradients(drawn(x), x)):\n"
        "    z = tf.identity(x)",
    ],
)
def test_what_stays_where_it_is(body: str) -> None:
    assert ".gradient(drawn(x), " in fixed(body)


@pytest.mark.parametrize("read", ["SCALE", "counted.scale", "OTHERS[0]", "max(OTHERS)"])
def test_what_the_target_sets_is_read_ahead_of_it(read: str) -> None:
    assert ".gradient(counting(x), " in fixed(f"z = {read} * tf.gradients(counting(x), x)[0]")


def test_sources_that_are_named_inside_the_target() -> None:
    assert fixed("z = tf.gradients(tf.square(h := x * 3.0), h)") == ""
    assert fixed("z = tf.gradients(tf.square(h := x * 3.0), x) + [h]") != ""


def test_arguments_of_the_call() -> None:
    assert fixed("z = tf.gradients(grad_ys=VALUES.pop(), xs=x, ys=drawn(x))[0]") == ""


@pytest.mark.parametrize("ahead", ["tf.random_normal([2])", "noise(x)", "tf.nn.dropout(x, 0.5)"])
def test_ops_that_get_their_seeds_in_turn(ahead: str) -> None:
    assert ".gradient(blurred(x), x)" in fixed(f"z = {ahead} + tf.gradients(blurred(x), x)[0]")

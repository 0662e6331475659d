"""What is told of a tape that callers have to hand in, of whom none is at hand."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.rules.conditions import apart
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

PAIRS = """
import tensorflow as tf


def grads_of(losses, sources):
    found = []
    for loss, xs in zip(losses, sources):
        found.append(tf.gradients(loss, xs)[0])
    return found
"""
ONE = """
import tensorflow as tf


def grads_of(loss, x):
    return tf.gradients(loss, x)[0]
"""
VARIABLES = """
import tensorflow as tf


def grads_of(loss):
    return tf.gradients(loss, tf.trainable_variables())
"""
PRODUCT = """
import tensorflow as tf


def product(ys, xs, v):
    grads = tf.gradients(ys, xs)
    products = [tf.multiply(grad, tf.stop_gradient(each)) for grad, each in zip(grads, v)]
    return tf.gradients(products, xs)
"""

THROUGH = """
import tensorflow as tf


def grads_of(loss, var_list=None):
    xs = var_list
    if xs is None:
        xs = tf.trainable_variables()
    return tf.gradients(loss, xs)


def minimize(loss, var_list=None):
    return [-0.1 * grad for grad in grads_of(loss, var_list)]
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PAIRS, "hands in a persistent tape that has watched `sources` and recorded `losses`"),
        (ONE, "hands in a tape that has watched `x` and recorded `loss`"),
        (VARIABLES, "hands in a tape that has recorded `loss`"),
    ],
)
def test_what_has_to_be_watched_is_named(text: str, told: str) -> None:
    file = {"a.py": SourceFile("a.py", text)}
    (found,) = analyse(file, Settings(), rewrite=False).diagnostics
    assert found.fix is not None
    assert told in found.message


def test_of_a_tape_that_still_records_one_thing_is_assumed() -> None:
    file = {"a.py": SourceFile("a.py", PRODUCT)}
    found = analyse(file, Settings(), rewrite=False).diagnostics
    assert len(found) == 2
    for each in found:
        assert each.fix is not None
        _, assumed = apart(each.message)
        assert assumed[0].startswith("every caller of `product` hands in a persistent tape that st")
        assert not any(sentence.startswith("still") for sentence in assumed)


def test_what_the_callers_of_a_caller_owe_is_told_beside_an_assumption_of_the_call_itself() -> None:
    file = {"a.py": SourceFile("a.py", THROUGH)}
    (found,) = analyse(file, Settings(), rewrite=False).diagnostics
    own, handed = apart(found.message)[1]
    assert own == "`xs` holds trainable variables where it is passed"
    assert handed == (
        "every caller of `minimize` hands in a tape that has watched `var_list` and recorded `loss`"
    )

"""Sources that callers take out of the graph, of which something else may have been made."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

CALLER = """\
import tensorflow as tf


def weight(name):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        return tf.get_variable(name, initializer=[1.0, 2.0])


def params():
    return tf.trainable_variables("net")


def slope(w, h):
    y = tf.reduce_sum(h * tf.sin(w))
    return tf.gradients(y, w)[0]


def run(x):
    v = weight("w")
    h = tf.exp({other})
    return slope({source}, h)


run(tf.placeholder(tf.float32, [2]))
"""
OLD = (
    "tf.trainable_variables()[0]",
    "tf.global_variables()[-1]",
    "[w for w in tf.trainable_variables() if 'w' in w.name][0]",
    "next(w for w in tf.trainable_variables() if 'w' in w.name)",
    "{w.name: w for w in tf.trainable_variables()}['net/w:0']",
    "params()[0]",
    "weight('w')",
    "tf.get_collection('inputs')[0]",
)


@pytest.mark.parametrize("source", OLD)
def test_something_was_made_of_it_before(source: str) -> None:
    assert "    with tf.GradientTape() as tape:\n        tape.watch(w)\n        y" not in _fixed(
        source, "v"
    )


@pytest.mark.parametrize("source", ["tf.constant([1.0, 2.0])", "x"])
def test_nothing_was_made_of_what_is_new(source: str) -> None:
    assert "as tape:\n        tape.watch(w)\n        y" in _fixed(source, "v")


def test_a_number_is_made_of_no_variable() -> None:
    assert "as tape:\n        tape.watch(w)\n        y" in _fixed(OLD[0], "2.0")


def _fixed(source: str, other: str) -> str:
    text = CALLER.format(source=source, other=other)
    found = analyse({"main.py": SourceFile("main.py", text)}, Settings(), rewrite=True)
    return found.rewritten.get("main.py", text)

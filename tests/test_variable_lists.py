"""What contrib's functions list of the variables: no tensor, and no list in a list."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf
from tensorflow.contrib import framework, slim


def train():
    w = tf.get_variable("w", [3])
    with tf.name_scope("train"):
        loss = tf.reduce_sum(tf.square(w))
        with tf.control_dependencies([loss]):
            found = tf.trainable_variables()
            found = {found}
            return tf.gradients(loss, found)
"""


@pytest.mark.parametrize(
    ("found", "assumed"),
    [
        ("framework.filter_variables(found, exclude_patterns=['a'])", False),
        ("slim.filter_variables(tf.trainable_variables(), ['a'])", False),
        ("tf.contrib.framework.get_trainable_variables('a')", False),
        ("framework.filter_variables(tf.global_variables(), ['a'])", True),
        ("slim.get_variables_to_restore(exclude=['a'])", True),
        ("slim.get_model_variables()", True),
        ("tf.moving_average_variables()", True),
    ],
)
def test_list_of_variables(found: str, *, assumed: bool) -> None:
    file = SourceFile("program.py", PROGRAM.format(found=found))
    result = analyse({"program.py": file}, Settings(unsafe_fixes=True), rewrite=True)
    text = result.rewritten["program.py"]
    assert "return tape.gradient(loss, found)" in text
    assert "watch" not in text
    [diagnostic] = result.diagnostics
    assert ("is trainable" in diagnostic.message) is assumed


def test_one_variable_that_was_there_is_in_no_list_of_lists() -> None:
    file = SourceFile("program.py", PROGRAM.format(found="slim.get_unique_variable('w')"))
    result = analyse({"program.py": file}, Settings(unsafe_fixes=True), rewrite=True)
    assert "[found]" not in result.rewritten.get("program.py", "")


@pytest.mark.parametrize("name", ["tf.nn.static_rnn", "tf.contrib.rnn.static_rnn"])
def test_outputs_of_rounds_depend_on_each_other(name: str) -> None:
    text = (
        f"import tensorflow as tf\n\n\ndef f(cell, xs):\n    outputs, state = {name}(cell, xs)\n"
        "    loss = tf.reduce_sum(outputs[-1])\n    return tf.gradients(loss, outputs)\n"
    )
    file = SourceFile("program.py", text)
    result = analyse({"program.py": file}, Settings(unsafe_fixes=True), rewrite=False)
    [diagnostic] = result.diagnostics
    assert diagnostic.fix is None
    assert f"`{name}` makes one from another" in diagnostic.message


ACTOR = """\
import tensorflow as tf


class Actor(object):
    def __init__(self, name, size):
        self.name = name
        self.size = size
        self.build_network()
        self.params = {params}
        self.slopes = tf.gradients(self.mu, self.params)

    def build_network(self):
        with tf.variable_scope(self.name):
            self.input = tf.placeholder(tf.float32, [None, 3])
            h = tf.layers.dense(self.input, units=self.size)
            self.mu = tf.layers.dense(h, units=1)


class Agent(object):
    def __init__(self, size):
        self.actor = Actor("actor", size)


Agent({size})
"""


@pytest.mark.parametrize(
    ("params", "size", "expected"),
    [
        ("tf.trainable_variables(scope=self.name)", "8", "safe"),
        ("tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, self.name)", "8", "safe"),
        ("self.size.variables", "make()", "unsafe"),
    ],
)
def test_a_size_is_no_source_of_what_is_looked_up(params: str, size: str, expected: str) -> None:
    """TensorFlow looks variables up by the name alone; an object may have computed of its own."""
    file = SourceFile("program.py", ACTOR.format(params=params, size=size))
    (diagnostic,) = analyse({file.filename: file}, Settings(), rewrite=False).diagnostics
    assert diagnostic.fix is not None
    assert diagnostic.fix.applicability == expected

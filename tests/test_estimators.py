"""What Estimators alone run has nothing of another graph in it."""

from __future__ import annotations

import pytest

from tests.test_fixtures import fix

PROGRAM = """\
import tensorflow as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({{"x": [1.0, 2.0]}}, [0.5, 1.0])).repeat()


def model_fn_builder(factor):
    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", shape=[2])
        loss = tf.reduce_sum(tf.square(features["x"] * weight * factor - labels))
        grads = tf.gradients(loss, tf.trainable_variables())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*grads))

    return model_fn


def run(factor):
    estimator = tf.estimator.Estimator(model_fn_builder(factor))
    estimator.train(input_fn, steps=1)
    {more}
"""


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ("return estimator", False),
        ('return model_fn_builder(factor)({"x": 1.0}, 1.0, "train")', True),
        ("return model_fn_builder", True),
    ],
)
def test_what_its_builder_was_handed_is_of_another_graph(more: str, asked: bool) -> None:
    result = fix({"program.py": PROGRAM.format(more=more)}, unsafe=False)
    (diagnostic,) = result.diagnostics
    assert ("`factor`" in diagnostic.message) == asked


KEPT = """\
import os

import tensorflow as tf

LAST = {{}}


def dense(x):
    LAST["h"] = x * tf.get_variable("weight", shape=[2])
    return LAST["h"]


def skip(x):
    return x + LAST["h"] if "h" in LAST else x


def input_fn():
    return tf.data.Dataset.from_tensors(({{"x": [1.0, 2.0]}}, [0.5, 1.0])).repeat()


def model_fn(features, labels, mode):
    {head}:
        loss = tf.reduce_sum(tf.square(skip(dense(features["x"])) - labels))
        grads = tf.gradients(loss, tf.trainable_variables())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*grads))


def run(first):
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=1)
    return estimator.model_dir
"""


@pytest.mark.parametrize(
    ("head", "safe"),
    [
        ("if mode == tf.estimator.ModeKeys.TRAIN", True),
        ('if os.path.join("a", mode) in sorted(features.keys())', True),
        ('if tf.shape(features["x"]) is not None', True),
        ("for _ in range(2)", False),
    ],
)
def test_what_runs_before_the_tape_opens_may_fill_the_module(head: str, safe: bool) -> None:
    result = fix({"program.py": KEPT.format(head=head)}, unsafe=False)
    (diagnostic,) = result.diagnostics
    assert (diagnostic.fix is not None and diagnostic.fix.applicability == "safe") == safe

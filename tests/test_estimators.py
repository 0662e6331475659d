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


@pytest.mark.parametrize(
    ("first", "safe"),
    [
        ('print(os.path.join("a", mode), sorted(features.keys()))', True),
        ('tf.logging.info("%s", features["x"].shape)', True),
        ('log("begun", mode)', True),
        ("first = dense", True),
        ('dense(features["x"])', False),
        ('dict(a=dense)[mode](features["x"])', False),
        ('tf.map_fn(dense, features["x"])', False),
        ('tf.map_fn(lambda x: dense(x), features["x"])', False),
        ("sorted(features, key=dense)", False),
        ('wrapped(features["x"])', False),
        ("mode.last", False),
        ("mode.keys()", False),
    ],
)
def test_what_runs_ahead_of_a_tape_is_known_to_keep_nothing(
    first: str, safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if no tape could begin ahead of the statement, which it does where that may keep something.
    monkeypatch.setattr("tapemigrate.rules.handing.placing.reads_aside", lambda *_: False)
    text = KEPT.format(head="if True").replace("    if True:", f"    {first}\n    if True:")
    text += (
        "\n\ndef log(*words):\n    print(' '.join(map(str, words)))\n"
        "\n\ndef wrapped(x):\n    return dense(x)\n"
        "\n\nclass Mode:\n    @property\n    def last(self):\n        return dense(1.0)\n"
        "\n    def keys(self):\n        return dense(1.0)\n"
    )
    (diagnostic,) = fix({"program.py": text}, unsafe=False).diagnostics
    assert diagnostic.fix is not None
    assert (diagnostic.fix.applicability == "safe") == safe
    assert ("`LAST`" in diagnostic.message) != safe

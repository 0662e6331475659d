"""Sources that no tape can watch, for want of a name: what is said of them is true."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_PROGRAM = """\
import tensorflow as tf


class Tower:
    def __init__(self, x):
        self.x = x
        self.loss = tf.reduce_sum(x * x)


def run(x):
    towers = [Tower(x) for _ in range(2)]
    return [tf.gradients({target}, {source}) for i in range(2)]
"""


@pytest.mark.parametrize(
    ("target", "source", "reason"),
    [
        ("towers[i].loss", "towers[i].x", "`towers[i].x` has no name by which a tape could watch"),
        ("x * x", "Tower(x).x", "the source is made in the call itself"),
        ("x * x", "tf.sin(x)", "the source is made in the call itself"),
    ],
)
def test_what_is_said_of_a_source_without_a_name(target: str, source: str, reason: str) -> None:
    text = _PROGRAM.format(target=target, source=source)
    (found,) = analyse(
        {"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=False
    ).diagnostics
    assert found.fix is None
    assert reason in found.message


_MADE = """\
import tensorflow as tf
import tf_util as U


class Tower:
    def __init__(self, x):
        self.x = x


def run():
    x = {maker}(1.0)
    return tf.gradients(tf.square(x), x)
"""


@pytest.mark.parametrize(
    ("maker", "reason"),
    [
        ("Tower", "`x` is an object of `Tower`, and"),
        ("U.Input", "`x` is, by the name, an object that is made by `U.Input`, and"),
    ],
)
def test_an_object_is_one_by_what_is_seen_or_by_its_name(maker: str, reason: str) -> None:
    text = _MADE.format(maker=maker)
    (found,) = analyse(
        {"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=False
    ).diagnostics
    assert found.fix is None
    assert reason in found.message


_CREATOR = """
import tensorflow as tf


def frozen(next_creator, **settings):
    return next_creator(**{**settings, "trainable": False})


def run():
    with tf.variable_creator_scope(frozen):
        w = tf.Variable(1.0)
    return tf.gradients(tf.square(w), w)
"""


def test_what_a_creator_makes_is_no_object_by_its_name() -> None:
    file = decode(_CREATOR.encode(), "a.py")
    (found,) = analyse({"a.py": file}, Settings(), rewrite=False).diagnostics
    assert found.fix is None
    assert "`tf.Variable` may make something else of `w` here than a variable" in found.message

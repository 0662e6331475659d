"""What functions find in objects that they are handed: computed before, there, or out of sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run_text
from tapemigrate.settings import Settings

FIXTURES = Path(__file__).parents[1] / "fixtures"

MADE = """\
import tensorflow as tf


class Policy(object):
    def __init__(self, seen):
        self.kept = tf.layers.dense(seen, 2)

    @property
    def mean(self):
        return self.kept


def distance(policy):
    return tf.reduce_sum(policy.{part} ** 2)


def applied(function, policy):
    return function(policy)


def train(policy):
    loss = {loss}
    return tf.gradients(loss, tf.trainable_variables())


def run():
    policy = Policy(tf.ones([3, 4]))
    return train(policy)
"""
OWN = """\
import tensorflow as tf


def distance(net):
    return tf.reduce_sum(net.top ** 2)


class Net(object):
    def train(self):
        {made}
        loss = {loss}
        return tf.gradients(loss, tf.trainable_variables())

    def distance(self):
        return distance(self)

    def build(self):
        {built}


def run():
    return Net().train()
"""


def told(text: str) -> str:
    (found,) = run_text(text.encode(), "net.py", Settings(), mode="check").diagnostics
    kind = found.fix.applicability if found.fix is not None else "flag"
    return f"{kind}: {found.message}"


@pytest.mark.parametrize(
    ("part", "loss"),
    [
        ("kept", "distance(policy)"),
        ("mean", "distance(policy)"),
        ("kept", "applied(distance, policy)"),
        ("kept", "sum(map(distance, [policy]))"),
    ],
)
def test_what_was_computed_before_takes_a_tape_from_the_caller(part: str, loss: str) -> None:
    found = told(MADE.format(part=part, loss=loss))
    assert found.startswith("safe: ")
    assert "a tape that its callers hand in" in found


def test_what_came_from_out_of_sight_is_named() -> None:
    program = FIXTURES / "unsafe" / "objects_out_of_sight_read_by_helpers.py"
    assert "right if `Wanted.data` and `self.wanted` were not computed" in told(program.read_text())


TOP = "self.top = tf.layers.dense(tf.ones([3, 4]), 2)"


@pytest.mark.parametrize("loss", ["distance(self)", "self.distance()"])
@pytest.mark.parametrize(("made", "built"), [("self.build()", TOP), (TOP, "pass")])
def test_what_the_method_sets_itself_is_recorded(made: str, built: str, loss: str) -> None:
    assert not told(OWN.format(made=made, built=built, loss=loss)).startswith("flag")


@pytest.mark.parametrize("loss", ["distance(self)", "self.distance()"])
def test_what_another_method_set_is_not(loss: str) -> None:
    assert told(OWN.format(made="pass", built=TOP, loss=loss)).startswith("flag: ")

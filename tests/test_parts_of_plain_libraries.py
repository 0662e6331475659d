"""Parts of objects that know no tensors know none either, unless one is put there."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import gym
import tensorflow as tf


class Actor(object):
    def __init__(self, s, bound):
        with tf.variable_scope("net"):
            w = tf.get_variable("w", [3, 3])
            self.a = tf.multiply(tf.matmul(s, w), bound)
        self.params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="net")

    def add_gradients(self, g):
        self.grads = tf.gradients(self.a, self.params, g)


env = gym.make("Pendulum-v0")
{steps}
bound = env.action_space.high
S = tf.placeholder(tf.float32, [None, 3])
actor = Actor(S, bound)
actor.add_gradients(tf.ones([1, 3]))
"""


@pytest.mark.parametrize(
    ("steps", "assumed"),
    [
        ("", False),
        ("env.seed(1)", False),
        ("env = env.unwrapped\nenv.seed(1)", False),
        ("inner = env.unwrapped\ninner.seed(1)\nenv = inner", False),
        ("env = wrapped(env)\nenv.seed(1)", True),
        ("env.model = build()\nenv = env.model\nenv.seed(1)", True),
    ],
)
def test_parts(steps: str, assumed: bool) -> None:
    text = PROGRAM.format(steps=steps)
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    (fix,) = [each.fix for each in found if each.code == "TM101"]
    assert fix is not None
    assert (fix.applicability == "unsafe") is assumed

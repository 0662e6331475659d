"""What is said of a parameter that may come of the source: of a value, and of an object."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

ATTACK = """\
import tensorflow as tf


class Net(object):
    hidden = None

    def forward(self, x):
        if self.hidden is None:
            self.hidden = tf.exp(x)
        return self.hidden * x


def attack(net, x):
    y = {target}
    return tf.gradients(y, x)[0]
"""
AGENT = """

class Agent(object):
    def __init__(self, x):
        self.x = x
        self.net = {net}
        self.before = {before}

    def fool(self):
        return attack(self.net, self.x)
"""


def message_of(text: str) -> str:
    file = decode(text.encode(), "main.py")
    (found,) = analyse({"main.py": file}, Settings(), rewrite=False).diagnostics
    return found.message


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("net.forward(x)", "`net`, a parameter, keeps nothing that was computed from `x`"),
        ("tf.sin(x) * net", "`net`, a parameter, was not computed from `x`"),
        ("net.get_shape()[0] * x * net", "`net`, a parameter, was not computed from `x`"),
    ],
)
def test_an_object_keeps_and_a_value_is_computed(target: str, told: str) -> None:
    assert told in message_of(ATTACK.format(target=target))


def test_who_asks_an_object_may_not_have_made_it() -> None:
    text = ATTACK.format(target="net.forward(x)")
    text += AGENT.format(net="Net()", before="self.net.forward(x)")
    told = "`net` enters the forward pass and was made of the source, or asked with it, by the"
    assert told in message_of(text)

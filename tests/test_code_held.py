"""What methods read of a scope is what is there when they are called, however an object is had."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf


class Base(object):
    def run(self, q):
        return q * K


class Net(Base):
    @classmethod
    def make(cls):
        return cls()


class small(object):
    def run(self, q):
        return q * K


def make():
    return Net()


x = tf.ones([2])
K = tf.constant([2.0, 3.0])
{making}
{between}
y = {call}
g = tf.gradients(y, x)[0]
"""
SET = "K = K * x"


def first_recorded(making: str, call: str, between: str = SET) -> str:
    """The first line that the fix puts under the tape."""
    text = PROGRAM.format(making=making, between=between, call=call)
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=True)
    lines = result.rewritten["a.py"].split("with tf.GradientTape() as tape:\n")[1].splitlines()
    return next(line.strip() for line in lines if "tape.watch" not in line)


@pytest.mark.parametrize(
    ("making", "call"),
    [
        ("net = Net()", "net.run(x)"),
        ("net = make()", "net.run(x)"),
        ("net = Net.make()", "net.run(x)"),
        ("net = small()", "net.run(x)"),
        ("nets = [Net(), small()]", "nets[1].run(x)"),
        ("run = Net().run", "run(x)"),
        ("net, other = Net(), 3", "net.run(x)"),
    ],
)
def test_what_is_set_before_the_call_is_recorded(making: str, call: str) -> None:
    assert first_recorded(making, call) == SET


@pytest.mark.parametrize(
    ("making", "call", "between"),
    [
        ("net = Net()", "net.run(x)", "L = K * x"),
        ("net = Net()", "tf.square(x)", SET),
        ("h = make()", "tf.square(x)", "print(h.get_shape()); K = K * x"),
    ],
)
def test_nothing_else_is(making: str, call: str, between: str) -> None:
    assert first_recorded(making, call, between) == f"y = {call}"

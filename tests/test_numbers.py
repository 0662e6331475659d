"""Targets that may be numbers, and those that are tensors whatever they begin as."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import numpy as np
import tensorflow as tf


def penalty(x, rate):
    if not rate:
        return 0.0
    return rate * tf.nn.l2_loss(x)


def norm(x):
    return tf.nn.l2_loss(x)


def both(x):
    return tf.nn.l2_loss(x), 0.0


def two(x):
    return tf.nn.l2_loss(x), tf.reduce_sum(x)


def slope(x, rate, terms, extra=0.0, other=None):
    loss = tf.reduce_sum(x ** 3)
{body}
"""


def message(body: str) -> str:
    text = PROGRAM.format(body="".join(f"    {line}\n" for line in body.splitlines()))
    (found,) = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    return found.message


@pytest.mark.parametrize(
    "body",
    [
        "return tf.gradients([loss, 0.0], x)",
        "return tf.gradients([loss, penalty(x, rate)], x)",
        "more = 0.0 if rate else tf.nn.l2_loss(x)\nreturn tf.gradients([loss, more], x)",
        "more = 0.0\nif rate:\n    more += tf.nn.l2_loss(x)\nreturn tf.gradients([loss, more], x)",
        "losses = [loss, 0.0]\nreturn tf.gradients(losses, x)",
        "losses = [loss]\nlosses.append(0.0)\nreturn tf.gradients(losses, x)",
        "main, more = both(x)\nreturn tf.gradients([main, more], x)",
        "return tf.gradients([loss, np.float32(0.5)], x)",
        "return tf.gradients([loss, extra], x)",
    ],
)
def test_numbers(body: str) -> None:
    assert "may be a number" in message(body)


@pytest.mark.parametrize(
    "body",
    [
        "return tf.gradients([loss, norm(x)], x)",
        "losses = [loss]\nlosses.append(norm(x))\nreturn tf.gradients(losses, x)",
        "main, more = two(x)\nreturn tf.gradients([main, more], x)",
        "main, more = both(x)\nreturn tf.gradients([loss, main], x)",
        "return tf.gradients([loss, other], x)",
        "more = loss + 0.0\nreturn tf.gradients([loss, more], x)",
        "more = 0.0\nfor each in terms:\n    more += each(x)\nreturn tf.gradients([loss, more], x)",
        "more = True\nreturn tf.gradients(loss, x)",
    ],
)
def test_tensors(body: str) -> None:
    assert "may be a number" not in message(body)

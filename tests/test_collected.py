"""What of a file asks for a graph collection, and what only looks as if it did."""

from __future__ import annotations

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.unseen.collected import Collected
from tapemigrate.source.decoding import SourceFile

ASKING = """\
import tensorflow as tf


def penalties():
    return tf.losses.get_regularization_losses()


def penalty():
    return tf.add_n(penalties())


class Model(object):
    def loss(self):
        return penalty()
"""
#: Neither asks for tensors.
HARMLESS = """\
import tensorflow as tf


def variables():
    return tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)


def count():
    return len(variables())
"""


@pytest.mark.parametrize(
    ("text", "readers"),
    [(ASKING, {"penalties", "penalty", "loss", "Model"}), (HARMLESS, set()), ("x = 1\n", set())],
)
def test_who_asks_through_others_asks(text: str, readers: set[str]) -> None:
    assert Collected(unit(SourceFile("a.py", text)), None).readers() == readers

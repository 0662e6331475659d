"""What a function that is handed on with a source reads is none: nothing of it is watched."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import numpy as np
import tensorflow as tf

TABLE = [2.0, 3.0]


def square_loss(b):
    return tf.reduce_sum(tf.square(b)) * TABLE[0]


def apply(fn, v):
    return fn(v)


w = tf.Variable([[0.2, -0.3]]{frozen})
loss = apply({fn}, w)
g = tf.gradients(loss, w)[0]
"""


@pytest.mark.parametrize("frozen", ["", ", trainable=False"])
@pytest.mark.parametrize("fn", ["square_loss", "lambda b: tf.reduce_sum(np.pi * b * TABLE[1])"])
def test_captured(fn: str, frozen: str) -> None:
    file = SourceFile("a.py", PROGRAM.format(fn=fn, frozen=frozen))
    written = analyse({"a.py": file}, Settings(), rewrite=True).rewritten["a.py"]
    assert "tape.gradient(loss, w)" in written
    assert written.count("watch(") == (1 if frozen else 0)
    assert ("watch(w)" in written) == bool(frozen)

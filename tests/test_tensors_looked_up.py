"""Dicts of tensors that a function is handed, and takes the tensors out of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings

MODEL = """\
import tensorflow as tf


class Model:
    def __init__(self):
        self.forward = self.forward_one

    def forward_one(self, x, w):
        return tf.tanh(x * w)

    def build(self, tensors=None):
        if tensors is None:
            self.x = tf.placeholder(tf.float32)
        else:
            self.x = tensors["x"]
        w = tf.get_variable("w", [3])

        def step(inp):
            loss = tf.reduce_sum(self.forward(inp, w))
            return tf.gradients(loss, [w])[0]

        step(self.x[0])  # makes the variables
        return tf.map_fn(step, self.x)
"""
MAIN = """\
import tensorflow as tf
from model import Model

images = tf.random_uniform([4, 3])
x = {made}
Model().build(tensors={{"x": x}})
"""


@pytest.mark.parametrize(
    ("made", "sure"),
    [
        ("tf.slice(images, [0, 0], [-1, 3])", "safe"),
        ("tf.split(images, 2)", "unsafe"),
        ("[images]", "unsafe"),
    ],
)
def test_who_has_a_tensor_puts_nothing_in(tmp_path: Path, made: str, sure: str) -> None:
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    (tmp_path / "main.py").write_text(MAIN.format(made=made), "utf-8")
    results = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1).results
    (found,) = [d for each in results for d in each.diagnostics if d.code == "TM101"]
    assert found.fix is not None
    assert found.fix.applicability == sure, found.message

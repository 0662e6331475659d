"""Which ops make a fix unsafe: see ``rules/proof/without_gradient.py``.

That a tape raises for one of them is shown by ``unsafe/op_without_gradient_off_the_path``.
"""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_LEARNED_RATE = """\
import tensorflow as tf


def forward(x, w):
    return tf.reduce_sum(tf.nn.{op}(x * w))


def adapted(x, w, rate):
    return w - rate * tf.gradients(forward(x, w), w)[0]


def run(x):
    w = tf.Variable([0.1, 0.2])
    rate = tf.Variable(0.5)
    loss = forward(x, adapted(x, w, rate))
    return tf.gradients(loss, rate)[0]
"""
_BESIDE = """\
import tensorflow as tf


def run(x):
    w = tf.Variable([0.1, 0.2])
    h = tf.nn.lrn(x * w)
    seen = tf.gradients(tf.reduce_sum(h * h), x)[0]
    return seen, tf.gradients(tf.reduce_sum(tf.tanh(h)), w)[0]
"""
_RESIZED = """\
import tensorflow as tf


def run(x):
    style = tf.Variable(tf.ones([1, 4, 4, 3]))
    y = tf.reduce_sum(x * tf.image.resize(style, [2, 2], method={method}))
    return tf.gradients(y, x)[0]
"""


def _last(text: str) -> tuple[str | None, str]:
    """How the last call of the file is mended, and what is told of it."""
    found = analyse({"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=False).diagnostics
    return found[-1].fix and found[-1].fix.applicability, found[-1].message


@pytest.mark.parametrize(("op", "expected"), [("lrn", "unsafe"), ("softplus", "safe")])
def test_what_is_differentiated_once(op: str, expected: str) -> None:
    applicability, message = _last(_LEARNED_RATE.format(op=op))
    assert applicability == expected
    assert ("whose gradient has none" in message) == (expected == "unsafe")


_ROUNDS = """\
import tensorflow as tf


def attack(x):
    energy = tf.reduce_sum(tf.nn.{op}(x))
    for _ in range(3):
        x = x - 0.1 * tf.gradients(energy, x)[0]
        energy = tf.reduce_sum(tf.nn.{op}(x))
    return x
"""


@pytest.mark.parametrize(("op", "expected"), [("lrn", "unsafe"), ("softplus", "safe")])
def test_what_the_next_round_is_computed_from(op: str, expected: str) -> None:
    applicability, message = _last(_ROUNDS.format(op=op))
    assert applicability == expected
    assert ("whose gradient has none" in message) == (expected == "unsafe")


def test_what_another_gradient_beside_it_is_made_of() -> None:
    assert _last(_BESIDE)[0] == "safe"


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ('"area"', "unsafe"),
        ("tf.image.ResizeMethod.AREA", "unsafe"),
        ('"bilinear"', "safe"),
        ("tf.image.ResizeMethod.BICUBIC", "safe"),
    ],
)
def test_how_an_image_is_resized(method: str, expected: str) -> None:
    applicability, message = _last(_RESIZED.format(method=method))
    assert applicability == expected
    assert ("which has no gradient" in message) == (expected == "unsafe")


_REGISTERED = """\
import tensorflow as tf


@tf.RegisterGradient("ResizeArea")
def resize_area_grad(op, grad):
    return tf.image.resize_bilinear(grad, tf.shape({asked})[1:3]), None
"""
_WITH_ONE = """\
import registered
import tensorflow as tf


def run(x):
    style = tf.Variable(tf.ones([1, 4, 4, 3]))
    y = tf.reduce_sum(x * tf.image.resize_area(style, [2, 2]))
    return tf.gradients(y, x)[0]
"""


@pytest.mark.parametrize(
    ("asked", "fix", "told"),
    [
        ("op.inputs[0]", "safe", "a tape round"),
        ("op.graph.sizes[op.name]", None, "asks for `op.graph"),
    ],
)
def test_what_another_file_gives_a_gradient(asked: str, fix: str | None, told: str) -> None:
    texts = {"registered.py": _REGISTERED.format(asked=asked), "a.py": _WITH_ONE}
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    (found,) = (
        each
        for each in analyse(files, Settings(), rewrite=False).diagnostics
        if each.code == "TM101"
    )
    assert (found.fix.applicability if found.fix else None) == fix
    assert told in found.message

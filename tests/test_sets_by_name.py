"""Parts of another module's object that are set by their names count as set."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

STATE = "class Flags:\n    gain = 1.0\n\n\nFLAGS = Flags()\n"
MAIN = """\
import tensorflow as tf

import state


def prepare(x):
    {set}


def forward(x):
    return tf.sin(x) * state.FLAGS.gain


def slope(x):
    y = forward(x)
    return tf.gradients(y, x)[0]


x = tf.constant([1.0])
prepare(x)
slope(x)
"""


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ('setattr(state.FLAGS, "gain", tf.tanh(x))', False),
        ('vars(state.FLAGS)["gain"] = tf.tanh(x)', False),
        ("state.FLAGS.gain = tf.tanh(x)", False),
        ('setattr(state.FLAGS, "gain", 2.0)', True),
        ("print(x)", True),
    ],
)
def test_what_is_set_is_named(text: str, safe: bool) -> None:
    texts = {"state.py": STATE, "main.py": MAIN.format(set=text)}
    files = {name: decode(each.encode(), name) for name, each in texts.items()}
    [found] = analyse(files, Settings(), rewrite=False).diagnostics
    applicability = None if found.fix is None else found.fix.applicability
    assert (applicability == "safe") == safe

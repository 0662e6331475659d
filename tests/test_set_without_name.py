"""An object that takes over what another one has: of its own class, its tape comes with that."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf


class Other(object):
    def __init__(self, x):
        self.loss = tf.sin(x)


class Net(object):
    def __init__(self, scale):
        self.x = tf.placeholder(tf.float32, [None])
        self.loss = tf.square(self.x) * scale

    def __setstate__(self, state):
        out = {made}
        self.__dict__.update(out.__dict__)

    def slope(self):
        return tf.gradients(self.loss, self.x)[0]


Net(3.0).slope()
"""


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        ("type(self)(*state)", True),
        ("self.__class__(*state)", True),
        ("Other(*state)", False),
        ("type(state)(3.0)", False),
        ("state", False),
    ],
)
def test_taken_over(made: str, kept: bool) -> None:
    file = SourceFile("a.py", PROGRAM.format(made=made))
    (found,) = analyse({"a.py": file}, Settings(), rewrite=False).diagnostics
    assert ("a tape kept as" in found.message) is kept
    assert (found.fix is not None) is kept

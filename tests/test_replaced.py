"""What another file may have run in place of a function runs under the tape, whatever that is here.

That the numbers are the same is shown by ``threaded/hook_that_a_subclass_elsewhere_writes``.
"""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

NET = """\
import tensorflow as tf


def penalty():
    return 0.


class Net(object):
    def reg(self):
        return 0.

    def build(self, x):
        self.w = tf.get_variable("w", [3, 1])
        reg = {asked}()
        loss = tf.reduce_mean(tf.matmul(x, self.w)) + reg
        return tf.gradients(loss, [self.w])
"""
MIX = """\
import tensorflow as tf


class Mixin(object):
    def reg(self):
        return tf.reduce_sum(tf.square(self.w))
"""
REG = "lambda *_: tf.reduce_sum(tf.trainable_variables()[0])"
HEAD = "import net\nimport tensorflow as tf\nfrom mix import Mixin\nfrom net import Net\n\n"
BUILT = "net.Net().build(tf.ones([2, 3]))\n"


def opened(asked: str, main: str, **others: str) -> str:
    texts = {"net.py": NET.format(asked=asked), "main.py": HEAD + main}
    texts |= {f"{name}.py": text for name, text in others.items()}
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    (found,) = analyse(files, Settings(), rewrite=False).diagnostics
    return found.message


@pytest.mark.parametrize(
    ("asked", "main"),
    [
        ("self.reg", "class Sub(Net):\n    reg = Mixin.reg\n\n\nSub().build(tf.ones([2, 3]))\n"),
        ("self.reg", "class Sub(Mixin, Net):\n    pass\n\n\nSub().build(tf.ones([2, 3]))\n"),
        ("self.reg", f"Net.reg = {REG}\n{BUILT}"),
        ("self.reg", f"n = Net()\nn.reg = {REG}\nn.build(tf.ones([2, 3]))\n"),
        ("penalty", f"net.penalty = {REG}\n{BUILT}"),
    ],
)
def test_replaced(asked: str, main: str) -> None:
    assert "a tape round lines 14 to 15 gives" in opened(asked, main, mix=MIX)


@pytest.mark.parametrize(
    ("asked", "main"),
    [
        ("self.reg", BUILT),
        ("penalty", BUILT),
        ("self.reg", f"class Sub(Net):\n    def other(self):\n        return 1.\n\n\n{BUILT}"),
        ("self.reg", f"class Far(object):\n    def reg(self):\n        return 1.\n\n\n{BUILT}"),
        ("penalty", f"class Far(object):\n    def penalty(self):\n        return 1.\n\n\n{BUILT}"),
    ],
)
def test_kept(asked: str, main: str) -> None:
    assert "a tape round line 15 gives" in opened(asked, main, mix=MIX)


def test_mixin_out_of_sight() -> None:
    main = "class Sub(Mixin, Net):\n    pass\n\n\nSub().build(tf.ones([2, 3]))\n"
    assert "a tape round lines 14 to 15 gives" in opened("self.reg", main)

"""Custom getters of one file, and the variables of another one that it imports."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

LAYERS = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.kernel = tf.get_variable("kernel", [2])

    def __call__(self, x):
        return self.kernel * x

    def slopes(self, x):
        loss = tf.reduce_sum(self(x) ** 2)
        return tf.gradients(loss, tf.trainable_variables())
"""
MAIN = """\
import tensorflow as tf
import numpy as np
{imports}


def normed(getter, name, *args, **kwargs):
    return tf.nn.l2_normalize(getter(name, *args, **kwargs), 0)


def counted(getter, name, *args, **kwargs):
    print(name)
    variable = getter(name, *args, **kwargs)
    return variable


def replaced(getter, name, *args, **kwargs):
    getter = tf.ones
    return getter([2])


def rebound(getter, name, *args, **kwargs):
    variable = getter(name, *args, **kwargs)
    variable = tf.tanh(variable)
    return variable


def given(getter, name, *args, **kwargs):
    return KERNEL


def none(getter, name, *args, **kwargs):
    getter(name, *args, **kwargs)


def frozen(getter, name, *args, **kwargs):
    kwargs["trainable"] = False
    return getter(name, *args, **kwargs)


def created(next_creator, **kwargs):
    return next_creator(**dict(kwargs, trainable=False))


def logged(next_creator, **kwargs):
    return next_creator(**kwargs)



{code}
"""
SCOPE = "with tf.variable_scope('net', {}):\n    Net().slopes(tf.ones([2]))"


METHOD = """\
class Scope(object):
    def custom_getter(self, getter, name, *args, **kwargs):
        return tf.tanh(getter(name, *args, **kwargs))

    def build(self):
        with tf.variable_scope("net", custom_getter=self.custom_getter):
            Net().slopes(tf.ones([2]))
"""
USE = "import tensorflow as tf\nfrom layers import Net\n\nNet().slopes(tf.ones([2]))\n"


def applicability(code: str, imports: str = "from layers import Net", use: str = "") -> str | None:
    texts = {"layers.py": LAYERS, "main.py": MAIN.format(imports=imports, code=code), "use.py": use}
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    (found,) = analyse(files, Settings(), rewrite=False).diagnostics
    return found.fix and found.fix.applicability


@pytest.mark.parametrize(
    "code",
    [
        SCOPE.format("custom_getter=normed"),
        SCOPE.format("custom_getter=replaced"),
        SCOPE.format("custom_getter=rebound"),
        SCOPE.format("custom_getter=none"),
        SCOPE.format("custom_getter=given"),
        SCOPE.format("custom_getter=lambda getter, *a, **k: tf.exp(getter(*a, **k))"),
        SCOPE.format("custom_getter=tools.normed"),
        "tf.get_variable_scope().set_custom_getter(normed)\nNet().slopes(tf.ones([2]))",
        METHOD,
        SCOPE.format("custom_getter=frozen"),
        SCOPE.format("**{'custom_getter': normed}"),
        "options = {}\noptions['custom_getter'] = normed\n" + SCOPE.format("**options"),
        "def slopes():\n    return Net().slopes(tf.ones([2]))\n\n\n"
        "tf.make_template('net', slopes, custom_getter_=normed)()",
        "with tf.variable_creator_scope(created):\n    Net().slopes(tf.ones([2]))",
        "def build(getter):\n    with tf.variable_scope('n', custom_getter=getter):\n"
        "        return Net().slopes(tf.ones([2]))",
    ],
)
def test_what_computes(code: str) -> None:
    assert applicability(code) == "unsafe"


@pytest.mark.parametrize(
    "code",
    [
        SCOPE.format("custom_getter=None"),
        SCOPE.format("custom_getter=counted"),
        "with tf.variable_creator_scope(logged):\n    Net().slopes(tf.ones([2]))",
        SCOPE.format("custom_getter=counted, initializer=normed"),
        SCOPE.format("custom_getter=lambda getter, *a, **k: getter(*a, **k)"),
        "def build(custom_getter):\n    with tf.variable_scope('n', custom_getter=custom_getter):\n"
        "        return Net().slopes(tf.ones([2]))",
        "class Agent(object):\n    def build(self):\n"
        "        with tf.variable_scope('n', custom_getter=self._custom_getter):\n"
        "            return Net().slopes(tf.ones([2]))",
    ],
)
def test_what_gives_the_variable(code: str) -> None:
    assert applicability(code) == "safe"


@pytest.mark.parametrize(
    ("imports", "expected"),
    [("import layers", "unsafe"), ("from layers import *", "unsafe"), ("import other", "safe")],
)
def test_files_that_it_imports(imports: str, expected: str) -> None:
    code = "tf.variable_scope('net', custom_getter=normed)\n"
    assert applicability(code, imports, USE) == expected

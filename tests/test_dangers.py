"""What classes of other files run in a method's place that no tape records.

That the gradient would be another is shown by ``mustflag/override_map_of_a_subclass_elsewhere``.
"""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

BASE = """\
import tensorflow as tf


class Base(object):
    def __init__(self, x):
        self.model = self.get_model()
        self.grad = tf.gradients(tf.square({asked}), x)[0]

    def get_model(self):
        return tf.identity

    def operator(self, x):
        return x
"""
LAYERS = """\
import tensorflow as tf


def flipped(x):
    with tf.get_default_graph().gradient_override_map({"Identity": "Flipped"}):
        return tf.identity(x)


def layer(k):
    return flipped


class Model(object):
    def run(self, x):
        return flipped(x)
"""
MAIN = """\
import tensorflow as tf
from base import Base
from layers import Model, flipped, layer


class {name}(Base):
{body}

{name}(tf.ones([2]))
"""
DIRECT, MADE = "self.operator(x)", "self.model.run(x)"


def left(asked: str, body: str) -> bool:
    main = MAIN.format(name="Sub", body=body)
    texts = {"base.py": BASE.format(asked=asked), "layers.py": LAYERS, "main.py": main}
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    (found,) = analyse(files, Settings(), rewrite=False).diagnostics
    return found.fix is None and "gradient_override_map" in found.message


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        (DIRECT, "    def operator(self, x):\n        return flipped(x)\n"),
        (DIRECT, "    operator = staticmethod(layer(3))\n"),
        (
            DIRECT,
            "    def operator(self, x):\n        return self.far(x)\n\n"
            "    def far(self, x):\n        return flipped(x)\n",
        ),
        (MADE, "    def get_model(self):\n        return Model()\n"),
    ],
)
def test_run_instead(asked: str, body: str) -> None:
    assert left(asked, body)


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        (DIRECT, "    def operator(self, x):\n        return tf.tanh(x)\n"),
        (DIRECT, "    def other(self, x):\n        return flipped(x)\n"),
        ("tf.tanh(x)", "    def operator(self, x):\n        return flipped(x)\n"),
    ],
)
def test_not_run(asked: str, body: str) -> None:
    assert not left(asked, body)


KEPT = """\
import tensorflow as tf


class Plain(object):
    def run(self, x):
        return tf.tanh(x)


class Base(object):
    def __init__(self):
        self.model = self.get_model()

    def slope(self, x):
        return tf.gradients(tf.square(self.model.run(x)), x)[0]

    def get_model(self):
        {ends}
"""
CALLED = """\
from base import Base, Plain
from layers import {made}


class Sub(Base):
    def get_model(self):
        return {made}()
"""


@pytest.mark.parametrize("ends", ["raise NotImplementedError", "return Plain()"])
@pytest.mark.parametrize("made", ["Model", "Other"])
def test_made_in_another_method(made: str, ends: str) -> None:
    layers = (
        LAYERS
        if made == "Model"
        else "class Other(object):\n    def run(self, x):\n        return x\n"
    )
    texts = {
        "base.py": KEPT.format(ends=ends),
        "main.py": CALLED.format(made=made),
        "layers.py": layers,
    }
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    found = analyse(files, Settings(), rewrite=False).diagnostics
    assert any("gradient_override_map" in each.message for each in found) == (made == "Model")


def test_in_the_file_itself() -> None:
    body = "    def operator(self, x):\n        return self.far(x)\n\n"
    body += "    far = staticmethod(layer(3))\n"
    main = MAIN.format(name="Sub", body=body).replace("from base import Base\n", "")
    text = main.replace(
        "\n\nclass Sub", BASE.format(asked=DIRECT).split("tf\n", 1)[1] + "\n\nclass Sub", 1
    )
    files = {"a.py": SourceFile("a.py", text), "layers.py": SourceFile("layers.py", LAYERS)}
    (found,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert found.fix is None
    assert "gradient_override_map" in found.message

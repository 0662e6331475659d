"""Objects in lists, dicts and other objects, and what they computed when they were made."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

PROGRAM = """\
import tensorflow as tf


class Layer(object):
    def __init__(self, name):
        self.rho = tf.get_variable(name, [3])
        self.scale = {made}

    def __call__(self, x):
        return x * {scale}


class Holder(object):
    def __init__(self, layer):
        self.layer = layer


{holding}


def through(x):
    return {use}


def slopes(x):
    y = {call}
    return tf.gradients(y, tf.trainable_variables())


slopes(tf.placeholder(tf.float32, [3]))
"""
SEVERAL = "LAYERS = []\nfor name in 'ab':\n    LAYERS.append(Layer(name))"
KEYED = "LAYERS = {}\nLAYERS['a'] = Layer('a')"


def applicability(**parts: str) -> str | None:
    text = PROGRAM.format(**parts)
    files = {"a.py": decode(text.encode(), "a.py")}
    assert ast.parse(text)
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    return diagnostic.fix and diagnostic.fix.applicability


@pytest.mark.parametrize(
    ("holding", "use"),
    [
        ("LAYER = Layer('a')", "LAYER(x)"),
        ("LAYERS = [Layer('a'), Layer('b')]", "LAYERS[0](x)"),
        ("LAYERS = {n: Layer(n) for n in 'ab'}", "LAYERS['a'](x)"),
        ("LAYERS = (Layer('a'),) + tuple()", "tf.add_n([each(x) for each in LAYERS])"),
        (SEVERAL, "tf.add_n([layer(x) for layer in LAYERS])"),
        (KEYED, "LAYERS['a'](x)"),
        ("HOLDER = Holder(Layer('a'))", "HOLDER.layer(x)"),
    ],
)
@pytest.mark.parametrize("inline", [True, False])
def test_layers_of_the_module(holding: str, use: str, inline: bool) -> None:
    call = use if inline else "through(x)"
    parts = {"holding": holding, "use": use, "call": call}
    assert applicability(**parts, made="tf.nn.softplus(self.rho)", scale="self.scale") is None
    if not inline:
        late = "tf.nn.softplus(self.rho) * self.scale"
        assert applicability(**parts, made="2.0", scale=late) is not None

"""Objects in lists, dicts and other objects, and what they computed when they were made."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

LAYER = """\
import tensorflow as tf


class Layer(object):
    def __init__(self, name):
        self.rho = tf.get_variable(name, [3])
        self.scale = {made}

    def __call__(self, x):
        return x * {scale}
"""
PROGRAM = (
    LAYER
    + """

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
)
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


NETS = (
    LAYER
    + """

LAYERS = [Layer("a"), Layer("b")]
LAYER = Layer("c")
"""
)
EARLY = {"made": "tf.nn.softplus(self.rho)", "scale": "self.scale"}
LATE = {"made": "2.0", "scale": "tf.nn.softplus(self.rho) * self.scale"}
MODEL = """\
import tensorflow as tf
from nets import LAYER, LAYERS, Layer
import nets


class Model(object):
    def __init__(self, net):
        self.net = net
        self.nets = [net]

    def slopes(self, x):
        y = {use}
        return tf.gradients(y, tf.trainable_variables())


def main():
    layer = Layer("d")
    Model(layer).slopes(tf.placeholder(tf.float32, [3]))


main()
"""


def of_files(**texts: str) -> str | None:
    files = {f"{name}.py": decode(text.encode(), f"{name}.py") for name, text in texts.items()}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    return diagnostic.fix and diagnostic.fix.applicability


USES = [
    *("LAYER(x)", "nets.LAYER(x)", "LAYERS[0](x)", "tf.add_n([each(x) for each in LAYERS])"),
    *("self.net(x)", "self.nets[0](x)", "tf.add_n([each(x) for each in self.nets])"),
]


@pytest.mark.parametrize("use", USES)
def test_layers_of_another_file(use: str) -> None:
    model = MODEL.format(use=use)
    assert of_files(model=model, nets=NETS.format(**EARLY)) is None
    assert of_files(model=model, nets=NETS.format(**LATE)) == "safe"


@pytest.mark.parametrize("use", USES[4:])
def test_layers_of_a_class_that_is_not_at_hand(use: str) -> None:
    assert of_files(model=MODEL.format(use=use)) == "unsafe"


def test_what_is_new_no_layer_knows() -> None:
    use = "self.net(x)\n        x = tf.ones([3])\n        y = self.net(x)"
    model = MODEL.format(use=use).replace("tf.trainable_variables()", "x")
    assert of_files(model=model) == "safe"


ASKED = """\
import tensorflow as tf


class Dense(object):
    def __init__(self, name):
        self.w = tf.get_variable(name, [3])
        self.last = None

    def call(self, x):
        {asked}
        return x * self.w


class Net(object):
    def __init__(self):
        self.first = Dense("a")

    def __call__(self, x):
        h = self.first.call(x)
        return self.first.call(h)


def slope(net, x):
    return tf.gradients(net(x), x)[0]


NET = Net()
slope(NET, tf.placeholder(tf.float32, [3]))
"""


def test_parts_that_are_asked_keep_nothing() -> None:
    """Only a method that sets something can keep what an earlier call computed."""
    assert of_files(a=ASKED.format(asked="pass")) == "safe"
    hidden = ASKED.replace("class Net(", "from dense import Dense\n\n\nclass Net(")
    assert of_files(a=hidden.format(asked="pass")) == "unsafe"
    kept = "if self.last is None:\n            self.last = tf.sin(x)\n        x = self.last"
    assert of_files(a=ASKED.format(asked=kept)) == "unsafe"


ABSTRACT = (
    LAYER.format(made="tf.exp(self.rho)", scale="self.scale")
    + """

class Model(object):
    def slopes(self):
        y = self._forward(2.0)
        return tf.gradients(y, tf.trainable_variables())


class Stacked(Model):
    def _forward(self, x):
        return Layer("rho")(x)
"""
)


@pytest.mark.parametrize(("more", "asked"), [("", False), ("\n\nModel()._forward = OTHER\n", True)])
def test_a_method_that_a_subclass_has_is_no_object_but_what_takes_its_place_may_be_one(
    more: str, asked: bool
) -> None:
    files = {"model.py": decode((ABSTRACT + more).encode(), "model.py")}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    said = "`self._forward` runs its forward pass where it is called" in diagnostic.message
    assert said is asked

"""Attributes that are set unseen, and methods that run on objects of another class."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

NETS = """\
import tensorflow as tf


class Net:
    def __init__(self):
        self.scale = tf.constant(3.0)

    @classmethod
    def of(cls, settings):
        return cls()

    def slope(self, x):
        y = tf.square(x) * self.scale
        return tf.gradients(y, x)[0]
"""
MAIN = """\
import copy
import functools
import tensorflow as tf
from nets import Net

put = setattr


class Other:
    def __init__(self, x):
        self.scale = tf.tanh(x)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


class Wide(Net):
    def slope_above(self, x):
        return Net.slope(self, x)


class Guarded(Net):
    rate = 1.0


def configured(thing, **parts):
    for name, value in parts.items():
        setattr(thing, name, value)
    return thing


def run(x, key, args):
    net = Net()
    {code}
"""


def is_safe(code: str, main: str = MAIN) -> bool:
    """Whether the gradient call has a safe fix beside a file that runs ``code``."""
    files = {
        name: SourceFile(name, text)
        for name, text in {"nets.py": NETS, "main.py": main.format(code=code)}.items()
    }
    found = analyse(files, Settings(), rewrite=False).diagnostics
    (fix,) = [each.fix for each in found if each.code == "TM101"]
    return fix is not None and fix.applicability == "safe"


@pytest.mark.parametrize(
    "code",
    [
        "return net.slope(x)",
        "configured(Other(x), scale=x)\n    return net.slope(x)",
        "put(Other(x), key, x)\n    return net.slope(x)",
        "settings = vars(args)\n    return net.slope(x)",
        "state = net.__dict__\n    print(state)\n    return net.slope(x)",
        "state = vars(net)\n    return net.slope(x), sorted(state)",
        "other = Other(x)\n    other.__dict__ = {'scale': x}\n    return net.slope(x)",
        "return Net.slope(net, x)",
        "return Net.slope(Net(), x) + Wide().slope_above(x)",
        "return Net.of(args).slope(x)",
    ],
)
def test_the_object_has_what_its_class_shows(code: str) -> None:
    assert is_safe(code)


@pytest.mark.parametrize(
    "code",
    [
        "configured(net, scale=x)\n    return net.slope(x)",
        "configured(thing=net, scale=x)\n    return net.slope(x)",
        "put(net, key, x)\n    return net.slope(x)",
        "list(map(setattr, [net], [key], [x]))\n    return net.slope(x)",
        "functools.partial(setattr, net)(key, x)\n    return net.slope(x)",
        "net.__setattr__(key, x)\n    return net.slope(x)",
        "object.__setattr__(net, key, x)\n    return net.slope(x)",
        "net.__dict__ = {'scale': x}\n    return net.slope(x)",
        "state = vars(net)\n    state[key] = x\n    return net.slope(x)",
        "state = net.__dict__\n    state.update(scale=x)\n    return net.slope(x)",
        "for each in [Net(), net]:\n        put(each, key, x)\n    return net.slope(x)",
        "setattr(Net, key, x)\n    return net.slope(x)",
        "return Net.slope(Other(x), x)",
        "return Net.slope(args, x)",
    ],
)
def test_the_object_may_have_something_else(code: str) -> None:
    assert not is_safe(code)

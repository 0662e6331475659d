"""Names of a module that other files set where its own name does not stand."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

LAYERS = """\
import tensorflow as tf

SCALE = 3.0


def slope(x):
    y = tf.square(x) * SCALE
    return tf.gradients(y, x)[0]
"""
MAIN = """\
import importlib
import sys
import tensorflow as tf
import layers


class Holder:
    def __init__(self, held):
        self.held = held

    def put(self, value):
        self.held.SCALE = value


def put(where, value):
    where.SCALE = value


def put_as(where, name, value):
    setattr(where, name, value)


def run(x, key, args):
    {code}
    return layers.slope(x)
"""


def is_safe(code: str) -> bool:
    """Whether the gradient call has a safe fix beside a file that runs ``code``."""
    files = {
        name: SourceFile(name, text)
        for name, text in {"layers.py": LAYERS, "main.py": MAIN.format(code=code)}.items()
    }
    found = analyse(files, Settings(), rewrite=False).diagnostics
    (fix,) = [each.fix for each in found if each.code == "TM101"]
    return fix is not None and fix.applicability == "safe"


@pytest.mark.parametrize(
    "code",
    [
        "put(args, x)",
        "Holder(args).put(x)",
        "setattr(args, key, x)",
        "args.modules[key].SCALE = x",
        "sys.modules[__name__].SCALE = x",
        "args.modules['layers'].SCALE = x",
        "print(layers)",
    ],
)
def test_the_name_stays(code: str) -> None:
    assert is_safe(code)


@pytest.mark.parametrize(
    "code",
    [
        "put(layers, x)",
        "Holder(layers).put(x)",
        "setattr(layers, key, x)",
        "put_as(layers, 'SCALE', x)",
        "put_as(layers, key, x)",
        "layers.__dict__[key] = x",
        "layers.__dict__.update(SCALE=x)",
        "importlib.import_module('layers').SCALE = x",
        "sys.modules['layers'].SCALE = x",
        "sys.modules[key].SCALE = x",
        "[layers][0].SCALE = x",
    ],
)
def test_the_name_may_be_set(code: str) -> None:
    assert not is_safe(code)

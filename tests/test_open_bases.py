"""Classes whose bases do not stand there: which may extend a class that the file names."""

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

    def prepare(self, x):
        pass

    def slope(self, x):
        self.prepare(x)
        return self.slope_of(x)

    def slope_of(self, x):
        y = tf.square(x) * self.scale
        return tf.gradients(y, x)[0]


class Plain:
    pass
"""
MAIN = """\
import collections
import typing
import tensorflow as tf
import nets
from nets import Net, Plain

{bases}


class Wide({base}):
    def prepare(self, x):
        self.scale = tf.tanh(x)


def run(x):
    return Net().slope(x)
"""


def is_safe(bases: str, base: str) -> bool:
    """Whether the gradient call has a safe fix beside a class of ``base``."""
    main = MAIN.format(bases=bases, base=base)
    files = {n: SourceFile(n, t) for n, t in {"nets.py": NETS, "main.py": main}.items()}
    found = analyse(files, Settings(), rewrite=False).diagnostics
    (fix,) = [each.fix for each in found if each.code == "TM101"]
    return fix is not None and fix.applicability == "safe"


@pytest.mark.parametrize(
    ("bases", "base"),
    [
        ("", "object"),
        ("", "Plain"),
        ("", "nets.Plain"),
        ("", "tf.Module"),
        ("", "typing.Generic[str]"),
        ("", "collections.namedtuple('Wide', 'a b')"),
        ("Base = Plain", "Base"),
        ("Base = collections.namedtuple('Base', 'a b')", "Base"),
        ("from collections import namedtuple\nBase = namedtuple('Base', 'a b')", "Base"),
        ("class Mid(Plain, typing.Generic[str]):\n    pass", "Mid[int]"),
    ],
)
def test_it_is_no_heir(bases: str, base: str) -> None:
    assert is_safe(bases, base)


@pytest.mark.parametrize(
    ("bases", "base"),
    [
        ("", "Net"),
        ("", "nets.Net"),
        ("", "Net if tf.executing_eagerly() else Plain"),
        ("", "*[Net]"),
        ("", "{'net': Net}['net']"),
        ("Base = Net", "Base"),
        ("Base, rate = Net, 0.1", "Base"),
        ("Base, rate = (lambda: (Net, 0.1))()", "Base"),
        ("Base = Net if tf.executing_eagerly() else Plain", "Base"),
        ("if tf.executing_eagerly():\n    Base = Net\nelse:\n    Base = Plain", "Base"),
        ("KNOWN = {'net': Net}", "KNOWN['net']"),
        ("for Base in [Net]:\n    pass", "Base"),
        ("def chosen():\n    return Net", "chosen()"),
        ("class Space:\n    Base = Net", "Space.Base"),
        ("class Mid(Net, typing.Generic[str]):\n    pass", "Mid[int]"),
    ],
)
def test_it_may_be_an_heir(bases: str, base: str) -> None:
    assert not is_safe(bases, base)

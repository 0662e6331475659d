"""What methods of objects that are kept may read: see ``rules/handing/as_tensors.py``."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_PROGRAM = """\
import tensorflow as tf


class Base(object):
    def sum(self):
        return tf.add_n(self.found)


class Parts(Base):
    def __init__(self, x):
        self.out = tf.reduce_sum(x**3)
        self.found = [self.out]

{method}


class Model(object):
    def __init__(self, x):
        self.x = tf.identity(x)
        self.kept = Parts(self.x)

    def slope(self):
        return tf.gradients(self.kept.total() * 2.0, self.x)[0]


def read(parts):
    return tf.add_n(parts.found)


def losses(model):
{others}
"""
_SHARED = "    found = model.kept.found\n    found.append(model.x)"
_ALONE = "    return len(model.kept.found)"


def total(value: str, more: str = "pass") -> str:
    """A method that gives ``value``, and what else stands in the class."""
    return f"    def total(self):\n        return {value}\n\n    {more}"


_READING = [
    total("tf.add_n(self.found)"),
    total("self.more()", "def more(self):\n        return tf.add_n(self.found)"),
    total("self.sum()"),
    total("super().sum()"),
    total("super(Parts, self).sum()"),
    total("Base.sum(self)"),
    total("read(self)"),
    total("tf.add_n(getattr(self, 'fo' + 'und'))"),
    total("tf.add_n(vars(self)['found'])"),
    total("tf.add_n(self.__dict__['found'])"),
    total("self.all", "@property\n    def all(self):\n        return tf.add_n(self.found)"),
    total("self.all", "all = property(lambda self: tf.add_n(self.found))"),
    "    total = lambda self: tf.add_n(self.found)",
]
_PLAIN = [
    total("tf.sin(self.out)"),
    total("tf.sin(self.get())", "def get(self):\n        return self.out"),
]


def is_fixed(method: str, others: str) -> bool:
    """Whether the one call of the program gets a safe fix."""
    text = _PROGRAM.format(method=method, others=others)
    files = {"a.py": decode(text.encode(), "a.py")}
    (found,) = analyse(files, Settings(unsafe_fixes=True), rewrite=False).diagnostics
    assert found.fix is None or found.fix.applicability == "safe"
    return found.fix is not None


@pytest.mark.parametrize("method", _READING)
def test_a_list_that_others_have_is_read_by_a_method(method: str) -> None:
    assert not is_fixed(method, _SHARED)


@pytest.mark.parametrize("method", _PLAIN)
def test_a_method_reads_no_list(method: str) -> None:
    assert is_fixed(method, _SHARED)


@pytest.mark.parametrize("method", _READING[:3])
def test_a_list_that_only_its_object_has(method: str) -> None:
    assert is_fixed(method, _ALONE)

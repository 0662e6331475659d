"""Functions that a decorator is handed, and what they read where they stand."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf


def deriv(fn):
    def inner(v):
        y = fn(v)
        return tf.gradients(y, v)[0]

    return inner


x = tf.ones([2])
{before}


@deriv
def slope(q):
    return q * {read}


{since}
slope(x)
"""


def is_safe(before: str, read: str, since: str) -> bool:
    text = PROGRAM.format(before=before, read=read, since=since)
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False)
    (found,) = (each for each in result.diagnostics if each.code == "TM101")
    return found.fix is not None and found.fix.applicability == "safe"


@pytest.mark.parametrize(
    ("before", "read", "since"),
    [
        ("K = tf.constant([2.0, 3.0])", "K", "K = K * x"),
        ("K = x * x", "K", ""),
        ("K = 2.0", "K", "K = tf.sin(x)"),
        ("ks = []", "ks[-1]", "ks.append(x * x)"),
    ],
)
def test_what_may_be_made_of_the_source(before: str, read: str, since: str) -> None:
    assert not is_safe(before, read, since)


@pytest.mark.parametrize(
    ("before", "read", "since"),
    [
        ("", "tf.sin(q)", ""),
        ("K = 2.0", "K", ""),
        ("K = 2.0", "K", "K = 3.0"),
        ("def double(v):\n    return v * 2.0\n", "double(q)", ""),
    ],
)
def test_what_is_not(before: str, read: str, since: str) -> None:
    assert is_safe(before, read, since)

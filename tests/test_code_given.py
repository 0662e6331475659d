"""Functions that a decorator or another function is handed, and what they read or find."""

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


LEARNER = """\
import tensorflow as tf
from policies import {imports}


class Learner(object):
    def __init__(self, policy{default}):
        self.policy = policy
        acting = policy(tf.ones([1, 2]))
        self.grads = tf.gradients(acting, tf.trainable_variables())


{calls}
"""
POLICIES = """\
import functools

import tensorflow as tf

KEPT = {}
SCALE = 2.0


def use(scale):
    global SCALE
    SCALE = 3.0 if scale else 1.0


def weights():
    return tf.get_variable("w", [2, 1])


def plain(x):
    return tf.matmul(x, weights())


def lasting(x):
    if "w" not in KEPT:
        KEPT["w"] = weights() ** 2
    return tf.matmul(x, KEPT["w"])


@functools.lru_cache(None)
def squared():
    return weights() ** 2


def cached(x):
    return tf.matmul(x, squared())


ALL = {"plain": plain, "lasting": lasting}
"""


def learner_is_safe(imports: str, calls: str, default: str = "") -> bool:
    text = LEARNER.format(imports=imports, calls=calls, default=default)
    files = {
        "learner.py": SourceFile("learner.py", text),
        "policies.py": SourceFile("policies.py", POLICIES),
    }
    result = analyse(files, Settings(), rewrite=False)
    (found,) = (each for each in result.diagnostics if each.code == "TM101")
    return found.fix is not None and found.fix.applicability == "safe"


@pytest.mark.parametrize(
    ("imports", "calls", "default"),
    [
        ("lasting", "Learner(lasting)", ""),
        ("lasting", "Learner(policy=lasting)", ""),
        ("lasting", "Learner(lambda x: 2.0 * lasting(x))", ""),
        ("lasting, plain", "Learner(plain)\nLearner(lasting)", ""),
        ("lasting", "Learner()", "=lasting"),
        ("cached", "Learner(cached)", ""),
        ("ALL", 'Learner(ALL["lasting"])', ""),
    ],
)
def test_what_is_handed_in_finds_what_it_kept(imports: str, calls: str, default: str) -> None:
    assert not learner_is_safe(imports, calls, default)


@pytest.mark.parametrize(
    ("imports", "calls", "default"),
    [
        ("plain", "Learner(plain)", ""),
        ("plain", "Learner(policy=plain)", ""),
        ("plain", "Learner(lambda x: 2.0 * plain(x))", ""),
        ("plain", "Learner()", "=plain"),
        ("lasting", "Learner(tf.nn.relu)", ""),
    ],
)
def test_what_is_handed_in_keeps_nothing(imports: str, calls: str, default: str) -> None:
    assert learner_is_safe(imports, calls, default)

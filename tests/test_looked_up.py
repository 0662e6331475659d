"""Functions that are called by names which cannot be seen: what may be such a call."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PENALTIES = """\
import tensorflow as tf


def slope(x, scale):
    y = tf.square(x) * scale
    return tf.gradients(y, x)[0]


def twice(x):
    return 2.0 * x
"""
MODELS = """\
import tensorflow as tf


class Net:
    def slope(self, x, scale):
        y = tf.square(x) * scale
        return tf.gradients(y, x)[0]
"""
MADE = """\
import tensorflow as tf


class Net:
    def __init__(self, x, scale):
        y = tf.square(x) * scale
        self.slope = tf.gradients(y, x)[0]
"""
MAIN = """\
import importlib
import operator
import sys
import tensorflow as tf
import {module}


def seen(x):
    return {seen}


def run(x, kind, names, sess):
    {code}
"""


def is_safe(module: str, text: str, seen: str, code: str, more: str = "") -> bool:
    """Whether the gradient call in ``text`` has a safe fix beside a file that runs ``code``."""
    main = MAIN.format(module=module, seen=seen, code=code)
    texts = {f"{module}.py": text, "main.py": main + more}
    files = {name: SourceFile(name, each) for name, each in texts.items()}
    found = analyse(files, Settings(), rewrite=False).diagnostics
    (fix,) = [each.fix for each in found if each.code == "TM101"]
    return fix is not None and fix.applicability == "safe"


@pytest.mark.parametrize(
    "code",
    [
        "return getattr(penalties, kind)(x)",  # takes two
        "return getattr(penalties, kind)(x, x, x)",
        "return getattr(tf, kind)(x, tf.tanh(x))",
        "return getattr(operator, 'add')(x, tf.tanh(x))",
        "return tf.tanh(x).eval(sess)",
        "return sess.eval(kind, tf.tanh(x))",
        "return hasattr(penalties, kind), callable(getattr(penalties, kind))",
        "return [getattr(penalties, n)(x, tf.tanh(x)) for n in ('total', 'product')]",
        "f = getattr(penalties, kind)\n    return f(x)",
        "return sess.modules[kind](x, tf.tanh(x))",
        "sess.modules[kind].rate = tf.tanh(x)\n    return x",
        "return getattr(sys.modules[__name__], kind)(x, tf.tanh(x))",
        "return getattr(sess.modules[0], kind)(x, tf.tanh(x))",
        "return {'a': kind}.get(kind)",
    ],
)
def test_no_call_of_the_function(code: str) -> None:
    assert is_safe("penalties", PENALTIES, "penalties.slope(x, tf.constant(3.0))", code)


@pytest.mark.parametrize(
    "code",
    [
        "return getattr(penalties, kind)(x, tf.tanh(x))",
        "return getattr(penalties, kind, None)(x=x, scale=tf.tanh(x))",
        "return getattr(penalties, kind)(*[x, tf.tanh(x)])",
        "f = getattr(penalties, kind)\n    return f(x, tf.tanh(x))",
        "return [getattr(penalties, n)(x, tf.tanh(x)) for n in names]",
        "return [getattr(penalties, n)(x, tf.tanh(x)) for n in ('twice', 'slope')]",
        "return (lambda: getattr(penalties, kind))()(x, tf.tanh(x))",
        "return {n: getattr(penalties, n) for n in names}[kind](x, tf.tanh(x))",
        "return vars(penalties)[kind](x, tf.tanh(x))",
        "return vars(penalties).get(kind)(x, tf.tanh(x))",
        "return penalties.__dict__[kind](x, tf.tanh(x))",
        "return operator.attrgetter(kind)(penalties)(x, tf.tanh(x))",
        "return eval('penalties.' + kind)(x, tf.tanh(x))",
        "return eval(kind)(x, tf.tanh(x))",
        "return getattr(importlib.import_module(kind), kind)(x, tf.tanh(x))",
        "return getattr(sys.modules[kind], kind)(x, tf.tanh(x))",
        "return [getattr(penalties, n)(x, tf.tanh(x)) for n in dir(penalties)]",
    ],
)
def test_perhaps_a_call_of_the_function(code: str) -> None:
    assert not is_safe("penalties", PENALTIES, "penalties.slope(x, tf.constant(3.0))", code)


@pytest.mark.parametrize(
    "code",
    [
        "return getattr(sess, kind)(x)",
        "return getattr(tf, kind)(x, tf.tanh(x))",
        "net = Other()\n    return getattr(net, kind)(x, tf.tanh(x))",
        "return getattr(Other, kind)(x, tf.tanh(x))",
        "return Other().by_name(kind, x)",
        "return Proxy().slope(x, tf.tanh(x))",
    ],
)
def test_no_call_of_the_method(code: str) -> None:
    more = (
        "\n\nclass Other:\n    def by_name(self, kind, x):\n"
        "        return getattr(self, kind)(x, tf.tanh(x))\n"
        "\n\nclass Proxy:\n    def __getattr__(self, name):\n        return name\n\n"
        "    def slope(self, x, scale):\n        return x * scale\n"
    )
    assert is_safe("models", MODELS, "models.Net().slope(x, tf.constant(3.0))", code, more)


@pytest.mark.parametrize(
    "code",
    [
        "return getattr(sess, kind)(x, tf.tanh(x))",
        "net = models.Net()\n    return getattr(net, kind)(x, tf.tanh(x))",
        "net = models.Net()\n    return net.__getattribute__(kind)(x, tf.tanh(x))",
        "return vars(models.Net)[kind](models.Net(), x, tf.tanh(x))",
        "return Wide().by_name(kind, x)",
        "return Proxy().slope(x, tf.tanh(x))",
    ],
)
def test_perhaps_a_call_of_the_method(code: str) -> None:
    more = (
        "\n\nclass Wide(models.Net):\n    def by_name(self, kind, x):\n"
        "        return getattr(self, kind)(x, tf.tanh(x))\n"
        "\n\nclass Proxy:\n    def __getattr__(self, name):\n"
        "        return getattr(models.Net(), name)\n"
    )
    assert not is_safe("models", MODELS, "models.Net().slope(x, tf.constant(3.0))", code, more)


@pytest.mark.parametrize(
    ("code", "safe"),
    [
        ("return getattr(made, kind)(x)", True),
        ("return getattr(tf, kind)(x, tf.tanh(x))", True),
        ("return getattr(made, kind)(x, tf.tanh(x)).slope", False),
        ("return eval(kind)(x, tf.tanh(x)).slope", False),
    ],
)
def test_perhaps_an_object_is_made(code: str, safe: bool) -> None:
    assert is_safe("made", MADE, "made.Net(x, tf.constant(3.0)).slope", code) is safe


FLAT = """\
import tensorflow as tf


def flat(loss, sources):
    return [tf.reshape(g, [-1]) for g in tf.gradients(loss, sources)]
"""
PROXY = """\
import tensorflow as tf
import flat


class Proxy:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


def run(x, env):
    x = tf.identity(x)
    loss = tf.tanh(x)
    return flat.flat(loss, [x]), {code}
"""


@pytest.mark.parametrize(
    ("code", "stays"),
    [
        ("Proxy(env).close()", False),
        ("Proxy(flat).flat(tf.sin(x), [x])", True),
        ("env.flat(tf.sin(x), [x])", True),
        ("Proxy(env).flat", True),
    ],
)
def test_a_proxy_has_of_a_module_what_it_is_asked_for(code: str, stays: bool) -> None:
    texts = {"flat.py": FLAT, "main.py": PROXY.replace("{code}", code)}
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    (found,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert ("the old call stays" in found.message) is stays

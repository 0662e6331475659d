"""What is handed through lambdas and other functions, of which not all calls are seen."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

MODULE = """
import functools
import tensorflow as tf

w = tf.get_variable("W", [2])
v = w * 2.0


def body(h):
    y = tf.reduce_sum(h * w)
    return tf.gradients(y, w)[0]


def between(h):
    return body(h)


def later(f, *a):
    return f(*a)


def by_name(f, **named):
    return f(**named)


def wrapped(f):
    return lambda *a: f(*a)


class Later(object):
    def __init__(self, f):
        self.f = f

    def __call__(self, *a):
        return self.f(*a)


def run():
    return {call}


run()
between(tf.ones([2]))
"""
OBJECT = """
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.w = tf.get_variable("W", [2])
        self.v = self.w * 2.0

    def body(self, h):
        y = tf.reduce_sum(h * self.w)
        return tf.gradients(y, self.w)[0]

    def between(self, h):
        return self.body(h)

    def run(self):
        self.between(tf.ones([2]))
        return {call}


Net().run()
"""


def is_safe(text: str) -> bool:
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.fix is not None and finding.fix.applicability == "safe"


@pytest.mark.parametrize(
    "call",
    [
        "tf.map_fn(lambda h: body(h), w * 2.0)",
        "tf.map_fn(lambda h: body(h), v)",
        "tf.map_fn(body, v)",
        "tf.map_fn(fn=body, elems=v)",
        "tf.scan(lambda a, h: body(h), v)",
        "tf.foldl(lambda a, h: body(h), w * 2.0)",
        "tf.foldr(lambda a, h: body(h), w * 2.0)",
        "tf.vectorized_map(body, w * 2.0)",
        "list(map(between, [w * 2.0]))",
        "functools.partial(between, w * 2.0)()",
        "(lambda h: body(h))(w * 2.0)",
        "[each(w * 2.0) for each in [between]]",
        "later(between, w * 2.0)",
        "later(lambda h: between(h), w * 2.0)",
        "by_name(between, h=w * 2.0)",
        "wrapped(between)(w * 2.0)",
        "Later(between)(w * 2.0)",
        "tf.map_fn(wrapped(between), v)",
        "functools.reduce(lambda a, h: between(h), [v], v)",
        "between(*[w * 2.0])",
        "between(**{{'h': w * 2.0}})",
    ],
)
def test_of_a_variable_of_the_module(call: str) -> None:
    assert not is_safe(MODULE.format(call=call))


@pytest.mark.parametrize(
    "call",
    [
        "tf.map_fn(lambda h: self.body(h), self.w * 2.0)",
        "tf.map_fn(lambda h: self.body(h), self.v)",
        "tf.map_fn(self.body, self.v)",
        "list(map(self.between, [self.w]))",
        "getattr(self, 'between')(self.v)",
        "self.between(*[self.v])",
    ],
)
def test_of_an_attribute(call: str) -> None:
    assert not is_safe(OBJECT.format(call=call))


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (MODULE, "tf.map_fn(lambda h: body(h), tf.ones([2, 2]))"),
        (MODULE, "tf.map_fn(body, tf.ones([2, 2]))"),
        (MODULE, "tf.scan(lambda a, h: body(h), tf.ones([2, 2]))"),
        (MODULE, "tf.foldl(lambda a, h: body(h), tf.ones([2, 2]))"),
        (MODULE, "tf.foldr(lambda a, h: body(h), tf.ones([2, 2]))"),
        (MODULE, "tf.vectorized_map(body, tf.ones([2, 2]))"),
        (MODULE, "tf.cond(True, lambda: body(tf.ones([2])), run)"),
        (MODULE, "between(tf.ones([2]))"),
        (MODULE, "later(tf.nn.relu, w * 2.0)"),
        (OBJECT, "tf.map_fn(lambda h: self.body(h), tf.ones([2, 2]))"),
        (OBJECT, "self.between(tf.ones([2]))"),
    ],
)
def test_of_nothing_that_was_made_of_it(text: str, call: str) -> None:
    assert is_safe(text.format(call=call))


def test_further_up_than_is_followed() -> None:
    functions = "".join(
        f"def f{n}(h):\n    return {f'f{n - 1}' if n else 'body'}(h)\n\n\n" for n in range(8)
    )
    text = MODULE.format(call="f7(w * 2.0)").replace("def run", functions + "def run")
    assert not is_safe(text)


def test_the_message_shows_the_source_as_the_call_does() -> None:
    text = """
import tensorflow as tf


class Model:
    def __init__(self):
        self.loss = tf.reduce_sum(tf.get_variable("W", [2]) ** 2)
        self.d_vars = choose(tf.trainable_variables())


def slopes(loss, values):
    return tf.gradients(loss, values)


def train():
    model = Model()
    return slopes(model.loss, model.d_vars)


train()
"""
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    (message,) = (each.message for each in found)
    assert "[model.d_vars]" not in message
    assert "computed from `model.d_vars`" in message

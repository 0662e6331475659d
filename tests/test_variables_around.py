"""Names of a function around that an inner one asks by, where not all of them is seen."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.model import Diagnostic
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_PROGRAM = """\
import tensorflow as tf
from layers import Dense, {maker}


def train(x):
    layer = Dense(3)
    {name} = {maker}(layer)

    def gradients():
        loss = tf.reduce_sum(layer.apply(x))
        return tf.gradients(loss, {name})

    return gradients()


train(tf.ones([2, 2]))
"""

_SAMPLER = """\
import tensorflow as tf
from data import figure


class Sampler:
    def __init__(self, function):
        self.function = function

    def sample(self, count):
        return self.function(count)


class Model:
    def __init__(self, sampler, rate):
        self.slope = tf.Variable(1.0)
        loss = self.slope * sampler.sample(2.0)
        self.gradients = tf.gradients(loss, [self.slope])
        self.rows = []
        self.rate = rate


rate = {rate}
sampler = Sampler(lambda x: x * rate)
model = Model(sampler, rate)
rows = model.rows
axes = figure(1)
axes.plot(rows)
"""


def _found(text: str) -> Diagnostic:
    (found,) = analyse(
        {"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=False
    ).diagnostics
    return found


@pytest.mark.parametrize(
    ("name", "maker"), [("values", "get_vars"), ("trainable_vars", "collected")]
)
def test_what_is_called_so_is_taken_for_variables(name: str, maker: str) -> None:
    found = _found(_PROGRAM.format(name=name, maker=maker))
    assert found.fix is not None
    assert found.fix.applicability == "unsafe"
    assert f"`{name}` holds trainable variables" in found.message
    assert "`layer` runs its forward pass where it is called" in found.message


def test_what_is_not_called_so_may_be_anything() -> None:
    found = _found(_PROGRAM.format(name="values", maker="outputs"))
    assert found.fix is None
    assert found.message.endswith("nothing here shows that `loss` is computed from `values`")


@pytest.mark.parametrize(
    ("rate", "safe"), [("0.5", True), ("2.0 * 3", True), ("tf.Variable(2.0) * 3.0", False)]
)
def test_a_number_that_calls_are_handed_stays_one(rate: str, safe: bool) -> None:
    found = _found(_SAMPLER.format(rate=rate))
    assert (found.fix is not None and found.fix.applicability == "safe") == safe

"""What expressions make, by their own text and by what the file says of variables."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.indexes import kinds_of
from tapemigrate.rules.kept_units import unit
from tapemigrate.source.decoding import SourceFile
from tapemigrate.tape.ops.kinds import Kinds, Make


def asked(value: str, above: str = "") -> tuple[Kinds, ast.expr]:
    here = unit(SourceFile("a.py", f"import tensorflow as tf\n{above}\nz = {value}\n"))
    last = here.tree.body[-1]
    assert isinstance(last, ast.Assign)
    return kinds_of(here), last.value


REUSE = "scope = tf.variable_scope('n', reuse=True)"
FROZEN = f"{REUSE}\nw = tf.get_variable('w', [2], trainable=False)"
RUNNER = "class Runner:\n    def run(self, x):\n        return x\nsess = Runner()"


@pytest.mark.parametrize(
    ("value", "above", "expected"),
    [
        ("tf.get_variable('w', [2])", "", Make.VARIABLE),
        ("-tf.get_variable('w', [2])", "", Make.TENSOR),
        ("-2.0", "", Make.PYTHON),
        ("tf.get_variable('w', [2], tf.float32, None, None, False)", "", Make.FROZEN),
        ("tf.get_variable('w', [2], tf.float32, None, None, True)", "", Make.VARIABLE),
        ("tf.Variable(2.0, synchronization=ON_READ)", "", Make.FROZEN),
        ("tf.get_variable('w')", FROZEN, Make.FROZEN),
        ("tf.get_variable('w')", REUSE, Make.VARIABLE),
        ("tf.Variable(2.0)", FROZEN, Make.VARIABLE),
        ("tf.linspace(0.0, 1.0, 3)", "", Make.LEAF),
        ("tf.linspace(0.0, x, 3)", "", Make.TENSOR),
        ("'layer_%d' % n", "", Make.PYTHON),
        ("folder + '/' + name % n", "", Make.PYTHON),
        ("f'{n}' + name", "", Make.PYTHON),
        ("'a' * n", "", Make.UNKNOWN),
        ("name % 'a'", "", Make.UNKNOWN),
        ("x + tf.sin(x) % 2", "", Make.TENSOR),
        ("sess.run(x)", "", Make.PYTHON),
        ("sess.run(x)", RUNNER, Make.UNKNOWN),
    ],
)
def test_make(value: str, above: str, expected: Make) -> None:
    kinds, node = asked(value, above)
    assert kinds.make(node) is expected


GET = "def get(name):\n    return tf.get_variable(name, [2])"


@pytest.mark.parametrize(
    ("value", "above", "expected"),
    [
        ("tf.get_variable('w', [2])", "", True),
        ("tf.get_variable('w', [2])", REUSE, False),
        ("tf.Variable(2.0)", REUSE, True),
        ("get('w')", GET, True),
        ("get('w')", f"{REUSE}\n{GET}", False),
        ("weights.get('w')", GET, False),
    ],
)
def test_is_new(value: str, above: str, expected: bool) -> None:
    kinds, node = asked(value, above)
    assert kinds.is_new(node) is expected

"""Which state of a module functions fill with what an op made."""

from __future__ import annotations

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.source.decoding import SourceFile


def filled(*rows: str) -> frozenset[str]:
    body = "".join(f"    {row}\n" for row in rows)
    text = f"import tensorflow as tf\n\nSTATE = {{}}\n\n\ndef build(net, x):\n{body}"
    return unit(SourceFile("net.py", text)).once(filled_state)


@pytest.mark.parametrize(
    "rows",
    [
        ["w = tf.Variable(1.0)", "STATE['w'] = w"],
        ["w = tf.Variable(1.0)", "net.w = w", "STATE['w'] = w"],
        ["net.w = w = tf.Variable(1.0)", "STATE['w'] = w"],
    ],
)
def test_variables_and_numbers(rows: list[str]) -> None:
    assert filled(*rows) == frozenset()


@pytest.mark.parametrize(
    "rows",
    [
        ["h = tf.sin(x)", "net.h = h", "STATE['h'] = h"],
        ["w = tf.Variable(1.0)", "w = w * x", "STATE['w'] = w"],
        ["h = STATE['h'] = tf.sin(x)"],
        ["n, STATE['h'] = 3, tf.sin(x)"],
    ],
)
def test_what_ops_make(rows: list[str]) -> None:
    assert filled(*rows) == {"STATE"}

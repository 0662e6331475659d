"""The calls that ask a tape, as they are written: over how many lines."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf


def slopes(inputs):
{body}
"""
SHORT = """\
    y = tf.sin(inputs)
    return tf.gradients(y, inputs)"""
BROKEN = """\
    scaled_output_of_the_actor = tf.sin(inputs)
    unnormalized_actor_gradients = tf.gradients(
        scaled_output_of_the_actor, [inputs], -inputs)
    return unnormalized_actor_gradients"""
LONG = f"""\
    {"y" * 36} = tf.sin(inputs)
    {"g" * 36} = tf.gradients({"y" * 36}, [inputs], inputs)
    return {"g" * 36}"""
TEXT = """\
    scaled_output_of_the_actor = tf.sin(inputs)
    return f"the gradients {tf.gradients(scaled_output_of_the_actor, [inputs], -inputs)}"
"""


@pytest.mark.parametrize(
    ("body", "call"),
    [
        (SHORT, "tape.gradient(y, [inputs])"),
        (
            BROKEN,
            "tape.gradient(\n        scaled_output_of_the_actor, [inputs], "
            "output_gradients=-inputs)",
        ),
        (LONG, f"tape.gradient(\n        {'y' * 36}, [inputs], output_gradients=inputs)"),
        (TEXT, "tape.gradient(scaled_output_of_the_actor, [inputs], output_gradients=-inputs)"),
    ],
)
def test_a_call_takes_two_lines_where_one_would_be_longer_than_before(body: str, call: str) -> None:
    file = SourceFile("a.py", PROGRAM.format(body=body))
    text = analyse({"a.py": file}, Settings(unsafe_fixes=True), rewrite=True).rewritten["a.py"]
    ast.parse(text)
    assert call in text

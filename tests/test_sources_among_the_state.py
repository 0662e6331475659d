"""What is assumed of the state that a source is a part of: of its other parts, not of itself."""

from __future__ import annotations

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

TEXT = """
import tensorflow as tf


class Box(object):
    state = None


box = Box()


def fill(x):
    box.state = tf.identity(x)


def ask():
    y = tf.reduce_sum(box.state * box.state)
    return tf.gradients(y, {source})
"""


def message(source: str) -> str:
    text = TEXT.format(source=source)
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    return found[0].message


def test_the_source_itself_needs_no_assumption() -> None:
    assert message("box.state").endswith(
        "right if no other part of `box` was computed from `box.state`"
    )

"""What calls of methods set on their object, while a tape would record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run_text
from tapemigrate.settings import Settings

FIXTURES = Path(__file__).parents[1] / "fixtures"

BUILT = """\
import tensorflow as tf
from elsewhere import Network


class Base(object):
    def __init__(self):
        self.{kept} = tf.placeholder(tf.float32, [None, 3])


class Critic({above}):
    def __init__(self):
        {call}
        q = tf.layers.dense(tf.concat([self.obs, self.act], 1), 1)
        self.grads = tf.gradients(q, self.act)[0]
"""


def told(text: str) -> str:
    (found,) = run_text(text.encode(), "net.py", Settings(), mode="check").diagnostics
    kind = found.fix.applicability if found.fix is not None else "flag"
    return f"{kind}: {found.message}"


@pytest.mark.parametrize(
    ("above", "call"),
    [
        ("Network", "super().__init__()"),
        ("Network", "Network.__init__(self)"),
        ("Network", "self.make_inputs()"),
    ],
)
def test_what_a_constructor_calls_may_set_the_source(above: str, call: str) -> None:
    found = told(BUILT.format(kept="act", above=above, call=call))
    assert found.startswith("flag: ")
    assert "`self.act` is set by a method that the forward pass calls" in found


@pytest.mark.parametrize(
    "call", ["super().__init__()", "super(Critic, self).__init__()", "Base.__init__(self)"]
)
def test_what_a_class_in_sight_sets_is_watched_once_it_has_run(call: str) -> None:
    found = told(BUILT.format(kept="act", above="Base", call=call))
    assert "a tape round line 13 gives the same" in found


def test_a_class_above_may_set_other_parts() -> None:
    inputs = "self.act = tf.placeholder(tf.float32, [None, 3])\n        super().__init__()"
    found = told(BUILT.format(kept="obs", above="Base", call=inputs))
    assert "is set by a method" not in found


def test_what_is_out_of_sight_and_may_set_the_source_is_named() -> None:
    program = FIXTURES / "unsafe" / "source_set_by_a_method_out_of_sight.py"
    found = told(program.read_text())
    assert "right if `refresh`, which is not seen here, does not set `self.inputs`, and " in found

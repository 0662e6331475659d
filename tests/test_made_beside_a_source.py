"""What a call gives, keeps or puts elsewhere beside the source, as the fix names it."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.model import Fix
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

PROGRAM = """
import tensorflow as tf


class Network(object):
    def features(self, x):
        hidden = tf.tanh(x)
        self.sparsity = tf.reduce_sum(hidden ** 2)
        return hidden


def encode(x):
    return tf.tanh(x)


def step(x, {parameters}):
    {before}
    hidden = {source}
    y = tf.sin(hidden) + side
    return tf.gradients(y, hidden)[0]
"""


def fix_of(before: str, source: str, parameters: str = "rate", side: str = "side") -> Fix:
    """The fix of the call."""
    text = PROGRAM.format(parameters=parameters, before=before, source=source)
    text = text.replace("+ side\n", f"+ {side}\n")
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    assert finding.fix is not None
    return finding.fix


def assumed(before: str, source: str, parameters: str = "rate", side: str = "side") -> str:
    """What the fix of the call rests on."""
    fix = fix_of(before, source, parameters, side)
    assert fix.applicability == "unsafe"
    return fix.message


def test_what_a_method_keeps_is_named() -> None:
    message = assumed("network = Network()", "network.features(x)", side="network.sparsity")
    assert "`network` keeps nothing that was computed from `hidden`" in message


def test_what_a_function_gave_before_is_named() -> None:
    message = assumed("side = 3.0 * encode(x)", "encode(x)", "encode")
    assert "`hidden` is another tensor than `encode(x)` gave before" in message


def test_what_a_function_of_the_file_makes_is_another_tensor() -> None:
    assert fix_of("side = 3.0 * encode(x)", "encode(x)").applicability == "safe"


INNER_STEPS = """
import tensorflow as tf


def adapt(x, weights, steps, rate):
    fast = {put_together}
    for _ in range(steps):
        y = tf.reduce_sum(tf.square(fast["w"] * x))
        grads = dict(zip(fast.keys(), tf.gradients(y, list(fast.values()))))
        fast = {put_together}
    return fast
"""


@pytest.mark.parametrize(
    ("maker", "named"), [("dict", False), ("ordered", True)], ids=["a builtin", "a parameter"]
)
def test_a_dict_put_together_by_the_same_words_is_another_one(maker: str, *, named: bool) -> None:
    put_together = f"{maker}(zip(weights.keys(), [weights[k] - rate for k in weights.keys()]))"
    text = INNER_STEPS.format(put_together=put_together).replace(
        "steps, rate", "steps, rate, ordered"
    )
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    assert ("gave before" in (finding.fix.message if finding.fix else finding.message)) is named

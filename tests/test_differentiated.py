"""Values that the code itself differentiates by a source: no assumption says they are apart."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

GRADIENT = """\
import tensorflow as tf


def gradient(y, x):
    return tf.gradients(y, x)[0]
"""
EQUATION = """\
import tensorflow as tf
from lib import train
{imports}

def equation(outputs, x, t):
    {first}
    u_xx = {gradient}(u_x, x)
    return u_xx + outputs["u"]


train(equation)
"""


def told(first: str, gradient: str = "gradient") -> list[str]:
    imports = "from grad import gradient" if gradient == "gradient" else ""
    text = EQUATION.format(first=first, gradient=gradient, imports=imports)
    files = {"equation.py": text, "grad.py": GRADIENT}
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    return [each.message for each in found if each.code == "TM101"]


@pytest.mark.parametrize(
    "first",
    [
        'u_x = gradient(outputs["u"], x)',
        'u_x, u_t = gradient(outputs["u"], [x, t])',
        "u = outputs['u']; u_x = gradient(u, x)",
        "u_x = gradient(tf.square(outputs['u'][:, :-1]), x)",
    ],
)
def test_what_is_asked_for_its_gradient_was_computed_from_the_source(first: str) -> None:
    assert "was differentiated by the source in line 6" in told(first)[0]


def test_by_the_calls_themselves() -> None:
    found = told("u_x = tf.gradients(outputs['u'], x)[0]", "tf.gradients")
    assert len(found) == 3
    assert "were not computed" not in "".join(found)


@pytest.mark.parametrize(
    "first",
    [
        'u_x = gradient(outputs["u"] * x, x)',
        'u_x = gradient(outputs["u"] * t, x) * x',
        'u_x = gradient(outputs["u"], t) * x',
    ],
)
def test_others_may_be_apart(first: str) -> None:
    assert "was differentiated by" not in "".join(told(first))

"""Where tapes open, and calls that stay beside one, for the callers that hand in none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_HELPER = """\
import tensorflow as tf


def slope(u, x):
    return tf.gradients(u, {sources}){index}


def loss(x):
    u = tf.sin(x) * x
    return slope(u, x)


def report(results, x):
    return slope(results["u"], x)
"""


@pytest.mark.parametrize(("sources", "index"), [("x", ""), ("x", "[0]"), ("[x]", "[0]")])
def test_the_caller_without_a_tape_is_named(sources: str, index: str) -> None:
    text = _HELPER.format(sources=sources, index=index)
    first = analyse({"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=True)
    fixed = first.rewritten["a.py"]
    assert "def slope(u, x, tape=None):" in fixed
    assert "slope(u, x, tape=tape)" in fixed
    assert 'slope(results["u"], x)' in fixed
    again = analyse({"a.py": decode(fixed.encode(), "a.py")}, Settings(), rewrite=True)
    (left,) = again.diagnostics
    row = fixed.splitlines().index('    return slope(results["u"], x)') + 1
    assert left.message.endswith(f"it is for callers that hand in no `tape`, as in line {row}")
    assert left.fix is None
    assert "a.py" not in again.rewritten or again.rewritten["a.py"] == fixed


def test_an_assumption_of_another_function_is_told_with_its_place() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef slope(u, x):\n    return tf.gradients(u, [x])\n\n\n"
        "def loss(x, old):\n    u = tf.sin(x) * old\n    return slope(u, x)\n"
    )
    (found,) = analyse(
        {"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=False
    ).diagnostics
    assert found.message.endswith("`old`, a parameter, was not computed from `x` (line 10)")


@pytest.mark.parametrize(
    ("name", "handed"),
    [
        ("flow/own_method_gives_what_is_passed", False),
        ("traps/own_method_passes_on_what_it_made", True),
    ],
)
def test_a_tape_moves_to_the_caller_only_where_that_made_something(name: str, handed: bool) -> None:
    text = (Path(__file__).parent.parent / "fixtures" / f"{name}.py").read_text()
    file = decode(text.encode(), "p.py")
    (found,) = analyse({"p.py": file}, Settings(), rewrite=False).diagnostics
    assert ("hand in" in found.message) == handed


def test_an_assumption_names_what_a_source_is_looked_up_in_and_not_the_key() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef slopes(order, inputs, weight):\n    found = []\n"
        "    for key in order:\n        source = inputs[key]\n        y = tf.sin(source) * weight\n"
        "        found.append(tf.gradients(y, source)[0])\n    return found\n"
    )
    (found,) = analyse(
        {"a.py": decode(text.encode(), "a.py")}, Settings(), rewrite=False
    ).diagnostics
    assert found.message.endswith("right if `weight`, a parameter, was not computed from `inputs`")

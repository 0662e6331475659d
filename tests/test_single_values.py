"""What functions give of which the target is made: one tensor, or tensors that are related.

See ``rules/values/single_values.py`` and ``rules/proof/elements.py``.
"""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_MAIN = """\
import tensorflow as tf
{import_}

{first}


class Net(object):
    def __init__(self, x):
        self.x = x
        self.build()

    def build(self):
        self.a = {call}
        self.q = tf.reduce_sum(tf.sin(self.a[1]))

    def slopes(self):
        return tf.gradients(self.q, self.a)


def run():
    return Net(tf.constant([0.5, 1.0])).slopes()
"""
_ONE = "def actor(x):\n    return tf.tanh(x)\n"
_BOTH = "def both(x):\n    a = tf.tanh(x)\n    return [a, tf.exp(a)]\n"
_INNER = "def actor(x):\n    return inner(x)\n\n\ndef inner(x):\n    return {value}\n"
_TWO_WAYS = """\
def actor(x, more=True):
    a = tf.tanh(x)
    if more:
        return {first}
    return a
"""
_CHAIN = """\
def actor(x):
    a, h = [], x
    for _ in range(2):
        h = tf.tanh(h)
        a.append(h)
    return a
"""
_CALLED = {"import_": "import net", "call": "net.actor(self.x)"}


def fix_of(net: str, first: str = "", import_: str = "from net import actor", **call: str) -> str:
    """The applicability of the fix of the one call; empty where it is left."""
    main = _MAIN.format(import_=import_, first=first, call=call.get("call", "actor(self.x)"))
    texts = {"main.py": main, "net.py": f"import tensorflow as tf\n\n\n{net}"}
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    (found,) = analyse(files, Settings(unsafe_fixes=True), rewrite=False).diagnostics
    return found.fix.applicability if found.fix else ""


@pytest.mark.parametrize(
    "net",
    [
        _ONE,
        _INNER.format(value="2.0 * tf.tanh(x)"),
        _TWO_WAYS.format(first="tf.sin(a)"),
        "def actor(x):\n    return tf.tanh(x), tf.exp(x)\n",
        f"{_ONE}\n\nclass Kept(object):\n    def __init__(self, x):\n        self.actor = x\n",
    ],
)
def test_one_tensor_or_such_as_are_apart(net: str) -> None:
    assert fix_of(net) == "safe"


@pytest.mark.parametrize(
    "net",
    [
        _BOTH.replace("both", "actor"),
        _INNER.format(value="both(x)") + f"\n\n{_BOTH}",
        _TWO_WAYS.format(first="[a, tf.exp(a)]"),
        _CHAIN,
    ],
)
def test_tensors_that_are_made_of_each_other(net: str) -> None:
    assert fix_of(net) == ""


@pytest.mark.parametrize(
    ("net", "main"),
    [
        (f"{_ONE}\n\n{_BOTH}\n\nactor = both\n", {}),
        (f"{_BOTH}\n\n@listed\n{_ONE}", {}),
        (f"{_ONE}\n\n{_ONE}", {}),
        (f"def change():\n    global actor\n    actor = both\n\n\n{_ONE}\n\n{_BOTH}", {}),
        (f"{_ONE}\n\n{_BOTH}", {"first": "net.actor = net.both", **_CALLED}),
        (f"{_ONE}\n\n{_BOTH}", {"first": 'setattr(net, "actor", net.both)', **_CALLED}),
        (f"{_ONE}\n\n{_BOTH}", {"first": "setattr(net, KEY, net.both)", **_CALLED}),
    ],
)
def test_another_function_may_be_meant(net: str, main: dict[str, str]) -> None:
    assert fix_of(net, **main) == "unsafe"

"""Attributes that code outside of a class sets, and that nothing runs."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

NET = """
import tensorflow as tf

class Net(object):
    def __init__(self, x, w):
        self.x = x
        self.weights = [tf.Variable(w)]
        self.slope = self.net_f(self.x)

    def net_u(self, x):
        return tf.tanh(tf.matmul(x, self.weights[0]))

    def net_f(self, x):
        u = self.net_u(x)
        return tf.gradients(u, x)[0]

Net(tf.ones([2, 2]), [[1.0], [2.0]])
"""
FREE = """
import tensorflow as tf
import net

def {name}(self, x):
    self.weights = self.initialize(x)
"""
REASON = "set on the object by other code"


def message(free: str) -> str:
    files = {"net.py": NET, "setup_net.py": free}
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.message


def test_a_constructor_outside_of_any_class() -> None:
    assert REASON not in message(FREE.format(name="__init__"))


@pytest.mark.parametrize(
    "free",
    [
        FREE.format(name="__init__") + "\nnet.Net.__init__ = __init__\n",
        FREE.format(name="__init__") + "\nsetups = [__init__]\n",
        FREE.format(name="initialize"),
    ],
)
def test_what_may_run(free: str) -> None:
    assert REASON in message(free)


WAITING = """
import tensorflow as tf

class Net(object):
    {body}

    def forward(self, x):
        return tf.reduce_sum(x * self.context)

    def slope(self, x):
        return tf.gradients(self.forward(x), x)[0]

Net().slope(tf.ones([2]))
"""
BELOW = """
import tensorflow as tf

class Net(object):
    def forward(self, x):
        return tf.reduce_sum(x * x)

    def slope(self, x):
        return tf.gradients(self.forward(x), x)[0]
"""
SUB = """
import tensorflow as tf
from net import Net

class Sub(Net):
    context = {value}

    def forward(self, x):
        return tf.reduce_sum(x * self.context)
"""


def about(files: dict[str, str]) -> str:
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    (finding,) = analyse(sources, Settings(), rewrite=False).diagnostics
    return f"{finding.message} {finding.fix}"


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("context = None", True),
        ("def __init__(self):\n        self.context = None", True),
        ("context = 2.0", False),
        ("def __init__(self):\n        self.context = 2.0", False),
        ("def __init__(self, k=True):\n        self.context = None if k else 2.0", False),
    ],
)
def test_what_waits_for_code_that_is_not_read(body: str, waits: bool) -> None:
    found = about({"net.py": WAITING.format(body=body)})
    assert ("`self.context`" in found) is waits


@pytest.mark.parametrize(("value", "waits"), [("None", True), ("2.0", False)])
def test_what_a_subclass_waits_for(value: str, waits: bool) -> None:
    found = about({"net.py": BELOW, "sub.py": SUB.format(value=value)})
    assert ("`forward` of `Sub` reads nothing that was computed" in found) is waits

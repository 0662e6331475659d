"""What a function is handed is no name of the module, though it may be called like one."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

NET = """
import tensorflow as tf

class Net:
    def __init__(self, rows, sizes{more}):
        self.rows = rows[0]
        self.sizes = sizes[0]
        self.weights = self.initialize(self.sizes)
        self.x = tf.placeholder(tf.float32, [None, 1])
        {put}
        self.slope = self.net_f(self.x)

    def initialize(self, sizes):
        return [tf.Variable(tf.ones([m, n])) for m, n in zip(sizes[:-1], sizes[1:])]

    def net_u(self, x):
        for w in self.weights:
            x = tf.tanh(tf.matmul(x, w))
        return x * {factor}

    def net_f(self, x):
        u = self.net_u(x)
        return tf.gradients(u, x)[0]

    def train(self, x):
        return net.predict(x)

    def predict(self, x):
        return tf.Session().run(self.slope, {{self.x: x}})

if __name__ == "__main__":
    rows = []
    sizes = []
    for _ in range(3):
        rows.append([[1.0]])
        sizes.append([1, 1])
    net = Net(rows, sizes)
    net.train(rows[0])
"""


def applicability(more: str = "", put: str = "pass", factor: str = "2.0") -> str | None:
    text = NET.format(more=more, put=put, factor=factor)
    found = analyse({"net.py": SourceFile("net.py", text)}, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.fix and finding.fix.applicability


def test_lists_of_the_module_that_the_constructor_is_handed() -> None:
    assert applicability() == "safe"
    assert applicability(factor="self.rows") == "safe"


@pytest.mark.parametrize(
    ("more", "put", "factor"),
    [
        ("", "pass", "rows[-1][0]"),
        ("", "rows.append([self.x])", "rows[-1][0]"),
        ("", "self.rows = rows; self.rows.append(self.x)", "self.rows[-1]"),
        (", seen=rows", "self.seen = seen", "self.seen[0]"),
    ],
)
def test_lists_of_the_module_that_are_read_all_the_same(more: str, put: str, factor: str) -> None:
    assert applicability(more, put, factor) != "safe"


def test_a_parameter_that_a_function_inside_fills() -> None:
    text = """
import tensorflow as tf

cache = []

def other(h):
    cache.append(h)

def slope(x, cache):
    def layer(h):
        {put}
        return h

    h = layer(x)
    y = h * cache[0]
    return tf.gradients(y, x)[0]

slope(tf.ones([2]), [tf.ones([2])])
"""
    for put, safe in (("cache.append(h * 2.0)", False), ("pass", True)):
        source = SourceFile("net.py", text.format(put=put))
        found = analyse({"net.py": source}, Settings(), rewrite=False).diagnostics
        (finding,) = (each for each in found if each.code == "TM101")
        assert finding.fix is not None
        assert (finding.fix.applicability == "safe") is safe, put

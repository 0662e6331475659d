"""What shows that a source is a list, which an op packs as if it were a tensor.

That both sides compute the same is told by `fixtures/gradients/lists_that_ops_pack.py` and others.
"""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """
import tensorflow as tf

{above}


def run(x):
    {made}
    y = tf.reduce_sum(tf.square(parts))
    return tf.gradients(y, parts)


run(tf.ones([2]))
"""
BOTH = "[tf.sin(x), tf.cos(x)]"
TENSOR = "tf.sin(x)"
# What the one function hands on, and what an object keeps.
ABOVE = """
def first(x):
    return {value}


def beside(x):
    return {value}, 2


def in_turn(x):
    yield {value}


class Net(object):
    def __init__(self, x):
        self.given, self.count = beside(x)
        self.kept = {value}

    @property
    def computed(self):
        return self.kept


class Handed(object):
    def __init__(self, **parts):
        self.__dict__.update(parts)
"""
WAYS = """
parts = {value}
parts = first(x)
parts, count = beside(x)
parts = {{"a": {value}}}["a"]
parts = {{"a": {value}}}.get("a")
groups = {{}}; groups["a"] = {value}; parts = groups["a"]
groups = []; groups.append({value}); parts = groups[-1]
groups = [{value} for _ in range(2)]; parts = groups[0]
parts = Net(x).kept
parts = Net(x).given
parts = Net(x).computed
net = Handed(parts={value}); parts = net.parts
""".strip().split("\n")


def asked(made: str, value: str) -> list[str]:
    """What tapes are asked for the gradient of, after all fixes."""
    made = made.format(value=value).replace("; ", "\n    ")
    text = PROGRAM.format(above=ABOVE.format(value=value), made=made)
    result = analyse({"p.py": SourceFile("p.py", text)}, Settings(unsafe_fixes=True), rewrite=True)
    fixed = ast.parse(result.rewritten["p.py"])
    calls = (n for n in ast.walk(fixed) if isinstance(n, ast.Call))
    return [ast.unparse(c.args[1]) for c in calls if ast.unparse(c.func).endswith("tape.gradient")]


@pytest.mark.parametrize("made", WAYS)
def test_a_list_is_asked_for_what_is_in_it(made: str) -> None:
    assert asked(made, BOTH) in (["parts"], ["tf.nest.flatten(parts)"])


@pytest.mark.parametrize("made", WAYS)
def test_a_tensor_is_asked_for_as_one(made: str) -> None:
    assert asked(made, TENSOR) == ["[parts]"]

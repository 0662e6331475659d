"""Reading a target out of a list runs no op: the tape is closed before it is asked."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

TEXT = """
import tensorflow as tf

class Layers(object):
    def append(self, each):
        pass

    def __getitem__(self, place):
        return tf.ones([2])

def slopes(x, n, more, read):
    {made}
    for k in range(n):
        {put}
    found = []
    for k in range(n):
        found.append(tf.gradients({target}, x)[0])
    return found
"""
APPEND = "losses.append(tf.square(x) * k)"


def is_asked_inside(made: str, put: str, target: str) -> bool:
    source = SourceFile("a.py", TEXT.format(made=made, put=put, target=target))
    settings = Settings(unsafe_fixes=True)
    changed = analyse({"a.py": source}, settings, rewrite=True).rewritten["a.py"]
    blocks = (n for n in ast.walk(ast.parse(changed)) if isinstance(n, ast.With))
    assert "tape.gradient(" in changed
    calls = (n for b in blocks for n in ast.walk(b) if isinstance(n, ast.Call))
    return any(isinstance(c.func, ast.Attribute) and c.func.attr == "gradient" for c in calls)


@pytest.mark.parametrize(
    ("made", "put", "target"),
    [
        ("losses = []", APPEND, "losses[k]"),
        ("losses = []", APPEND, "losses[k - 1]"),
        ("losses = [tf.square(x) * k for k in range(n)]", "pass", "losses[k]"),
        ("losses = {'a': tf.square(x)}", "pass", "losses['a']"),
        ("_, losses = tf.contrib.legacy_seq2seq.model_with_buckets(x, n)", "pass", "losses[k]"),
    ],
)
def test_an_element_of_a_list(made: str, put: str, target: str) -> None:
    assert not is_asked_inside(made, put, target)


@pytest.mark.parametrize(
    ("made", "put", "target"),
    [
        ("losses = tf.square(x)", "pass", "losses[k]"),
        ("losses = Layers()", APPEND, "losses[k]"),
        ("losses = []", APPEND, "losses[k][0]"),
        ("losses = []", APPEND, "losses[read(x)]"),
        ("losses = tf.square(x) if more else []", APPEND, "losses[k]"),
    ],
)
def test_what_may_run_an_op(made: str, put: str, target: str) -> None:
    assert is_asked_inside(made, put, target)

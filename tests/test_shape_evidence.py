"""Whether an attribute is one tensor: see ``rules/values/containers/shape_evidence.py``."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_PROGRAM = """\
import tensorflow as tf


class Critic(object):
    def __init__(self):
        self.x, self.y = self.network()
        self.ask()

    def ask(self):
        self.slopes = tf.gradients(self.y, self.x)

    def network(self):
        x = tf.placeholder(tf.float32, [3])
        h = [x, tf.placeholder(tf.float32, [3])]
        {returns}


{more}


def run():
    return Critic().slopes
"""
_SUBCLASS = """\
class Pair(Critic):
    def network(self):
        x = [tf.placeholder(tf.float32, [3])]
        return x, tf.sin(x[0])"""


@pytest.mark.parametrize(
    ("returns", "more", "sources"),
    [
        ("return x, tf.sin(x)", "", "[self.x]"),
        ("return h, tf.sin(h[0])", "", "tf.nest.flatten(self.x)"),
        ("return (x, tf.sin(x)) if run else (h, tf.sin(h[0]))", "", "tf.nest.flatten(self.x)"),
        ("return x, tf.sin(x)", _SUBCLASS, "tf.nest.flatten(self.x)"),
        ("return x, tf.sin(x)", "Critic.network = run", "tf.nest.flatten(self.x)"),
        ("return x, tf.sin(x)", 'setattr(Critic, "network", run)', "tf.nest.flatten(self.x)"),
        ("return x, tf.sin(x)", "class Other:\n    def network(self): ...", "[self.x]"),
    ],
)
def test_what_a_method_returns_there(returns: str, more: str, sources: str) -> None:
    text = _PROGRAM.format(returns=returns, more=more)
    files = {"a.py": decode(text.encode(), "a.py")}
    new = analyse(files, Settings(unsafe_fixes=True), rewrite=True).rewritten.get("a.py", text)
    assert ".gradient(" not in new or f", {sources})" in new
    assert (".gradient(" in new) or sources != "[self.x]"

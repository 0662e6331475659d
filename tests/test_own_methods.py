"""What a value was made of for certain: what a method may have kept on its object is not."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

NET = """\
import tensorflow as tf


class Net:
    def forward(self, x):
        {body}
        return tf.exp(x)


def attack(net, x):
    y = net.forward(x)
    return tf.gradients(y, x)[0]


x = tf.placeholder(tf.float32, [3])
net = Net()
{before}
adv = attack(net, x)
"""


def fix_of(body: str, before: str) -> str:
    file = decode(NET.format(body=body, before=before).encode(), "main.py")
    (found,) = analyse({"main.py": file}, Settings(), rewrite=False).diagnostics
    return found.fix.applicability if found.fix is not None else ""


@pytest.mark.parametrize(
    ("body", "before", "expected"),
    [
        ("pass", "", "safe"),
        ("pass", "p = net.forward(x)", "unsafe"),
        ("pass", "p = net.forward(tf.sin(x))", "unsafe"),
        ("kept = self.kept; kept.append(x)", "p = net.forward(x)", "unsafe"),
        # Its own attributes are changed, or those of an object of another class may be.
        ("self.x = x", "p = net.forward(x)", ""),
        ("self.kept.append(x)", "p = net.forward(x)", ""),
        ("pass", "p = net.predict(x)", ""),
        ("pass", "net.append(x)", ""),
        ("pass", "net.h = net.forward(x)", ""),
        ("pass", "p = net.forward(x, net)", ""),
    ],
)
def test_who_asks_an_object_does_not_change_it_for_certain(
    body: str, before: str, expected: str
) -> None:
    assert fix_of(body, before) == expected

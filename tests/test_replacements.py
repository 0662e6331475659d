"""What runs in the place of a method, and what it reads: see ``rules/proof/replacements.py``.

Programs of these shapes run in ``fixtures/``: ``unsafe/mixin_reads_the_scope_around`` and others.
"""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_MODEL = """\
import tensorflow as tf


class Model(object):
    bonus = 1.0

    def payoff(self, x):
        return self.bonus * tf.reduce_sum(x ** 2, 1)

    def slope(self, x):
        return tf.gradients(self.payoff(x), x)[0]
"""
_DATA = """\
import tensorflow as tf

X = tf.constant([[0.1]])
PAY = tf.reduce_sum(X ** 2, 1)
RATE = 2.0
"""
_MAIN = """\
import data
import tensorflow as tf
from data import PAY, RATE, X
from model import Model

"""


def _applicability(main: str) -> str | None:
    files = {"model.py": _MODEL, "data.py": _DATA, "main.py": _MAIN + main}
    read = {name: decode(text.encode(), name) for name, text in files.items()}
    (found,) = analyse(read, Settings(), rewrite=False).diagnostics
    return found.fix and found.fix.applicability


@pytest.mark.parametrize(("given", "expected"), [("PAY", "unsafe"), ("RATE", "safe")])
@pytest.mark.parametrize(
    "override",
    [
        "class Sub(Model):\n    def payoff(self, x):\n        return {} * x\n",
        "class Sub(Model):\n    def payoff(self, x):\n        return data.{} * x\n",
        "class Sub(Model):\n    def payoff(self, x, pay={}):\n        return pay * x\n",
        "class Sub(Model):\n    pay = {}\n    def payoff(self, x):\n        return self.pay * x\n",
        "def pay(x):\n    return {} * x\nclass Sub(Model):\n    def payoff(self, x):\n"
        "        return pay(x)\n",
        "class Pay(object):\n    def payoff(self, x):\n        return {} * x\n"
        "class Sub(Pay, Model):\n    pass\n",
    ],
)
def test_what_an_override_reads(override: str, given: str, expected: str) -> None:
    assert _applicability(override.format(given) + "print(Sub().slope(X))\n") == expected


@pytest.mark.parametrize(("given", "expected"), [("PAY", False), ("2.0", True)])
def test_what_a_mixin_has_for_an_attribute(given: str, expected: bool) -> None:
    main = f"class Pay(object):\n    bonus = {given}\nclass Sub(Pay, Model):\n    pass\n"
    assert (_applicability(main + "print(Sub().slope(X))\n") == "safe") is expected


def test_what_a_decorator_of_classes_sets_may_read_anything() -> None:
    paying = "def paying(cls):\n    cls.payoff = lambda self, x: PAY * x\n    return cls\n"
    main = f"{paying}@paying\nclass Sub(Model):\n    pass\nprint(Sub().slope(X))\n"
    assert _applicability(main) == "unsafe"

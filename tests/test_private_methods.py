"""Methods whose names begin with two underscores: Python calls those that end in two as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import Outcome, run, write
from tapemigrate.settings import Settings

NET = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        x = tf.constant(1.0)
        u = tf.sin(x) * x
        self.slope = self.{name}(u, x)

    def {name}(self, u, x):
        return tf.gradients(u, [x])
"""


def fixed(folder: Path, **others: str) -> Outcome:
    (folder / "net.py").write_text(NET.format(name="__slope"))
    for name, text in others.items():
        (folder / f"{name}.py").write_text(text)
    outcome = run([str(folder)], lambda path: Settings(unsafe_fixes=True), mode="fix", jobs=1)
    write(outcome.results)
    return outcome


def test_a_private_method_is_handed_a_tape(tmp_path: Path) -> None:
    assert not fixed(tmp_path).diagnostics
    text = (tmp_path / "net.py").read_text()
    assert "def __slope(self, u, x, tape):" in text
    assert "self.__slope(u, x, tape=tape)" in text


def test_another_class_has_a_private_method_of_its_own(tmp_path: Path) -> None:
    other = "class Other(object):\n    def go(self, u, x):\n        return self.__slope(u, x)\n\n"
    other += "    def __slope(self, u, x):\n        return u\n"
    assert not fixed(tmp_path, other=other).diagnostics
    assert (tmp_path / "other.py").read_text() == other


@pytest.mark.parametrize(
    "use",
    [
        "net._Net__slope(u, x)\n",
        "slopes = map(net._Net__slope, us, xs)\n",
        'getattr(net, "_Net__slope")(u, x)\n',
    ],
)
def test_code_outside_of_the_class_keeps_the_old_call(tmp_path: Path, use: str) -> None:
    text = f"import tensorflow as tf\nfrom net import Net\n\nnet = Net()\n{use}"
    fixed(tmp_path, use=text)
    assert "def __slope(self, u, x, tape=None):" in (tmp_path / "net.py").read_text()
    assert (tmp_path / "use.py").read_text() == text


def test_what_is_set_outside_of_the_class_is_left_alone(tmp_path: Path) -> None:
    text = "from net import Net\n\nNet._Net__slope = lambda self, u, x: u\n"
    (found,) = fixed(tmp_path, use=text).diagnostics
    assert "`_Net__slope`" in found.message
    assert (tmp_path / "net.py").read_text() == NET.format(name="__slope")


def test_python_calls_what_ends_in_two_underscores_as_well(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET.format(name="__call__"))
    (found,) = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1).diagnostics
    assert found.message.endswith("`__call__` is called by Python itself")

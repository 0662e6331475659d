"""Tapes that are handed to the function that makes a source, over files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import Outcome, run, write
from tapemigrate.settings import Settings

NET = """\
import tensorflow as tf


class Net(object):
    def __init__(self, x):
        self.x = x

    def derive(self):
        features, out = self.build(self.x)
        return tf.gradients(out, features)[0]

    def build(self, x):
        features = tf.tanh(x)
        return features, tf.reduce_sum(features ** 3, 1)
"""


def fixed(folder: Path, **others: str) -> Outcome:
    for name, text in {"net": NET, **others}.items():
        (folder / f"{name}.py").write_text(text)
    outcome = run([str(folder)], lambda path: Settings(), mode="fix", jobs=1)
    write(outcome.results)
    return outcome


def test_the_one_call_hands_in_a_tape(tmp_path: Path) -> None:
    assert not fixed(tmp_path).diagnostics
    text = (tmp_path / "net.py").read_text()
    assert "def build(self, x, tape):" in text
    assert "self.build(self.x, tape=tape)" in text
    assert "        features = tf.tanh(x)\n        tape.watch(features)\n" in text


@pytest.mark.parametrize(
    "use",
    [
        "features, out = net.build(x)\n",
        "outs = [out for _, out in map(net.build, xs)]\n",
        'features, out = getattr(net, "build")(x)\n',
    ],
)
def test_other_calls_hand_in_none(tmp_path: Path, use: str) -> None:
    text = f"import tensorflow as tf\nfrom net import Net\n\nnet = Net(x)\n{use}"
    assert not fixed(tmp_path, use=text).diagnostics
    assert "def build(self, x, tape=None):" in (tmp_path / "net.py").read_text()
    assert (tmp_path / "use.py").read_text() == text


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (
            "class Squared(Net):\n    def build(self, x):\n        return x, tf.square(x)\n",
            "`build` is overridden in",
        ),
        ("Net.build = lambda self, x: (x, x)\n", "`build` is set anew in"),
        ("class Broken(Net:\n    def build(self, x):\n", "other code may mean another one"),
    ],
)
def test_what_may_run_in_its_place_takes_no_tape(tmp_path: Path, other: str, reason: str) -> None:
    text = f"import tensorflow as tf\nfrom net import Net\n\n\n{other}"
    found = fixed(tmp_path, other=text).diagnostics
    (message,) = [d.message for d in found if d.code == "TM101"]
    assert reason in message
    assert (tmp_path / "net.py").read_text() == NET


@pytest.mark.parametrize(
    ("given", "lent"),
    [
        ("tf.tanh(x)", True),
        ("tf.placeholder(tf.float32, [None, 2])", True),
        ("tf.convert_to_tensor(x)", False),
        ("KEPT.setdefault('x', tf.tanh(x))", False),
    ],
)
def test_a_function_of_ones_own_makes_it(tmp_path: Path, given: str, lent: bool) -> None:
    own = f"import tensorflow as tf\n\nKEPT = {{}}\n\n\ndef make(x):\n    return {given}\n"
    text = NET.replace("import tensorflow as tf\n", own).replace("= tf.tanh(x)", "= make(x)")
    (tmp_path / "net.py").write_text(text)
    write(run([str(tmp_path)], lambda path: Settings(), mode="fix", jobs=1).results)
    watched = "        features = make(x)\n        tape.watch(features)\n"
    assert (watched in (tmp_path / "net.py").read_text()) is lent

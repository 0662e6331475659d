"""Files between a gradient call and what no tape records are read as well: they only call it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.running import facts
from tapemigrate.running.facts import Question
from tapemigrate.running.passing import Passing, passing
from tapemigrate.running.texts import FOREIGN
from tapemigrate.settings import Settings

OPS = """\
import tensorflow as tf
from tensorflow.python.framework import function


@function.Defun(tf.float32)
def swish(x):
    return x * tf.sigmoid(x)
"""
PROGRAM = """\
import tensorflow as tf
from {module} import {name}


def f(x):
    return tf.gradients({name}(x), x)[0]


f(tf.constant(2.0))
"""
FAR = {
    "ops.py": OPS,
    "layers.py": "from ops import swish as act\n\n\ndef dense(x):\n    return act(2.0 * x)\n",
    "nets.py": "import layers\n\n\ndef net(x):\n    return layers.dense(x) + 1.0\n",
}


def messages(folder: Path, texts: dict[str, str]) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_text(text)
    outcome = run([str(folder)], lambda path: Settings(), mode="check", jobs=1)
    return [each.message for each in outcome.diagnostics]


@pytest.mark.parametrize(("module", "name"), [("layers", "dense"), ("nets", "net")])
def test_a_defun_behind_other_files_is_seen(tmp_path: Path, module: str, name: str) -> None:
    (found,) = messages(tmp_path, {**FAR, "program.py": PROGRAM.format(module=module, name=name)})
    assert "comes from ops.py: it calls what is defined with `Defun`" in found


def test_a_script_has_no_functions_of_its_own(tmp_path: Path) -> None:
    program = "import tensorflow as tf\nfrom ops import swish\n\nx = tf.constant(2.0)\n"
    program += "y = swish(x)\ndy = tf.gradients(y, x)\n"
    (found,) = messages(tmp_path, {"ops.py": OPS, "program.py": program})
    assert "`swish` comes from ops.py" in found


def test_a_function_beside_it_is_none(tmp_path: Path) -> None:
    layers = FAR["layers.py"] + "\n\ndef twice(x):\n    return 2.0 * x\n"
    program = PROGRAM.format(module="layers", name="twice")
    (found,) = messages(tmp_path, {**FAR, "layers.py": layers, "program.py": program})
    assert found.endswith("gives the same")


def test_cells_behind_another_file_are_seen(tmp_path: Path) -> None:
    cells = "import tensorflow as tf\n\n\ndef read(x):\n    return tf.nn.dynamic_rnn(CELL, x)[0]\n"
    encoders = "from cells import *\n\n\ndef encode(x):\n    return read(x)\n"
    program = """\
import tensorflow as tf
from encoders import encode

loss = tf.reduce_sum(encode(tf.zeros([2, 3, 2])))
grads = tf.gradients(loss, tf.trainable_variables())
"""
    texts = {"cells.py": cells, "encoders.py": encoders, "program.py": program}
    (found,) = messages(tmp_path, texts)
    assert "the variables that `dynamic_rnn` reads are made on the tape" in found


def test_what_is_named_after_cells_may_run_them_out_of_sight(tmp_path: Path) -> None:
    program = """\
import tensorflow as tf
from recurrent import *

loss = tf.reduce_sum(create_rnn(tf.zeros([2, 3, 2])))
grads = tf.gradients(loss, tf.trainable_variables())
"""
    (found,) = messages(tmp_path, {"program.py": program})
    assert "the variables that `create_rnn` reads are made on the tape" in found


def test_the_files_are_followed(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / name) for name in FAR}
    for name, text in {**FAR, "bad.py": "from ops import swish\nswish(\n"}.items():
        (tmp_path / name).write_text(text)

    def find(words: Collection[str]) -> dict[str, list[str]]:
        found = {
            FOREIGN + "swish": [paths["layers.py"], str(tmp_path / "bad.py")],
            FOREIGN + "dense": [paths["nets.py"]],
        }
        return {word: found.get(word, []) for word in words}

    def running(asked: list[tuple[str, frozenset[str]]]) -> list[frozenset[str]]:
        questions = [Question(facts.RUNNING, *each) for each in asked]
        return [found[0] if (found := facts.answer(q)) else frozenset() for q in questions]

    assert passing({paths["ops.py"]: frozenset({"swish"})}, find, running) == {
        # ``act`` is the other one's own, which the module hands on.
        paths["layers.py"]: Passing(frozenset({"act", "dense"}), (paths["ops.py"],)),
        paths["nets.py"]: Passing(frozenset({"net"}), (paths["layers.py"], paths["ops.py"])),
    }
    assert passing({}, find, running) == {}

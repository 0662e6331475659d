"""Functions of other files that run what no tape records: which files are read, which are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings
from tests.test_fixtures import FIXTURES

TOOLS = """\
import tensorflow as tf


def raw(value):
    return tf.get_default_graph().create_op("Square", [value], [tf.float32]).outputs[0]


def copy(value):
    return raw(value)
"""
PROGRAM = """\
import tensorflow as tf
{imports}


def f(x):
    y = {call} + x
    return tf.gradients(y, x)[0]
"""

BASE = """\
class Net(object):
    def logits(self, x):
        return self.features(x) * 3.0
"""
REVERSING = """\
from base import Net
from flip import flip_gradient


class Model(Net):
    def features(self, x):
        return flip_gradient(x)
"""
HOLDER = """\
import tensorflow as tf
from model import Model


class Attack(object):
    def __init__(self):
        self.model = Model()

    def slope(self):
        x = tf.linspace(0.5, 1.5, 3)
        y = self.model.logits(x)
        return tf.gradients(y, x)[0]
"""


def messages(folder: Path, imports: str, call: str) -> list[str]:
    (folder / "util").mkdir()
    (folder / "util" / "__init__.py").write_text("from .random import *\n")
    (folder / "util" / "random.py").write_text(TOOLS)
    (folder / "program.py").write_text(PROGRAM.format(imports=imports, call=call))
    outcome = run([str(folder)], lambda path: Settings(), mode="check", jobs=1)
    return [each.message for each in outcome.diagnostics]


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from util.random import copy", "copy(x)"),
        ("from util import copy", "copy(x)"),
        ("from .util import copy as clone", "clone(x)"),
        ("import util.random", "util.random.copy(x)"),
        ("import util.random as ur", "ur.raw(x)"),
        ("from util import random", "tf.identity(random.copy(x))"),
    ],
)
def test_a_call_that_reaches_one(tmp_path: Path, imports: str, call: str) -> None:
    (message,) = messages(tmp_path, imports, call)
    assert "comes from random.py: the forward pass makes ops that a tape does not record" in message


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from copy import copy", "copy(x)"),
        ("from other import copy", "copy(x)"),
        ("from util.random import other", "other(x)"),
        ("import util", "tf.identity(x)"),
    ],
)
def test_a_call_that_does_not(tmp_path: Path, imports: str, call: str) -> None:
    (message,) = messages(tmp_path, imports, call)
    assert "gives the same" in message


def test_by_way_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "layers.py").write_text(
        PROGRAM.format(imports="from util import copy", call="copy(x)")
        + "\n\ndef clone(x):\n    return _clone(x)\n\n\ndef _clone(x):\n    return copy(x)\n"
    )
    found = messages(tmp_path, "import layers", "layers.clone(x)")
    assert len(found) == 2
    assert all("`copy` comes from random.py" in message for message in found)


def test_by_a_decorator(tmp_path: Path) -> None:
    imports = "from util import copy\n\n\n@copy\ndef g(x):\n    return x * x"
    (message,) = messages(tmp_path, imports, "g(x)")
    assert "`copy` comes from random.py" in message


MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.constant([2.0])

    def build(self):
        self.y = tf.exp(self.x)

    def slope(self):
        return tf.gradients(self.y, self.x)[0]
"""
MAIN = """\
from model import Model
from changing import {name}

model = Model()
model.build()
{name}()
model.slope()
"""
REWIRING = """\
import tensorflow as tf
from tensorflow.contrib import graph_editor


def change():
    graph_editor.reroute_ts([], [])


def show():
    print("nothing is changed")
"""


@pytest.mark.parametrize("changes", [True, False])
def test_what_changes_the_graph_is_read_though_no_file_of_the_tape_names_it(
    tmp_path: Path, changes: bool
) -> None:
    text = REWIRING if changes else REWIRING.replace("graph_editor.reroute_ts", "print")
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "main.py").write_text(MAIN.format(name="change"))
    (tmp_path / "changing.py").write_text(text)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    (found,) = [each for each in outcome.diagnostics if each.code == "TM101"]
    assert ("changes the graph in place with `reroute_ts`" in found.message) is changes
    assert (found.fix is None) is changes


@pytest.mark.parametrize(
    "name",
    [
        "mustflag/resource_variables_turned_off_in_another_file",
        "mustflag/turned_off_by_a_name_of_its_own_elsewhere",
        "unsafe/turned_off_in_another_file",
        "traps/called_under_an_override_through_a_third_file",
        "traps/method_of_another_file_calls_what_reverses",
        "traps/objects_that_hold_what_reverses",
        "traps/override_open_where_nothing_shows_it",
        "traps/reverses_through_many_files",
    ],
)
def test_the_files_that_tell_of_it_are_read(tmp_path: Path, name: str) -> None:
    (fixture,) = (each for each in FIXTURES if each.name == name)
    for each, text in fixture.texts.items():
        (tmp_path / each).write_text(text, encoding="utf-8")
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    found = [each.fix for each in outcome.diagnostics if each.code == "TM101"]
    assert found
    assert not [fix for fix in found if fix is not None and fix.applicability == "safe"]


def test_base_classes_of_what_reverses_are_read(tmp_path: Path) -> None:
    """`logits` stands in a file that names nothing of it, nor is named by the one with the call."""
    (fixture,) = (
        e for e in FIXTURES if e.name == "traps/method_of_another_file_calls_what_reverses"
    )
    (tmp_path / "flip.py").write_text(fixture.texts["flip.py"], encoding="utf-8")
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "model.py").write_text(REVERSING)
    (tmp_path / "main.py").write_text(HOLDER)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    (message,) = (each.message for each in outcome.diagnostics if each.code == "TM101")
    assert "may be a method of" in message

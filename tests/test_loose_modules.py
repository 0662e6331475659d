"""Files that reach a module by no name of it, or have its names by stars, are read beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings

HELPER = """\
import tensorflow as tf


def slope(y, x):
    return tf.gradients(y, x)[0]
"""
NAMED = """\
import tensorflow as tf
from backends.helper import slope


def use():
    x = tf.constant([0.3, 0.7])
    y = tf.sin(x)
    return slope(y, x)
"""
FOUND = """\
import tensorflow as tf
import backends

backend = backends.get("helper")


def use():
    x = tf.constant([0.3, 0.7])
    y = tf.cos(x)
    return backend.slope(y, x)
"""
HOLDING = """\
from . import helper

_ALL = {"helper": helper}


def get(name):
    return _ALL[name]
"""
LOADING = """\
import importlib


def get(name):
    return importlib.import_module("backends." + name)
"""
PLAIN = """\
from . import helper


def get(name):
    return None
"""


def written(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """The files after their safe fixes."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = run([str(folder)], lambda _: Settings(), mode="fix", jobs=1).results
    new = {each.filename: (each.new or b"").decode() for each in done}
    return {name: new.get(str(folder / name)) or text for name, text in texts.items()}


@pytest.mark.parametrize(
    ("package", "is_loose"), [(HOLDING, True), (LOADING, True), (PLAIN, False)]
)
def test_a_package_that_hands_a_module_on(tmp_path: Path, package: str, is_loose: bool) -> None:
    helper = "backends/helper.py"
    texts = {helper: HELPER, "backends/__init__.py": package, "named.py": NAMED, "found.py": FOUND}
    after = written(tmp_path, texts)
    assert "tape.gradient(y, " in after[helper]
    assert ("tf.gradients(y, x)" in after[helper]) is is_loose
    assert after["found.py"] == FOUND


@pytest.mark.parametrize("further", ["", "from deeper import *\n"])
def test_a_star_import_brings_another_one(tmp_path: Path, further: str) -> None:
    main = """\
import tensorflow as tf
from helper import *
from more import *

x = tf.constant([0.3, 0.7])
y = tf.sin(x)
print(slope(y, x))
"""
    other = "def slope(y, x):\n    return y\n"
    texts = {"main.py": main, "helper.py": HELPER, "more.py": further or other, "deeper.py": other}
    assert written(tmp_path, texts) == texts


@pytest.mark.parametrize(("value", "is_rewritten"), [("lambda v: v * h", False), ("tf.sin", True)])
def test_a_third_file_sets_a_function(tmp_path: Path, value: str, is_rewritten: bool) -> None:
    texts = {
        "layers.py": """\
def gate(x):
    return x


def dense(x):
    return gate(x) * x
""",
        "step.py": """\
import layers
import tensorflow as tf


def slope(x):
    y = layers.dense(x)
    return tf.gradients(y, x)[0]
""",
        "main.py": """\
import step
import tensorflow as tf
import third

x = tf.constant([0.3, 0.7])
third.prepare(x)
print(step.slope(x))
""",
        "third.py": f"""\
import layers
import tensorflow as tf


def prepare(x):
    h = tf.cos(x)
    layers.gate = {value}
    return h
""",
    }
    after = written(tmp_path, texts)
    assert ("GradientTape" in after["step.py"]) is is_rewritten

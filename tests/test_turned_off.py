"""Which files run in one program with one that turns off what a tape needs."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_SLOPE = """\
import tensorflow as tf


def slope(x):
    y = tf.tanh(x)
    return tf.gradients(y, x)[0]
"""
_OFF = "import tensorflow as tf\n\n\ndef load():\n    tf.compat.v1.disable_v2_behavior()\n"
_EVALUATION = "import {0}\nprint({0})\n"
_MAIN = "import evaluation\nprint(evaluation)\n"


def is_left(files: dict[str, str]) -> bool:
    """Whether the one call of the files is left because of what another file turns off."""
    read = {name: decode(text.encode(), name) for name, text in files.items()}
    (found,) = analyse(read, Settings(), rewrite=False).diagnostics
    assert (found.fix is None) == ("turns off what a tape needs" in found.message), found.message
    return found.fix is None


@pytest.mark.parametrize("beside", [True, False])
def test_a_module_beside_is_meant_before_one_of_that_name_elsewhere(beside: bool) -> None:
    files = {
        "first/attack.py": _SLOPE,
        "first/evaluation.py": _EVALUATION.format("attack"),
        "second/data.py": _OFF,
        "second/evaluation.py": _EVALUATION.format("data"),
        "third/main.py": _MAIN,
    }
    if beside:
        files["third/evaluation.py"] = "print()\n"
    assert is_left(files) is not beside


@pytest.mark.parametrize("folder", ["first/", ""])
def test_what_lies_beside_or_above_is_in_the_program(folder: str) -> None:
    files = {
        "first/attack.py": _SLOPE,
        "first/main.py": "import attack\nimport data\nprint(attack, data)\n",
        f"{folder}data.py": _OFF,
        "second/data.py": "print()\n",
    }
    assert is_left(files)


_OLD_WAYS = ["v.initialized_value()", "tf.assign(v, x, validate_shape=False)"]
_NEW_WAYS = [
    "v.initial_value",
    "tf.assign(v, x)",
    "tf.assign(v, x, validate_shape=True)",
    "tf.assign(tf.Variable(x, shape=tf.TensorShape(None)), x, validate_shape=False)",
]


_HEAD = "import tensorflow.compat.v1 as tf\n"
_TURNING_OFF = _SLOPE.replace("import tensorflow as tf\n", f"{_HEAD}tf.disable_v2_behavior()\n")
_OLD = "\n\ndef old(v, x):\n    return {}\n"


def messages(files: dict[str, str]) -> list[tuple[str, bool]]:
    read = {name: decode(text.encode(), name) for name, text in files.items()}
    found = analyse(read, Settings(), rewrite=False).diagnostics
    return [(each.message, each.fix is not None) for each in found if each.code == "TM101"]


@pytest.mark.parametrize("way", _OLD_WAYS)
def test_what_resource_variables_cannot_do_is_told(way: str) -> None:
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF + _OLD.format(way)})
    assert not fixed
    assert "raises for the resource variables" in message
    importing = _TURNING_OFF.replace("\n\n\ndef", "\nimport old\n\n\ndef", 1)
    ((message, fixed),) = messages({"slope.py": importing, "old.py": _HEAD + _OLD.format(way)})
    assert not fixed
    assert "in old.py, line 5" in message


@pytest.mark.parametrize("way", _NEW_WAYS)
def test_what_they_can_do(way: str) -> None:
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF + _OLD.format(way)})
    assert fixed, message


@pytest.mark.parametrize("way", _OLD_WAYS)
def test_programs_that_have_them_already_or_not_at_all(way: str) -> None:
    ((message, fixed),) = messages({"slope.py": _SLOPE + _OLD.format(way)})
    assert fixed, message
    old = _HEAD + _OLD.format(way)
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF, "old.py": old})
    assert fixed, message

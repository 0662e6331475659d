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
    """Whether the one call is left for what other files turn off, where it alone may be changed."""
    read = {name: decode(text.encode(), name) for name, text in files.items()}
    (name,) = (name for name, text in files.items() if text == _SLOPE)
    asked = {name: read.pop(name)}
    (found,) = analyse(asked, Settings(), rewrite=False, context=read).diagnostics
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


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "in data0.py, line 5 turns off"),
        (2, "in data0.py, line 5, and in data1.py, line 5 turns off"),
        (5, "line 5, and in data2.py, line 5, and 2 more turns off"),
    ],
)
def test_all_places_are_told_at_once(count: int, told: str) -> None:
    names = [f"data{n}" for n in range(count)]
    main = "".join(f"import {name}\n" for name in ["attack", *names])
    texts = {"attack.py": _SLOPE, "main.py": main} | {f"{name}.py": _OFF for name in names}
    read = {name: decode(text.encode(), name) for name, text in texts.items()}
    asked = {"attack.py": read.pop("attack.py")}
    (found,) = analyse(asked, Settings(), rewrite=False, context=read).diagnostics
    assert told in found.message


_ON = "tf.enable_resource_variables()\ntf.enable_control_flow_v2()\n"
_OFF_AT_TOP = "tf.disable_v2_behavior()\n"


@pytest.mark.parametrize(
    ("switches", "adds"),
    [
        (_OFF_AT_TOP, True),
        (_OFF_AT_TOP + _ON, False),
        (_OFF_AT_TOP + "print()\n" + _ON, False),
        (_ON + _OFF_AT_TOP, True),
        (_OFF_AT_TOP + "made = tf.Variable(1.0)\n" + _ON, True),
        (_OFF_AT_TOP + "import net\nnet.make()\n" + _ON, True),
        (
            _OFF_AT_TOP + f"def unused():\n    {_ON.strip().replace(chr(10), chr(10) + '    ')}\n",
            True,
        ),
        (_OFF_AT_TOP + f"if False:\n    {_ON.strip().replace(chr(10), chr(10) + '    ')}\n", True),
    ],
)
def test_what_is_on_after_it_is_turned_off(switches: str, adds: bool) -> None:
    head = "import tensorflow.compat.v1 as tf\n"
    text = _SLOPE.replace("import tensorflow as tf\n", head + switches)
    read = {"slope.py": decode(text.encode(), "slope.py")}
    changed = analyse(read, Settings(unsafe_fixes=True), rewrite=True).rewritten["slope.py"]
    assert "tape.gradient(" in changed
    assert (f"{_OFF_AT_TOP}{_ON}" in changed) is (adds or f"{_OFF_AT_TOP}{_ON}" in text)
    assert changed.count(_ON.splitlines()[0]) == text.count(_ON.splitlines()[0]) + adds

"""TensorFlow that a module of one's own has, and other files take from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings

HELPER = """\
import tensorflow as tf
import tensorflow.contrib.eager as tfe
import tensorflow.contrib.eager as T


def loss(x):
    return x * x
"""
OWN = "class tf:\n    @staticmethod\n    def gradients(y, x):\n        return [x]\n"
OWN_BESIDE = (
    "from tensorflow import *\n\n\ndef gradients(y, x):\n    return [x]\n\n\ncontrib = None\n"
)
USE = """


def slope(x):
    y = {loss}(x)
    return {tf}.gradients(y, x)[0]


g = {tfe}.gradients_function({loss})
"""


def fixes(folder: Path, helper: str, use: str) -> tuple[list[str], str]:
    """The codes told of what uses the helper, and its new text."""
    (folder / "helper.py").write_text(helper)
    (folder / "use.py").write_text(use)
    results = run([str(folder)], lambda path: Settings(), mode="preview", jobs=1).results
    [found] = [each for each in results if each.filename.endswith("use.py")] or [None]
    if found is None:
        return [], use
    codes = [each.code for each in (*found.diagnostics, *found.mended)]
    return codes, use if found.new is None else found.new.decode()


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("from helper import tf, tfe, loss", {"tf": "tf", "tfe": "tfe", "loss": "loss"}),
        ("from helper import *", {"tf": "tf", "tfe": "tfe", "loss": "loss"}),
        ("from helper import *", {"tf": "tf", "tfe": "T", "loss": "loss"}),
        ("import helper", {"tf": "helper.tf", "tfe": "helper.tfe", "loss": "helper.loss"}),
        ("import helper as h", {"tf": "h.tf", "tfe": "h.tfe", "loss": "h.loss"}),
    ],
)
def test_what_is_taken_from_there_is_told(tmp_path: Path, head: str, names: dict[str, str]) -> None:
    codes, new = fixes(tmp_path, HELPER, head + USE.format(**names))
    assert {"TM101", "TM111"} <= set(codes)
    assert ".gradients(" not in new
    assert "gradients_function" not in new
    # What has gone from the helper is not asked for any longer.
    assert "tfe" not in new.split("\n\n")[0].replace("helper.tfe", "")


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import helper as tf", "tf.gradients(y, x)[0]"),
        ("from helper import gradients as g", "g(y, x)[0]"),
        ("from helper import *", "gradients(y, x)[0]"),
        ("import helper", "helper.contrib.eager.gradients_function(y)(x)"),
    ],
)
@pytest.mark.parametrize("note", ["", "# As in tensorflow."])
def test_what_a_star_brings_there_is_told(tmp_path: Path, head: str, call: str, note: str) -> None:
    text = f"{note}\n{head}\n\n\ndef slope(x):\n    y = x * x\n    return {call}\n"
    codes, _ = fixes(tmp_path, "from tensorflow import *\n", text)
    assert codes
    codes, new = fixes(tmp_path, OWN_BESIDE, text)
    assert (codes, new) == ([], text)


@pytest.mark.parametrize(("first", "told"), [(True, False), (False, True)])
def test_the_star_that_stands_last_tells(tmp_path: Path, first: bool, told: bool) -> None:
    stars = ["from tensorflow import *\n", "from own import *\n"]
    (tmp_path / "own.py").write_text("def gradients(y, x):\n    return [x]\n")
    helper = "".join(stars if first else reversed(stars))
    text = "import helper as tf\n\n\ndef slope(x):\n    return tf.gradients(x * x, x)[0]\n"
    codes, new = fixes(tmp_path, helper, text)
    assert bool(codes) == told
    assert (new == text) != told


@pytest.mark.parametrize("off", [True, False])
def test_what_is_turned_off_behind_a_star_is_seen(tmp_path: Path, off: bool) -> None:
    text = "import helper as tf\n"
    text += "tf.disable_v2_behavior()\n" if off else ""
    text += "\n\ndef slope(x):\n    y = x * x\n    return tf.gradients(y, x)[0]\n"
    _, new = fixes(tmp_path, "from tensorflow.compat.v1 import *\n", text)
    assert ("tf.enable_resource_variables()\n" in new) == off
    assert ".gradients(" not in new


def test_a_decorator_of_the_module_is_told(tmp_path: Path) -> None:
    text = "import helper\n\n\n@helper.tfe.implicit_gradients\ndef f(x):\n    return x\n"
    codes, new = fixes(tmp_path, HELPER, text)
    assert "TM113" in codes
    assert "tfe" not in new


@pytest.mark.parametrize("head", ["from helper import tf", "from helper import *"])
def test_a_namesake_is_none_of_ours(tmp_path: Path, head: str) -> None:
    text = f"{head}\n\n\ndef slope(x):\n    y = x * x\n    return tf.gradients(y, x)[0]\n"
    codes, new = fixes(tmp_path, OWN, text)
    assert (codes, new) == ([], text)

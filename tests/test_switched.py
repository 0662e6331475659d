"""Programs that turn off what a tape needs are changed along with the file that asks for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapemigrate.model import Fix
from tapemigrate.runner import run
from tapemigrate.settings import Settings

MODEL = """\
import tensorflow as tf


def slope(x):
    y = tf.tanh(x)
    return tf.gradients(y, x)[0]
"""
OFF = "import tensorflow.compat.v1 as tf\n\ntf.disable_v2_behavior()\n"
START = "import tensorflow.compat.v1 as tf\n\n\ndef start():\n    tf.disable_v2_behavior()\n"
MAIN = "import model\n\nprint(model)\n"


def found_in(folder: Path, files: dict[str, str]) -> tuple[Fix | None, str]:
    """The fix of the one call in the files, and what is said of it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    outcome = run([str(folder)], lambda path: Settings(), mode="check", jobs=1, edits=True)
    (found,) = [each for each in outcome.diagnostics if each.code == "TM101"]
    return found.fix, f"{found.message} {found.help}"


def changed(fix: Fix | None, folder: Path) -> set[str]:
    """The files that the fix changes."""
    assert fix is not None
    return {str(Path(edit.filename).relative_to(folder)) for edit in fix.edits}


@pytest.mark.parametrize(
    ("files", "also"),
    [
        pytest.param({"main.py": OFF + MAIN}, {"main.py"}, id="program"),
        pytest.param({"main.py": MAIN + OFF}, {"main.py"}, id="program, late"),
        pytest.param(
            {"main.py": f"import settings\n{MAIN}", "settings.py": OFF},
            {"settings.py"},
            id="settings",
        ),
        pytest.param(
            {"main.py": f"import tools\n{MAIN}", "tools.py": START}, {"tools.py"}, id="function"
        ),
        pytest.param(
            {"main.py": OFF + "import net\n\nprint(net)\n", "net.py": MAIN},
            {"main.py"},
            id="through another",
        ),
        pytest.param(
            {"main.py": OFF + MAIN, "predict.py": OFF + MAIN, "convert.py": MAIN},
            {"main.py", "predict.py"},
            id="several programs",
        ),
    ],
)
def test_what_turns_it_off_is_changed_as_well(
    tmp_path: Path, files: dict[str, str], also: set[str]
) -> None:
    fix, message = found_in(tmp_path, {"model.py": MODEL, **files})
    assert changed(fix, tmp_path) == {"model.py", *also}
    assert fix is not None
    assert fix.applicability == "unsafe"
    for name in also:
        assert f"in {tmp_path / name}, line " in message
    added = [edit.content for edit in fix.edits if not edit.filename.endswith("model.py")]
    assert len(added) == len(also)
    for each in added:
        assert "tf.enable_resource_variables()\n" in each
        assert "tf.enable_control_flow_v2()\n" in each


def test_a_package_around_what_is_imported_is_loaded_as_well(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from pkg import model\n\nprint(model)\n",
        "pkg/model.py": MODEL,
        "pkg/data.py": "print()\n",
        "main.py": OFF + "import pkg.data\n\nprint(pkg.data)\n",
    }
    fix, _ = found_in(tmp_path, files)
    assert changed(fix, tmp_path) == {"pkg/model.py", "main.py"}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(OFF + "print()\n", id="does not import it"),
        pytest.param(
            OFF + "tf.enable_resource_variables()\ntf.enable_control_flow_v2()\n" + MAIN,
            id="turns it on again",
        ),
    ],
)
def test_another_program_stays_as_it_is(tmp_path: Path, program: str) -> None:
    fix, message = found_in(tmp_path, {"model.py": MODEL, "main.py": program})
    assert changed(fix, tmp_path) == {"model.py"}
    assert fix is not None
    assert fix.applicability == "safe", message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            OFF.replace("tf.dis", "started = tf.dis") + MAIN, id="no statement of its own"
        ),
        pytest.param(
            f"from tensorflow.compat.v1 import disable_v2_behavior\n{MAIN}disable_v2_behavior()\n",
            id="a name of its own",
        ),
        pytest.param(
            f"{OFF.replace('v2_behavior', 'resource_variables')}{MAIN}", id="variables alone"
        ),
    ],
)
def test_what_cannot_be_turned_on_there_is_told(tmp_path: Path, program: str) -> None:
    fix, message = found_in(tmp_path, {"model.py": MODEL, "main.py": program})
    assert fix is None
    assert f"in {tmp_path / 'main.py'}, line " in message
    assert "turns off what a tape needs" in message


def test_a_notebook_is_changed_as_well(tmp_path: Path) -> None:
    cells = [OFF, MAIN]
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": text,
            }
            for text in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    files = {"model.py": MODEL, "main.ipynb": json.dumps(notebook)}
    fix, _ = found_in(tmp_path, files)
    assert changed(fix, tmp_path) == {"model.py", "main.ipynb"}


@pytest.mark.parametrize("count", [0, 1, 12, 13])
def test_where_too_much_would_be_assumed_of_the_program_it_stays(
    tmp_path: Path, count: int
) -> None:
    looked_up = "".join(f"g.get_tensor_by_name(names[{n}])\n" for n in range(count))
    program = f"{OFF}{MAIN}g = tf.get_default_graph()\n{looked_up}"
    fix, message = found_in(tmp_path, {"model.py": MODEL, "main.py": program})
    assert message.count("finds no variable") == (count if count <= 12 else 1)
    if count <= 12:
        assert changed(fix, tmp_path) == {"model.py", "main.py"}
    else:
        assert fix is None
        assert "turns off what a tape needs" in message
        assert "This is assumed then, and more: `g.get_tensor_by_name(…)` in" in message

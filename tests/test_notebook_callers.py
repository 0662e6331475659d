"""Notebooks that call what a module hands a tape to are changed along with the module."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tapemigrate.results import Outcome
from tapemigrate.runner import run
from tapemigrate.settings import Settings
from tests.programs import tapemigrate

HELPER = """\
import tensorflow as tf


def slope(y, x):
    return tf.gradients(y, x)[0]


def double(x):
    y = x * x
    return tf.gradients(y, x)[0]
"""
IMPORTS = "%matplotlib inline\nimport tensorflow as tf\nfrom helper import slope\n"
MADE = "x = tf.constant(0.5)\nh = tf.exp(x)"
ASKED = "y = tf.reduce_sum(h * x)\nfound = slope(y, x)"


def written(folder: Path, *cells: str) -> None:
    """A module, and beside it a notebook of ``cells``."""
    (folder / "helper.py").write_text(HELPER)
    kept: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    found = [{**kept, "execution_count": None, "source": text} for text in cells]
    whole = {"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "use.ipynb").write_text(json.dumps(whole, indent=1) + "\n")


def preview(folder: Path) -> tuple[Outcome, dict[str, str]]:
    """What a fix does, and the new texts by the names of the files."""
    outcome = run([str(folder)], lambda path: Settings(), mode="preview", jobs=1, edits=True)
    new = {Path(r.filename).name: r.new.decode() for r in outcome.results if r.new is not None}
    return outcome, new


def value_of_cells(notebook: str, helper: str) -> float:
    """What the cells give, run one after the other with the module in eager execution."""
    module: dict[str, Any] = {}
    exec(helper, module)
    names: dict[str, Any] = {"slope": module["slope"]}
    for cell in json.loads(notebook)["cells"]:
        lines = "".join(cell["source"]).splitlines()
        exec("\n".join(n for n in lines if not n.startswith(("%", "from helper"))), names)
    return float(names["found"])


@pytest.mark.parametrize(
    "cells",
    [
        [IMPORTS, MADE, ASKED],
        [IMPORTS, f"{MADE}\n{ASKED}"],
        [
            IMPORTS,
            "",
            f"def asked(x):\n    return slope(tf.exp(x) * x, x)\n\n\n{MADE}\nfound = asked(x)",
        ],
    ],
)
def test_the_cells_hand_in_the_tape(tmp_path: Path, cells: list[str]) -> None:
    written(tmp_path, *cells)
    outcome, new = preview(tmp_path)
    assert not outcome.diagnostics
    value = value_of_cells(new["use.ipynb"], new["helper.py"])
    assert value == pytest.approx(1.5 * math.exp(0.5), rel=1e-6)
    # Without the tape, the notebook would raise.
    with pytest.raises(TypeError, match="tape"):
        value_of_cells((tmp_path / "use.ipynb").read_text(), new["helper.py"])


def test_the_edits_of_the_module_name_the_cells(tmp_path: Path) -> None:
    written(tmp_path, IMPORTS, MADE, ASKED)
    outcome, _ = preview(tmp_path)
    [tied] = [each for r in outcome.results for each in r.mended if each.location.row == 5]
    assert tied.fix is not None
    cells = {(Path(edit.filename).name, edit.cell) for edit in tied.fix.edits}
    assert cells == {("helper.py", None), ("use.ipynb", 2), ("use.ipynb", 3)}
    ran = tapemigrate("check", "--output-format", "sarif", ".", cwd=tmp_path)
    told = json.loads(ran.stdout)["runs"][0]["results"]
    # SARIF knows no cells.
    rows = {
        each["locations"][0]["physicalLocation"]["region"]["startLine"]: "fixes" in each
        for each in told
    }
    assert rows == {5: False, 10: True}


def check(folder: Path) -> Outcome:
    return run([str(folder)], lambda path: Settings(), mode="check", jobs=1, edits=True)


def test_all_or_nothing(tmp_path: Path) -> None:
    written(tmp_path, IMPORTS, MADE, ASKED)
    call = "return tf.gradients(y, x)[0]"
    silenced = HELPER.replace(call, f"{call}  # tapemigrate: ignore[TM101]", 1)
    (tmp_path / "helper.py").write_text(silenced)
    _, new = preview(tmp_path)
    assert new.keys() == {"helper.py"}
    assert call in new["helper.py"]


def test_a_cell_that_cannot_be_read_may_call_it(tmp_path: Path) -> None:
    written(tmp_path, IMPORTS, MADE, "y = slope(h x)", ASKED)
    outcome, new = preview(tmp_path)
    assert "return tf.gradients(y, x)[0]" in new["helper.py"]
    assert {each.code for each in outcome.diagnostics} == {"TM101", "TM901"}


def test_a_message_tells_the_cell(tmp_path: Path) -> None:
    written(tmp_path, IMPORTS, "def asked(x, w):\n    return slope(x * w, x)", "f = [asked]")
    messages = [each.message for each in check(tmp_path).diagnostics]
    assert any(f"({tmp_path / 'use.ipynb'}, line 2 of cell 2)" in m for m in messages), messages


def test_verify_leaves_both(tmp_path: Path) -> None:
    """A notebook is not run; what changes along with it stays as well, and says why."""
    written(tmp_path, IMPORTS, MADE, ASKED)
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom helper import double\n\n"
        "x = tf.placeholder(tf.float32, [2])\nwith tf.Session() as session:\n"
        "    print(session.run(double(x), {x: [1.0, 2.0]}))\n"
    )
    before = (tmp_path / "use.ipynb").read_bytes()
    command = ("fix", "--verify", ".", "--", "python", "train.py")
    ran = tapemigrate(*command, cwd=tmp_path, timeout=300)
    assert (tmp_path / "use.ipynb").read_bytes() == before
    text = (tmp_path / "helper.py").read_text()
    assert "return tf.gradients(y, x)[0]\n\n\ndef double" in text
    assert "tape.gradient(y, x)" in text
    assert b"UNVERIFIED: a notebook changes along with it" in ran.stdout
    assert ran.returncode == 1

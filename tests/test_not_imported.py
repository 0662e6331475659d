"""Where the name of TensorFlow comes from, and whether it is there where a tape has to open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings

BASE = "import numpy as np\nimport tensorflow as tf\n"
INPUTS = "import tensorflow as tf\n\nx = tf.placeholder(tf.float32, [2])\n"
MAIN = """\
{early}
from inputs import x
{between}
y = x * x
{late}
z = tf.tanh(y)
g = tf.gradients(z, x)[0]
"""


def is_rewritten(folder: Path, early: str = "", between: str = "", late: str = "") -> bool:
    texts = {
        "base.py": BASE,
        "inputs.py": INPUTS,
        "main.py": MAIN.format(early=early, between=between, late=late),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    results = run([str(folder)], lambda path: Settings(), mode="check", jobs=1).results
    (found,) = (each for result in results for each in result.diagnostics)
    assert (found.fix is None) is ("`tf` is not imported yet" in found.message), found.message
    return found.fix is not None


IMPORTS = ["import tensorflow as tf", "from base import tf", "from base import *"]


@pytest.mark.parametrize("stmt", IMPORTS)
def test_late(tmp_path: Path, stmt: str) -> None:
    assert not is_rewritten(tmp_path, late=stmt)


@pytest.mark.parametrize("stmt", IMPORTS)
def test_early(tmp_path: Path, stmt: str) -> None:
    assert is_rewritten(tmp_path, early=stmt)


@pytest.mark.parametrize("stmt", IMPORTS[:2])
def test_between(tmp_path: Path, stmt: str) -> None:
    assert is_rewritten(tmp_path, between=stmt)


def test_another_name_of_the_module_behind(tmp_path: Path) -> None:
    late = "from base import np"
    assert is_rewritten(tmp_path, early="import tensorflow as tf", late=late)
    assert is_rewritten(tmp_path, early="from base import tf", late=late)

"""What an analysis does grows with the file, and not with its square: calls counted, not time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import generated
from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

Write = Callable[[Path, int], None]


def repeated(part: str, before: str = "") -> Write:
    """Writes a file with that part ``n`` times, and once what comes ``before``."""

    def write(folder: Path, n: int) -> None:
        text = "import tensorflow as tf\n" + before + "".join(part.format(k=k) for k in range(n))
        (folder / "module.py").write_text(text, encoding="utf-8")

    return write


CALLERS = repeated(
    """
def f_{k}(x):
    y = tf.sin(x) * {k}.0
    return slope(slope(y, x), x)
""",
    before="def slope(y, x):\n    return tf.gradients(y, x)[0]\n",
)
METHODS = repeated(
    """
    def f_{k}(self, x):
        y = tf.sin(x) * self.scale
        return tf.gradients(y, x)
""",
    before="class Net:\n    def __init__(self):\n        self.scale = tf.Variable(1.0)\n",
)
CLASSES = repeated(
    """
class Net_{k}:
    def __init__(self, x):
        self.x = x
        self.loss = tf.sin(x)

    def slope(self):
        return tf.gradients(self.loss, self.x)


def run_{k}(x):
    return Net_{k}(x).slope()
"""
)
VARIABLES = repeated(
    """
v_{k} = tf.Variable({k}.0)


def f_{k}():
    y = tf.sin(v_{k})
    return tf.gradients(y, v_{k})
"""
)
STATE = repeated(
    """
def put_{k}(x):
    state["{k}"] = tf.sin(x)


def f_{k}(x):
    put_{k}(x)
    y = state["{k}"] * x
    return tf.gradients(y, x)
""",
    before="state = {}\n",
)
TAKEN_BACK = repeated(
    """
        if way == {k}:
            x = start + {k}.0 * g
""",
    before="""

def attack(x, model, steps, way):
    for _ in range(steps):
        start = x
        g = tf.gradients(model(x), [x])[0]
        x = x + g
""",
)
WORKLOADS = {
    "statements": (generated.statements, 60),
    "calls": (generated.calls, 40),
    "calls on one target": (generated.calls_on_one_target, 40),
    "lines": (generated.lines, 400),
    "lines without calls": (generated.lines_without_calls, 400),
    "names like Keras's": (generated.keras_names, 400),
    "callers": (CALLERS, 10),
    "methods": (METHODS, 10),
    "classes": (CLASSES, 10),
    "variables": (VARIABLES, 10),
    "state": (STATE, 10),
    "values taken back": (TAKEN_BACK, 10),
}


def calls_made(folder: Path, workload: Write, n: int) -> int:
    """How many functions run, written in Python or not, where a file of size ``n`` is analysed."""
    workload(folder, n)
    file = decode((folder / "module.py").read_bytes(), f"{n}.py")
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    earlier = sys.getprofile()
    sys.setprofile(counted)
    try:
        analyse({file.filename: file}, Settings(), rewrite=False)
    finally:
        sys.setprofile(earlier)
    return count


@pytest.mark.parametrize("name", WORKLOADS)
def test_growth(tmp_path: Path, name: str) -> None:
    workload, n = WORKLOADS[name]
    calls_made(tmp_path, workload, 5)  # what is done once, whatever the file
    small, middle, large = (calls_made(tmp_path, workload, n * times) for times in (1, 2, 4))
    # Twice as much for twice the size; where it is the square, four times.
    assert (large - middle) / (middle - small) < 2.3

"""What an analysis does grows with the file, and not with its square: calls counted, not time."""

from __future__ import annotations

import itertools
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
ENTRIES = repeated(
    """
    made_{k} = {{"h": tf.sin(x), "n": {k}}}
    y += made_{k}["n"] * made_{k}["h"]
    ends["h{k}"] = again_{k}, n_{k} = tf.cos(x), {k}
    h_{k}, m_{k} = ends["h{k}"]
    parts_{k} = {k}, tf.sin(x)
    p_{k}, q_{k} = parts_{k}
""",
    before="""

def build(self, x):
    y = tf.sin(x)
    ends = {}
    self.slope = tf.gradients(y, x)[0]
""",
)
SECOND_NAMES = repeated(
    """
    made_{k} = tf.sin(x)
    both_{k} = made_{k}
    print({k})
    named_{k} = made_{k}
    self.part_{k} = named_{k}
    one_{k} = named_{k} if deep else x
""",
    before="""

def build(self, x, deep):
    y = tf.sin(x)
    self.slope = tf.gradients(y, x)[0]
""",
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


def in_a_row(first: str, part: str, last: str = "") -> Write:
    """Writes a file with ``part`` for 1 to ``n``, each of which knows the one before it."""

    def write(folder: Path, n: int) -> None:
        parts = [part.format(k=k, before=k - 1) for k in range(1, n + 1)]
        text = "import tensorflow as tf\n" + first + "".join(parts) + last.format(n=n)
        (folder / "module.py").write_text(text, encoding="utf-8")

    return write


METHODS_IN_A_RING = in_a_row(
    """
class Net:
    def slope(self, x):
        return tf.gradients(self.f_0(x), x)
""",
    """
    def f_{before}(self, x):
        self.h_{k} = x * {k}.0
        return self.f_{k}(x) + self.h_{k}
""",
    """
    def f_{n}(self, x):
        return self.f_0(x)
""",
)
HANDED_UP = in_a_row(
    """
def f_0(y, x):
    return tf.gradients(y, x)[0]
""",
    """
def f_{k}(y, x):
    return f_{before}(y, x) * {k}.0
""",
    """
def slope(x):
    y = tf.sin(x)
    return f_{n}(y, x)
""",
)
LEVELS = in_a_row(
    """
class Net_0:
    def __init__(self, x):
        self.x = x
        self.y = tf.sin(x)
""",
    """
class Net_{k}(Net_{before}):
    def __init__(self, x):
        super().__init__(x)
        self.y = self.y * {k}.0

    def slope(self):
        return tf.gradients(self.y, self.x)
""",
)


def all_to_all(first: str, part: str, each: str, last: str = "") -> Write:
    """Writes a file with ``n`` of ``part``, in each of which ``each`` stands for all the others."""

    def write(folder: Path, n: int) -> None:
        text = "import tensorflow as tf\n" + first
        for k in range(n):
            text += part.format(k=k) + "".join(each.format(k=j) for j in range(n) if j != k)
        (folder / "module.py").write_text(text + last, encoding="utf-8")

    return write


CALLERS_OF_EACH_OTHER = all_to_all(
    """
def slope(fn, y, x):
    return tf.gradients(fn(y), x)
""",
    """

def f_{k}(fn, y, x):
    slope(fn, y, x)
""",
    """
    f_{k}(fn, y, x)
""",
    """

def run(x):
    f_0(tf.sin, tf.sin(x), x)
""",
)
METHODS_OF_EACH_OTHER = all_to_all(
    """
class Net:
    def slope(self, x):
        return tf.gradients(self.f_0(x), x)
""",
    """
    def f_{k}(self, x):
        self.h_{k} = tf.sin(x)
        return self.h_{k}""",
    " + self.f_{k}(x)",
)
OBJECTS_OF_EACH_OTHER = all_to_all(
    """
class Net:
    def __init__(self, x):
        self.x = x
        self.y = tf.sin(x)
""",
    """

def f_{k}(x, way):
    net = Net(x)
""",
    """
    if way == {k}:
        return f_{k}(x, way)
""",
    """
    return net


def slope(x, way):
    net = f_0(x, way)
    return tf.gradients(net.y, net.x)
""",
)
# Each by the same name as all the others.
MAKERS = repeated(
    """
def f_{k}(x):
    net = Net(x)
    return net.slope(x)
""",
    before="""
class Net:
    def __init__(self, w):
        self.w = w

    def slope(self, x):
        return tf.gradients(self.w * x, x)
""",
)
NAMESAKES = in_a_row(
    """
class Net_0:
    def run(self, x):
        return tf.sin(x)
""",
    """
class Net_{k}:
    def __init__(self):
        self.inner = Net_{before}()

    def run(self, x):
        self.y = tf.sin(x)
        return self.inner.run(x) + self.y
""",
    """
def slope(x):
    net = Net_{n}()
    return tf.gradients(net.run(x), x)
""",
)
OPTIMIZERS = repeated(
    """
def train_{k}(x):
    w = tf.Variable(1.0)
    return tf.train.AdamOptimizer(0.1).minimize(tf.sin(x * w))
"""
)
# A notebook, say: each cell puts something into what the others filled.
FILLED = repeated(
    """
shown.append(net(shown, {k}.0))
""",
    before="""
import nets

shown = [1.0]
net = nets.load(shown)


def slope(x):
    return tf.gradients(tf.sin(x) * shown[0], x)


def run():
    x = tf.placeholder(tf.float32, [3])
    return slope(x)
""",
)
# Where each is one of many, these grow with the pairs, and no faster.
PAIRS = {
    "levels of classes": (LEVELS, 5),
    "callers of each other": (CALLERS_OF_EACH_OTHER, 3),
    "methods that call each other": (METHODS_OF_EACH_OTHER, 3),
    "functions that give each other's objects": (OBJECTS_OF_EACH_OTHER, 3),
    "a list that is filled": (FILLED, 40),
}
WORKLOADS = {
    "statements": (generated.statements, 60),
    "calls": (generated.calls, 40),
    "calls on one target": (generated.calls_on_one_target, 40),
    "lines": (generated.lines, 400),
    "lines without calls": (generated.lines_without_calls, 400),
    "names like Keras's": (generated.keras_names, 400),
    "callers": (CALLERS, 10),
    "methods": (METHODS, 10),
    "methods in a ring": (METHODS_IN_A_RING, 10),
    "tapes handed up": (HANDED_UP, 10),
    "classes": (CLASSES, 10),
    "variables": (VARIABLES, 10),
    "state": (STATE, 10),
    "makers of one class": (MAKERS, 20),
    "methods of one name": (NAMESAKES, 12),
    "optimizers": (OPTIMIZERS, 20),
    "entries of containers": (ENTRIES, 20),
    "second names": (SECOND_NAMES, 40),
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


@pytest.mark.parametrize("name", PAIRS)
def test_growth_of_pairs(tmp_path: Path, name: str) -> None:
    workload, n = PAIRS[name]
    calls_made(tmp_path, workload, 5)
    small, middle, large = (calls_made(tmp_path, workload, n * times) for times in (1, 2, 4))
    # With the cube, it would be eight times as much.
    assert (large - middle) / (middle - small) < 6


def test_growth_of_loops_in_loops(tmp_path: Path) -> None:
    def loops(folder: Path, n: int) -> None:
        text = "import tensorflow as tf\ndef slope(x):\n    y = x\n"
        for k in range(1, n + 1):
            indent = "    " * k
            text += f"{indent}for i_{k} in range(3):\n{indent}    y = tf.sin(y)\n"
        text += "    return tf.gradients(y, x)\n"
        (folder / "module.py").write_text(text, encoding="utf-8")

    calls_made(tmp_path, loops, 2)
    # Where each goes twice round its body, three more take eleven times as much; they take 2.6.
    assert calls_made(tmp_path, loops, 11) < 5 * calls_made(tmp_path, loops, 8)


def test_growth_of_a_list_made_of_itself(tmp_path: Path) -> None:
    def again(folder: Path, n: int) -> None:
        text = "import tensorflow as tf\ndef slope(x, way):\n    parts = [x, tf.exp(x)]\n"
        named = ", ".join(f"'{k}': parts[0]" for k in range(n))
        text += f"    parts = {{{named}}} if way else [parts[0], tf.exp(parts[0])]\n" if n else ""
        text += "    x = parts[0]\n    y = tf.tanh(x) * parts[1]\n"
        text += "    return tf.gradients(y, x)\n"
        (folder / "module.py").write_text(text, encoding="utf-8")

    calls_made(tmp_path, again, 2)
    # Where each element leads to all others again, it does not end.
    assert calls_made(tmp_path, again, 8) < 3 * calls_made(tmp_path, again, 0)


def test_growth_of_names_swapped(tmp_path: Path) -> None:
    def swapped(folder: Path, n: int) -> None:
        text = "import tensorflow as tf\ndef slope(x, way):\n"
        text += "".join(f"    a_{k} = [x]\n" for k in range(n))
        text += "    for _ in range(3):\n"
        for j, k in itertools.permutations(range(n), 2):
            text += f"        if way == ({j}, {k}):\n"
            text += f"            a_{j} = a_{k}\n            a_{j}.append(tf.sin(x))\n"
        text += "    return tf.gradients(a_0[-1], x)\n"
        (folder / "module.py").write_text(text, encoding="utf-8")

    calls_made(tmp_path, swapped, 2)
    # Nearly twice as many pairs, each of which may mean what all the others did: of their cube,
    # it would be 6.5 times as much.
    assert calls_made(tmp_path, swapped, 8) < 4.5 * calls_made(tmp_path, swapped, 6)

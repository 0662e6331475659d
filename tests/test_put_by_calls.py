"""What an object puts into a list that it is handed and others read, and what puts nothing in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings

NET = """\


class Net:
    def __init__(self, scales):
        h = tf.reduce_sum(tf.get_variable("v", [3]))
        for scale in scales:
            h = h * scale
        self.loss = h
        self.gradients = tf.gradients(self.loss, tf.trainable_variables())
"""
HEAD = "import tensorflow as tf\n\n\nclass Gate{base}:\n    def __init__(self, scales):\n"
MADE = 'tf.reduce_sum(tf.get_variable("w", [3]))'
FILLING = {
    "at once": HEAD.format(base="") + f"        scales.append({MADE})\n",
    "by another name": HEAD.format(base="") + f"        mine = scales\n        mine += [{MADE}]\n",
    "by map": HEAD.format(base="") + f"        list(map(scales.append, [{MADE}]))\n",
    "in a method": HEAD.format(base="")
    + "        self.scales = scales\n        self.put()\n\n    def put(self):\n"
    + f"        self.scales.extend([{MADE}])\n",
    "in a dict": HEAD.format(base="")
    + "        self.config = {'scales': scales}\n        self.put()\n\n    def put(self):\n"
    + f"        self.config['scales'].append({MADE})\n",
    "above": HEAD.format(base="").replace("Gate", "Base")
    + f"        scales.append({MADE})\n\n\nclass Gate(Base):\n    pass\n",
    "by what it makes": HEAD.format(base="").replace("Gate", "Inner")
    + f"        scales.append({MADE})\n\n\n"
    + "class Gate:\n    def __init__(self, scales):\n        self.inner = Inner(scales)\n",
}
IDLE = {
    "kept": HEAD.format(base="") + "        self.scales = scales\n        self.n = len(scales)\n",
    "handed on": HEAD.format(base="")
    + "        self.h = self.built(scales)\n\n    def built(self, sizes):\n"
    + "        return [tf.get_variable(str(i), [int(n)]) for i, n in enumerate(sizes)]\n",
}
MAIN = {
    "of a function": "def main():\n    s = [3.0]\n    Gate(s)\n    Net(s)\n\n\nmain()\n",
    "of the module": "S = [3.0]\n\n\ndef main():\n    Gate(S)\n    Net(S)\n\n\nmain()\n",
    "handed in": "def main(s):\n    Gate(s)\n    Net(s)\n\n\nmain([3.0])\n",
    "of an object": "class Main:\n    def __init__(self):\n        self.scales = [3.0]\n"
    "        self.gate = Gate(self.scales)\n        self.net = Net(self.scales)\n\n\nMain()\n",
}


def message(folder: Path, gate: str, main: str) -> tuple[str, str]:
    """How sure the fix is, and what it rests on."""
    (folder / "net.py").write_text(gate + NET, "utf-8")
    text = f"import tensorflow as tf\nfrom net import Gate, Net\n\n\n{main}"
    (folder / "main.py").write_text(text, "utf-8")
    results = run([str(folder)], lambda path: Settings(), mode="check", jobs=1).results
    found = next(d for r in results for d in r.diagnostics if d.code == "TM101")
    return found.fix.applicability if found.fix else "none", found.message


@pytest.mark.parametrize("main", MAIN.values(), ids=MAIN)
@pytest.mark.parametrize("gate", FILLING.values(), ids=FILLING)
def test_what_an_object_puts_in_counts(tmp_path: Path, gate: str, main: str) -> None:
    sure, said = message(tmp_path, gate, main)
    assert sure != "safe" or "callers hand in" in said, said


@pytest.mark.parametrize("main", MAIN.values(), ids=MAIN)
def test_methods_of_another_file_put_something_in(tmp_path: Path, main: str) -> None:
    gate = HEAD.format(base="").replace("__init__", "fill") + f"        scales.append({MADE})\n"
    sure, said = message(tmp_path, gate, main.replace("Gate(", "Gate().fill("))
    assert sure != "safe" or "callers hand in" in said, said


@pytest.mark.parametrize("main", MAIN.values(), ids=MAIN)
@pytest.mark.parametrize("gate", IDLE.values(), ids=IDLE)
def test_an_object_that_puts_nothing_in_is_no_matter(tmp_path: Path, gate: str, main: str) -> None:
    sure, said = message(tmp_path, gate, main)
    assert sure == "safe", said
    assert "callers hand in" not in said

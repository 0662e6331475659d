"""Branches and loops that a session runs before their gradient is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

HEAD = "import tensorflow.compat.v1 as tf\n\ntf.disable_v2_behavior()\nx = tf.Variable(2.0)\n"
COND = "y = tf.cond(x > 1.0, lambda: x * x * x, lambda: tf.sin(x))\n"
LOOP = "y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), (0, x))[1]\n"
SESSION = "session = tf.Session()\n"
RUN = "session.run(tf.global_variables_initializer())\n"
ASK = "g = tf.gradients(y, x)\n"
TELL = "print(float(session.run(g)[0]))\n"


def fixed(text: str) -> str:
    files = {"main.py": decode(text.encode(), "main.py")}
    return analyse(files, Settings(), rewrite=True).rewritten["main.py"]


@pytest.mark.parametrize(
    ("between", "persistent"),
    [
        (f"{SESSION}{RUN}{ASK}", True),
        (f"{SESSION}train(session)\n{ASK}", True),
        (f"{ASK}{SESSION}{RUN}", False),
        (f"z = tf.exp(y)\nprint(z)\n{ASK}{SESSION}{RUN}", False),
    ],
)
@pytest.mark.parametrize("made", [COND, LOOP])
def test_a_session_may_run_in_between(made: str, between: str, persistent: bool) -> None:
    text = fixed(f"def train(session):\n    session.run(y)\n\n\n{HEAD}{made}{between}{TELL}")
    assert ("GradientTape(persistent=True)" in text) == persistent


@pytest.mark.parametrize("session", ["tf.Session()", "None"])
def test_the_session_is_another_files(session: str) -> None:
    step = "def step(session, x):\n    y = tf.cond(x > 1.0, lambda: x * x, lambda: x)\n"
    step += "    session.run(y)\n    return tf.gradients(y, x)[0]\n"
    texts = {
        "step.py": f"import tensorflow as tf\n\n\n{step}",
        "main.py": "import tensorflow as tf\nfrom step import step\n\n"
        f"step({session}, tf.ones([]))\n",
    }
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    new = analyse(files, Settings(), rewrite=True).rewritten["step.py"]
    assert ("persistent=True" in new) == (session != "None")


def test_without_branches_it_is_an_ordinary_one() -> None:
    text = fixed(f"{HEAD}y = x * x\n{SESSION}{RUN}{ASK}{TELL}")
    assert "GradientTape()" in text


@pytest.mark.parametrize("made", [COND, LOOP])
def test_both_sides_give_the_same(made: str, tmp_path: Path) -> None:
    before = f"{HEAD}{made}{SESSION}{RUN}{ASK}{TELL}"
    told = []
    for text in (before, fixed(before)):
        (tmp_path / "main.py").write_text(text)
        command = [sys.executable, "main.py"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr
        told.append(ran.stdout)
    assert told[0] == told[1] == "12.0\n"


@pytest.mark.parametrize("runs", [True, False])
def test_a_persistent_tape_that_is_needed_is_no_waste(runs: bool) -> None:
    """TM306: what a session runs in between needs it."""
    tape = "with tf.GradientTape(persistent=True) as tape:\n    y = tf.exp(x)\n"
    ask = "g = tape.gradient(y, x)\n"
    session = f"{SESSION}{RUN}"
    text = f"{HEAD}{tape}{session if runs else ''}{ask}{'' if runs else session}{TELL}"
    files = {"main.py": decode(text.encode(), "main.py")}
    codes = [each.code for each in analyse(files, Settings(), rewrite=False).diagnostics]
    assert ("TM306" in codes) != runs

"""A command run on the old and the new tree, with rewrites made by hand."""

from __future__ import annotations

import sys
import textwrap
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapemigrate.verify import editable, launch, report
from tapemigrate.verify.calls import Line, Rewritten
from tapemigrate.verify.job import Verdicts
from tapemigrate.verify.trial import CommandError, Trial

NET = """
    import tensorflow as tf


    class Net:
        def __init__(self):
            self.x = tf.placeholder(tf.float32, [None, 1])
            self.w = tf.get_variable("w", [1, 5], initializer=tf.random_normal_initializer())
            self.v = tf.get_variable("v", [5, 1], initializer=tf.random_normal_initializer())
            u = self.net(self.x)
            u_x = tf.gradients(u, self.x)[0]
            self.loss = tf.reduce_mean(tf.square(u_x + u))
            grads = tf.gradients(self.loss, [self.w, self.v])
            self.train = tf.train.AdamOptimizer(0.01).apply_gradients(zip(grads, [self.w, self.v]))

        def net(self, x):
            return tf.matmul(tf.tanh(tf.matmul(tf.nn.dropout(x, 0.5), self.w)), self.v)

        def unused(self, z):
            return tf.gradients(tf.sin(z), z)[0]
"""
NEW = (
    """
            with tf.GradientTape() as tape2:
                with tf.GradientTape() as tape:
                    tape.watch(self.x)
                    u = self.net(self.x)
                u_x = tape.gradient(u, self.x)
                self.loss = tf.reduce_mean(tf.square(u_x + u))
            grads = tape2.gradient(self.loss, [self.w, self.v])
""",
)
TRAIN = """
    import sys
    import numpy as np
    import tensorflow as tf
    from lib.net import Net

    data = np.random.rand(8, 1).astype("float32")
    net = Net()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(int(sys.argv[1])):
            sess.run([net.loss, net.train], {net.x: data})
    open("checkpoint", "w").write("something")
"""
CALLS = [
    Rewritten("lib/net.py", 11, 11, "TM101"),
    Rewritten("lib/net.py", 13, 13, "TM101"),
    Rewritten("lib/net.py", 20, 20, "TM101"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    (tmp_path / "lib" / "net.py").write_text(textwrap.dedent(NET))
    (tmp_path / "train.py").write_text(textwrap.dedent(TRAIN))
    return tmp_path.resolve()


def rewritten(old: str = "", new: str = "") -> str:
    start, end = NET.index("            u = self.net"), NET.index("            self.train")
    text = textwrap.dedent(NET[:start] + NEW[0].lstrip("\n") + NET[end:])
    assert old in text
    return text.replace(old, new) if old else text


def verdicts(lines: list[Line]) -> list[tuple[int, str]]:
    return [(line.site.row, line.site.verdict) for line in lines]


def trial(
    root: Path, text: str, *command: str, timeout: float = 120, before_python: str | None = None
) -> list[Line]:
    changes = {root / "lib" / "net.py": text.encode()}
    argv = command or ("python", "train.py", "3")
    found = Trial(argv, root, changes, CALLS, before_python=before_python, timeout=timeout)
    return found.run(lambda label: None)


def test_training_before_and_after(project: Path) -> None:
    lines = trial(project, rewritten())
    assert verdicts(lines) == [(11, "VERIFIED"), (13, "VERIFIED"), (20, "UNVERIFIED")]
    assert [line.site.runs for line in lines] == [3, 3, 0]
    assert lines[2].site.detail == "it was not reached"
    assert not (project / "checkpoint").exists()
    assert "2 VERIFIED, 1 UNVERIFIED of 3 rewritten calls." in report.text(Verdicts(lines, []))


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("tape2.gradient(self.loss, [self.w", "tape2.gradient(u, [self.w", "REFUTED"),
        ("with tf.GradientTape() as tape2:", "if True:", "REFUTED"),
    ],
)
def test_a_wrong_rewrite(project: Path, right: str, wrong: str, expected: str) -> None:
    lines = trial(project, rewritten(right, wrong))
    assert expected in [line.site.verdict for line in lines]


def test_results_that_change_on_every_run(project: Path) -> None:
    train = project / "train.py"
    train.write_text(
        train.read_text().replace("data = np.random", "data = np.random.RandomState()")
    )
    lines = trial(project, rewritten())
    assert verdicts(lines)[:2] == [(11, "UNVERIFIED"), (13, "UNVERIFIED")]
    assert lines[0].site.detail == "it returns something else on every run"


def test_a_command_that_fails_already(project: Path) -> None:
    (project / "train.py").write_text("raise SystemExit('no data here')\n")
    with pytest.raises(CommandError, match="status 1: no data here"):
        trial(project, rewritten())


def test_a_command_that_does_not_exist(project: Path) -> None:
    with pytest.raises(CommandError, match="no-such-program"):
        trial(project, rewritten(), "no-such-program")
    with pytest.raises(CommandError, match=r"^no-such-python: No such file"):
        trial(project, rewritten(), before_python="no-such-python")


def test_a_command_that_takes_too_long(project: Path) -> None:
    (project / "train.py").write_text("while True:\n    pass\n")
    with pytest.raises(CommandError, match="stopped after"):
        trial(project, rewritten(), timeout=2)


@pytest.fixture
def old_python(tmp_path: Path) -> str:
    """An interpreter of which a program can tell that it is the old one."""
    script = tmp_path.parent / f"{tmp_path.name}-python"
    script.write_text(f'#!/bin/sh\nOLD_PYTHON=1 exec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return str(script)


GONE = """
import os
import sys
if not os.environ.get("OLD_PYTHON"){}:
    raise AttributeError("`dense` is not available with Keras 3.\\nOr so.")
"""


def test_what_the_new_tensorflow_lacks_refutes_nothing(project: Path, old_python: str) -> None:
    train = project / "train.py"
    train.write_text(GONE.format("") + train.read_text())
    with pytest.raises(CommandError) as caught:
        trial(project, rewritten(), before_python=old_python)
    assert str(caught.value) == (
        "the command fails under TensorFlow 2, before the rewrite already: it ended with status 1: "
        "AttributeError: `dense` is not available with Keras 3. "
        "(`pip install tf_keras`, and set TF_USE_LEGACY_KERAS=1)"
    )


def test_what_fails_in_the_rewritten_tree_only_is_refuted(project: Path, old_python: str) -> None:
    train = project / "train.py"
    new = ' and "Tape" in open("lib/net.py").read()'
    train.write_text(GONE.format(new) + train.read_text())
    lines = trial(project, rewritten(), before_python=old_python)
    assert verdicts(lines)[:2] == [(11, "REFUTED"), (13, "REFUTED")]


def test_what_differs_between_versions_only_refutes_nothing(project: Path, old_python: str) -> None:
    old = 'import os\nold = bool(os.environ.get("OLD_PYTHON"))\n'
    train = project / "train.py"
    train.write_text(old + train.read_text().replace('"float32")', '"float32") + old'))
    lines = trial(project, rewritten(), before_python=old_python)
    assert verdicts(lines)[:2] == [(11, "UNVERIFIED"), (13, "UNVERIFIED")]
    assert lines[0].site.detail.startswith("under TensorFlow 2 it is the same before and after")
    lines = trial(
        project, rewritten("tape.watch(self.x)", "x = self.x * 1.0"), before_python=old_python
    )
    assert "REFUTED" in [line.site.verdict for line in lines]


def test_initialisers_with_seeds_of_their_own(project: Path, old_python: str) -> None:
    """The layers of TensorFlow 2 bring such seeds, and those of TensorFlow 1 do not."""
    first = """
import os
import tensorflow as tf

def initializer(shape, dtype, partition_info=None):
    if os.environ.get("OLD_PYTHON"):
        return tf.random_normal(shape, dtype=dtype)
    return tf.random.stateless_normal(shape, [3, 4], dtype=dtype)

tf.random_normal_initializer = lambda: initializer
"""
    train = project / "train.py"
    train.write_text(first + train.read_text())
    lines = trial(project, rewritten(), before_python=old_python)
    assert verdicts(lines)[:2] == [(11, "VERIFIED"), (13, "VERIFIED")]


def test_a_rewritten_tree_that_takes_too_long(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = launch.run

    def slow(command: Any, side: launch.Side, timeout: float, tick: Any) -> launch.Ran:
        ran = run(command, side, timeout, tick)
        return replace(ran, status=None, seconds=9) if side.folder.name == "after" else ran

    monkeypatch.setattr(launch, "run", slow)
    lines = trial(project, rewritten())
    assert verdicts(lines)[:2] == [(11, "UNVERIFIED"), (13, "UNVERIFIED")]
    assert lines[0].site.detail == (
        "the command fails after the rewrite: it was stopped after 9 s (--timeout gives it more)"
    )


def test_a_package_that_is_installed_in_place(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "scripts").mkdir()
    (project / "train.py").rename(project / "scripts" / "train.py")
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path.append({str(project)!r})\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    lines = trial(project, rewritten(), "python", "scripts/train.py", "3")
    assert verdicts(lines)[:2] == [(11, "VERIFIED"), (13, "VERIFIED")]


def test_where_imports_are_turned_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, copy = (str(tmp_path.resolve() / name) for name in ("tree", "copy"))
    for folder in (f"{tree}/src/lib", f"{copy}/src/lib", f"{tree}/.venv/lib", f"{tree}2"):
        Path(folder).mkdir(parents=True)
    paths = ["", tree, f"{tree}/src", f"{tree}2", f"{tree}/.venv/lib", "/usr/lib"]
    monkeypatch.setattr(sys, "path", paths)
    finder = types.ModuleType("__editable___lib_1_finder")
    vars(finder)["MAPPING"] = {"lib": f"{tree}/src/lib"}
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    editable.turn(tree, copy)
    assert sys.path == ["", copy, f"{copy}/src", *paths[3:]]
    assert editable.mappings() == [{"lib": f"{copy}/src/lib"}]


STEP = """
    import tensorflow as tf
    import tensorflow.contrib.eager as tfe

    w = tfe.Variable(2.0)
    square = tfe.gradients_function(
        lambda x: w * x * x)


    @tf.function
    def inner(x):
        y = tf.sin(x) * w
        return tf.gradients(y, x)[0]


    @tf.function(jit_compile=True)
    def compiled(x):
        return tf.gradients(x * x, x)[0]


    for value in (1.0, 2.0):
        print(square(value), inner(tf.constant(value)), compiled(tf.constant(value)))
"""
STEP_AFTER = """
    import tensorflow as tf

    w = tf.Variable(2.0)


    def square(x):
        x = tf.convert_to_tensor(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = w * x * x
        return [tape.gradient(y, x)]


    @tf.function
    def inner(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * w
        return tape.gradient(y, x)


    @tf.function(jit_compile=True)
    def compiled(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)


    for value in (1.0, 2.0):
        print(square(value), inner(tf.constant(value)), compiled(tf.constant(value)))
"""


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (STEP_AFTER, ["VERIFIED", "VERIFIED", "UNVERIFIED"]),
        (STEP_AFTER.replace("tf.sin(x)", "tf.cos(x)"), ["VERIFIED", "REFUTED", "UNVERIFIED"]),
    ],
)
def test_eager_and_inside_a_function(tmp_path: Path, after: str, expected: list[str]) -> None:
    script = tmp_path.resolve() / "step.py"
    script.write_text(textwrap.dedent(STEP))
    calls = [Rewritten("step.py", 6, 7, "TM111"), Rewritten("step.py", 13, 13, "TM101")]
    changes = {script: textwrap.dedent(after).encode()}
    lines = Trial([sys.executable, str(script)], script.parent, changes, calls).run(lambda _: None)
    assert [line.site.verdict for line in lines] == expected
    assert [line.site.runs for line in lines] == [2, 2, 0]


LOOP = """
    import tensorflow as tf

    tf.compat.v1.disable_control_flow_v2()
    x = tf.placeholder(tf.float32, [])


    def slope(x):
        return tf.gradients(x * x, x)[0]


    first, unused = slope(x), slope(x)
    rest = tf.while_loop(lambda i, s: i < 3.0, lambda i, s: (i + 1.0, s + slope(i)), [x, x])
    with tf.Session() as sess:
        sess.run(FETCHES, {x: 1.0})
"""


@pytest.mark.parametrize(
    ("fetches", "verdict", "times", "detail"),
    [
        ("rest", "UNVERIFIED", 0, "it is in the body of a loop or branch of a graph"),
        ("[first, rest]", "VERIFIED", 1, ""),
    ],
)
def test_inside_a_loop_of_a_v1_graph(
    tmp_path: Path, fetches: str, verdict: str, times: int, detail: str
) -> None:
    script = tmp_path.resolve() / "loop.py"
    script.write_text(textwrap.dedent(LOOP).replace("FETCHES", fetches))
    calls = [Rewritten("loop.py", 9, 9, "TM101")]
    command = [sys.executable, str(script)]
    [line] = Trial(command, script.parent, {}, calls).run(lambda _: None)
    assert (line.site.verdict, line.site.runs, line.site.detail) == (verdict, times, detail)

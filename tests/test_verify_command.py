"""``tapemigrate verify`` as a user calls it."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.programs import tapemigrate

MODEL = """
    import tensorflow as tf


    def slope(x):
        y = tf.sin(x) * x
        return tf.gradients(y, x)[0]
"""
CASES = """
    from tapemigrate.verify.case import draw


    def case_slope(x=draw(3)):
        from model import slope

        return slope(x)


    def case_other(x=draw(2)):
        return x
"""
TRAIN = """
    import tensorflow as tf
    from model import slope

    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as session:
        print(session.run(slope(x), {x: [1.0, 2.0]}))
"""
MINIMIZING = """
    import tensorflow as tf
    from model import slope

    x = tf.placeholder(tf.float32, [2])
    w = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(w * slope(x))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train, {x: [1.0, 2.0]})
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {"model.py": MODEL, "cases.py": CASES, "train.py": TRAIN}.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def verify(project: Path, *arguments: str) -> tuple[int, str, str]:
    ran = tapemigrate("verify", "--unsafe-fixes", *arguments, cwd=project, timeout=300)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def test_a_command_and_its_certificate(project: Path) -> None:
    before = (project / "model.py").read_text()
    status, out, err = verify(project, "--certificate", "c.json", "--", "python", "train.py")
    assert (status, err) == (0, "")
    assert "VERIFIED     1           0  model.py:7 gradients_v2\n" in out
    assert "1 VERIFIED of 1 rewritten call." in out
    assert (project / "model.py").read_text() == before
    certificate = json.loads((project / "c.json").read_text())
    assert certificate["job"]["command"] == ["python", "train.py"]
    assert [source["filename"] for source in certificate["sources"]] == ["model.py"]
    assert certificate["versions"]["after"]["tensorflow"]

    assert verify(project, "--replay", "c.json")[0] == 0
    (project / "model.py").write_text(before + "\n")
    status, out, err = verify(project, "--replay", "c.json")
    assert (status, out) == (2, "")
    assert err == "tapemigrate: model.py: has changed since\n"


def test_the_gradients_of_an_optimizer_are_no_call_of_the_program(project: Path) -> None:
    (project / "train.py").write_text(textwrap.dedent(MINIMIZING))
    status, out, err = verify(project, "--", "python", "train.py")
    assert (status, err) == (0, "")
    assert out.splitlines()[1:] == [
        "VERIFIED     1           0  model.py:7 gradients_v2",
        "",
        "1 VERIFIED of 1 rewritten call.",
    ]


def test_cases_as_json(project: Path) -> None:
    status, out, _ = verify(project, "--output-format", "json", "cases.py::case_slope")
    found: dict[str, Any] = json.loads(out)
    assert status == 0
    assert [case["name"] for case in found["cases"]] == ["case_slope"]
    assert [(call["filename"], call["verdict"]) for call in found["calls"]] == [
        ("model.py", "VERIFIED")
    ]


def test_nothing_to_rewrite_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('no gradients')\n")
    status, out, _ = verify(tmp_path, "--", "python", "missing.py")
    assert (status, out) == (0, "No call is rewritten: there is nothing to verify.\n")


def test_calls_left_to_unsafe_fixes_are_told(project: Path) -> None:
    text = textwrap.dedent(MODEL).replace("slope(x)", "slope(x, k)").replace(" * x", " * k")
    (project / "model.py").write_text(text)
    status, out, err = verify(project, "--no-unsafe-fixes", "--", "python", "missing.py")
    assert (status, out) == (0, "No call is rewritten: there is nothing to verify.\n")
    assert err == "1 call needs --unsafe-fixes.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a file of cases, or a command to run after --, or --replay"),
        (["cases.py", "--", "python"], "give a file of cases"),
        (["missing.py"], "missing.py: there is no such file"),
        (["."], ".: is a folder, and no file of cases"),
        (["cases.py", "-k", "nothing"], "no case is selected"),
        (["--replay", "cases.py"], "cases.py: is not a certificate"),
        (["--", "python", "-c", "raise SystemExit(3)"], "fails before the rewrite already"),
        (["--device", "gpu", "--", "python", "train.py"], "--device gpu: TensorFlow "),
        (["--device", "gpu", "cases.py"], "--device gpu: TensorFlow "),
        (["--before-python", "no-such-python", "cases.py"], "cannot run TensorFlow: "),
    ],
)
def test_what_cannot_be_done(project: Path, arguments: list[str], message: str) -> None:
    status, out, err = verify(project, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1

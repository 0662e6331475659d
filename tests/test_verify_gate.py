"""What ``fix --verify`` writes and what it holds back."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapemigrate import runner
from tapemigrate.model import Proof
from tapemigrate.rules import catalog
from tapemigrate.runner import Outcome
from tapemigrate.settings import Place, Resolver
from tapemigrate.verify.gate import Gated, gate
from tapemigrate.verify.job import Job
from tests.programs import tapemigrate

MODEL = """
    import tensorflow as tf


    def slope(x):
        y = tf.sin(x) * x
        return tf.gradients(y, x)[0]


    def bend(z):
        w = tf.square(z)
        return tf.gradients(w, z)[0]


    def both(x, z):
        return [slope(x), bend(z)]
"""
CASES = """
    from tapemigrate.verify.case import draw


    def case_slope(x=draw(3)):
        from model import slope

        return slope(x)


    def case_both(x=draw(2), z=draw(2)):
        from model import both

        return both(x, z)
"""
TRAIN = """
    import tensorflow as tf
    from model import slope

    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as session:
        print(session.run(slope(x), {x: [1.0, 2.0]}))
"""
OLD_NAMES = """
    import tensorflow as tf
    import tensorflow.contrib.eager as tfe

    w = tfe.Variable(2.0)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path.resolve()
    files = {"model.py": MODEL, "cases.py": CASES, "train.py": TRAIN, "names.py": OLD_NAMES}
    for name, text in files.items():
        (root / name).write_text(textwrap.dedent(text))
    monkeypatch.chdir(root)
    return root


def fix(project: Path, *arguments: str) -> tuple[int, str, str]:
    ran = tapemigrate("fix", "--unsafe-fixes", *arguments, cwd=project, timeout=300)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def test_what_was_not_reached_stays(project: Path) -> None:
    status, out, err = fix(
        project, "--verify", "--output-format", "json", ".", "--", "python", "train.py"
    )
    assert status == 1
    text = (project / "model.py").read_text()
    assert "tape.gradient(y, x)" in text
    assert "tf.gradients(w, z)[0]" in text
    # The row is the one in the new text; the fix is still there to be made without --verify.
    found: dict[str, Any] = {each["code"]: each for each in json.loads(out)}
    call = found["TM101"]
    assert "tf.gradients(w, z)" in text.splitlines()[call["location"]["row"] - 1]
    assert call["message"].endswith("; UNVERIFIED: it was not reached")
    assert call["proof"]["verdict"] == "UNVERIFIED"
    assert call["fix"]["applicability"] == "safe"
    # Names of which nothing was run stay as well.
    assert (project / "names.py").read_text() == textwrap.dedent(OLD_NAMES)
    assert (
        "no gradient call that is rewritten in this file is VERIFIED" in found["TM116"]["message"]
    )
    assert "Run on both sides: 1 VERIFIED; " in err


def test_a_diff_of_what_agrees(project: Path) -> None:
    before = (project / "model.py").read_text()
    status, out, err = fix(
        project, "--verify", "--diff", "model.py", "--cases", "cases.py::case_slope"
    )
    assert status == 1
    assert "+    return tape.gradient(y, x)" in out
    assert "-    return tf.gradients(w" not in out
    assert "model.py:12:12" in err
    assert "UNVERIFIED: it was not reached" in err
    assert (project / "model.py").read_text() == before


def test_everything_agrees(project: Path) -> None:
    status, out, err = fix(project, "--verify", "model.py", "--cases", "cases.py")
    assert (status, out) == (0, "")
    assert err.endswith("Run on both sides: 2 VERIFIED.\nRewrote 2 calls in 1 file.\n")
    assert "tf.gradients" not in (project / "model.py").read_text()


def spoilt(old: str, new: str) -> Any:
    """What a fix of the model would do if it were wrong, whenever it makes a tape at all."""

    def preview(held: frozenset[Place]) -> Outcome:
        resolver = Resolver(catalog.codes(), unsafe_fixes=True)
        outcome = runner.run(
            ["model.py"], lambda path: replace(resolver(path), held=held), mode="preview", jobs=1
        )
        outcome.results[:] = [
            replace(each, new=each.new and each.new.replace(old.encode(), new.encode()))
            for each in outcome.results
        ]
        return outcome

    return preview


def refused(project: Path, gated: Gated) -> dict[int, Proof]:
    [result] = gated.outcome.results
    gone = {row for _, row, _, _ in gated.held}
    assert all(each.location.row not in gone for each in result.mended)
    return {row: proof for (_, row, _, _), proof in gated.held.items()}


def test_a_wrong_rewrite_is_never_written(project: Path) -> None:
    wrong = spoilt("        y = tf.sin(x) * x", "        y = tf.sin(x) * tf.stop_gradient(x)")
    gated = gate(wrong, project, Job(cases=("cases.py",), timeout=120))
    [(row, proof)] = refused(project, gated).items()
    assert (row, proof.verdict, gated.verified) == (7, "REFUTED", 1)
    assert proof.detail.startswith("gradients_v2 returned float32 of shape (3,), which has no")
    assert proof.inputs.startswith("x = [")
    assert proof.before
    assert proof.before != proof.after
    [result] = gated.outcome.results
    assert result.new is not None
    assert b"tf.gradients(y, x)[0]" in result.new
    assert b"tape.gradient(w, z)" in result.new


def test_a_rewrite_that_returns_something_else_is_never_written(project: Path) -> None:
    """Its gradients agree; that they come in a list shows only in what the case returns."""
    wrong = spoilt("tape.gradient(y, x)", "tape.gradient(y, [x])")
    gated = gate(wrong, project, Job(cases=("cases.py::case_slope",), timeout=120))
    proofs = refused(project, gated)
    assert {row: proof.verdict for row, proof in proofs.items()} == {
        7: "REFUTED",
        12: "UNVERIFIED",
    }
    assert "float32 of shape (3,) before, list after" in proofs[7].detail


def test_a_program_that_fails_afterwards_is_never_written(project: Path) -> None:
    wrong = spoilt("tape.gradient(y, x)", "tape.gradiant(y, x)")
    gated = gate(wrong, project, Job(command=("python", "train.py"), timeout=120))
    proofs = refused(project, gated)
    assert proofs[7].verdict == "REFUTED"
    assert "fails after the rewrite" in proofs[7].detail
    assert gated.outcome.results[0].new is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--verify", "model.py"], "--verify needs what to run"),
        (["model.py", "--", "python", "train.py"], "a command after -- goes with --verify"),
        (["--verify", "model.py", "--cases", "cases.py", "--", "python"], "--verify needs what to"),
        (["model.py", "--cases", "cases.py"], "go with --verify"),
        (["--verify", "-", "--", "python", "train.py"], "--verify cannot run standard input"),
        (["--verify", "model.py", "--", "python", "no.py"], "fails before the rewrite already"),
    ],
)
def test_what_cannot_be_done(project: Path, arguments: list[str], message: str) -> None:
    status, out, err = fix(project, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert (project / "model.py").read_text() == textwrap.dedent(MODEL)

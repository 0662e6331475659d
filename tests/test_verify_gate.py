"""What ``fix --verify`` writes and what it holds back."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tapemigrate.model import Diagnostic, Fix, Position
from tapemigrate.runner import FileResult
from tapemigrate.verify.gate import held_back
from tapemigrate.verify.job import Job

SLOPE = """
    import tensorflow as tf


    def slope(x):
        return tf.gradients(x * x, x)[0]
"""
RIGHT = """
    import tensorflow as tf


    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)
"""
CASES = """
    from tapemigrate.verify.case import draw


    def case_good(x=draw(3)):
        import good

        return good.slope(x)


    def case_bad(x=draw(3)):
        import bad

        return bad.slope(x)
"""


def result(path: Path, new: str) -> FileResult:
    diagnostic = Diagnostic(
        "TM101", "raises", str(path), Position(6, 12), Position(6, 34), fix=Fix("safe", "a tape")
    )
    return FileResult(str(path), (), (diagnostic,), old=path.read_bytes(), new=new.encode())


def test_only_what_agrees_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path.resolve()
    monkeypatch.chdir(root)
    for name in ("good", "bad", "unseen"):
        (root / f"{name}.py").write_text(textwrap.dedent(SLOPE))
    (root / "cases.py").write_text(textwrap.dedent(CASES))
    right = textwrap.dedent(RIGHT)
    results = [
        result(root / "good.py", right),
        result(root / "bad.py", right.replace("x * x", "x * tf.stop_gradient(x)")),
        result(root / "unseen.py", right),
        FileResult(str(root / "other.py")),
    ]
    held = held_back(results, root, Job(cases=("cases.py",), timeout=120), lambda name: None)
    assert sorted(Path(name).name for name in held) == ["bad.py", "unseen.py"]
    [bad] = held[str(root / "bad.py")]
    assert bad.message.startswith("raises; REFUTED: gradients_v2 returned float32 of shape (3,)")
    assert bad.help.startswith("smallest inputs found: x = [")
    [unseen] = held[str(root / "unseen.py")]
    assert unseen.message == "raises; UNVERIFIED: it was not reached"

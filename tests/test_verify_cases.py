"""Cases of a user's, and the smallest inputs that show a difference."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tapemigrate.verify import case, report, wire
from tapemigrate.verify.calls import Rewritten, lines
from tapemigrate.verify.cases import CaseResult, Cases, CasesError
from tapemigrate.verify.job import Verdicts
from tapemigrate.verify.shrink import Inputs, shrink

MODEL = """
    import tensorflow as tf


    def residual(x, t):
        u = tf.sin(x) * t * t
        u_t = tf.gradients(u, t)[0]
        return u_t + u


    def slope(x):
        return tf.gradients(x * x, x)
"""
RIGHT = """
    import tensorflow as tf


    def residual(x, t):
        with tf.GradientTape() as tape:
            tape.watch(t)
            u = tf.sin(x) * t * t
        u_t = tape.gradient(u, t)
        return u_t + u


    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, [x])
"""
CASES = """
    import numpy as np
    import tensorflow as tf
    from tapemigrate.verify.case import draw


    def case_residual(x=draw(4, 1), t=draw(4, 1, low=0.5)):
        from model import residual

        return residual(x, t)


    def case_slope(x=np.float32([1, 2])):
        from model import slope

        return slope(x)


    def case_fails(x=draw(2)):
        raise ValueError("no data")
"""
CALLS = [Rewritten("model.py", 7, 7, "TM101"), Rewritten("model.py", 12, 12, "TM101")]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dict[str, CaseResult]]:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "model.py").write_text(textwrap.dedent(MODEL))
    file = tmp_path.resolve() / "my_cases.py"
    file.write_text(textwrap.dedent(CASES))

    def results(after: str, select: str = "case_") -> dict[str, CaseResult]:
        changes = {root / "model.py": textwrap.dedent(after).encode()}
        cases = Cases(file, root, changes, lambda name: select in name, timeout=60)
        return {result.name: result for result in cases.run(lambda name: None)}

    return results


def test_cases(run: Callable[..., dict[str, CaseResult]]) -> None:
    results = run(RIGHT)
    verdicts = {name: result.comparison.verdict for name, result in results.items()}
    assert verdicts == {
        "case_residual": "VERIFIED",
        "case_slope": "VERIFIED",
        "case_fails": "UNVERIFIED",
    }
    assert "ValueError: no data" in results["case_fails"].comparison.detail
    sites = [site for result in results.values() for site in result.sites]
    told = lines(sites, CALLS)
    assert [(line.site.row, line.site.verdict, line.site.runs) for line in told] == [
        (7, "VERIFIED", 3),
        (12, "VERIFIED", 3),
    ]
    assert Verdicts(told, []).proved
    assert not Verdicts(told, list(results.values())).proved


def test_a_counterexample(run: Callable[..., dict[str, CaseResult]]) -> None:
    wrong = RIGHT.replace("tf.sin(x) * t * t", "tf.sin(x) * t * tf.stop_gradient(t)")
    result = run(wrong, "residual")["case_residual"]
    assert result.comparison.verdict == "REFUTED"
    small = result.counterexample
    assert small is not None
    assert small.inputs["x"].values.shape == small.inputs["t"].values.shape == (1, 1)
    verdicts = Verdicts(lines(result.sites, CALLS), [result])
    told = report.text(verdicts)
    assert "smallest inputs found: x = [[" in told
    assert "before: [[" in told
    assert report.data(verdicts)["cases"][0]["counterexample"]["mode"] == small.mode


def test_what_the_new_tensorflow_lacks_refutes_nothing(tmp_path: Path) -> None:
    python = tmp_path / "old-python"
    python.write_text(f'#!/bin/sh\nOLD_PYTHON=1 exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    root = tmp_path.resolve() / "project"
    root.mkdir()
    gone = "import os\nif not os.environ.get('OLD_PYTHON'):\n    raise AttributeError('gone')\n"
    (root / "model.py").write_text(gone + textwrap.dedent(MODEL))
    file = tmp_path.resolve() / "my_cases.py"
    file.write_text(textwrap.dedent(CASES))
    changes = {root / "model.py": (gone + textwrap.dedent(RIGHT)).encode()}
    cases = Cases(
        file, root, changes, lambda name: "slope" in name, timeout=60, before_python=str(python)
    )
    [result] = cases.run(lambda name: None)
    assert result.comparison.verdict == "UNVERIFIED"
    assert result.comparison.detail == (
        "it fails under TensorFlow 2, before the rewrite already: AttributeError: gone"
    )


NOISY = """
    import tensorflow as tf


    def loss(x):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [3, 4])
            v = tf.get_variable("v", [3, 4], initializer=tf.random_normal_initializer(seed=1))
            u = tf.get_variable("u", [3, 4], initializer=tf.random_normal_initializer(seed=1))
        z = tf.Variable(tf.random_normal([4]))
        h = tf.tanh(tf.matmul(x, w + v * u) + z * tf.random_normal([4]))
        return tf.nn.dropout(h, rate=0.5) * tf.random_uniform([4], seed=5)


    def residual(x, t):
        y = loss(tf.concat([x, t, x], 1))
        return tf.gradients(y, t)[0]
"""
NOISY_AFTER = NOISY.replace(
    """        y = loss(tf.concat([x, t, x], 1))
        return tf.gradients(y, t)[0]
""",
    """        with tf.GradientTape() as tape:
            tape.watch(t)
            y = loss(tf.concat([x, t, x], 1))
        return tape.gradient(y, t)
""",
)


def test_variables_and_noise_are_the_same_on_both_sides_and_in_every_mode(
    run: Callable[..., dict[str, CaseResult]], tmp_path: Path
) -> None:
    model = tmp_path.resolve() / "project" / "model.py"
    model.write_text(textwrap.dedent(NOISY))
    result = run(NOISY_AFTER, "residual")["case_residual"]
    assert (result.comparison.verdict, result.comparison.detail) == ("VERIFIED", "")
    # One draw more, and every number is another: the case tells.
    again = NOISY_AFTER.replace(
        "        with tf.Gr", "        tf.random_normal([4])\n        with tf.Gr"
    )
    assert run(again, "residual")["case_residual"].comparison.verdict == "REFUTED"


@pytest.mark.parametrize(
    ("before", "after", "verdict", "detail"),
    [
        (" + (tf.exp(t) * 1e3 - tf.exp(t + np.log(1e3)))", "", "VERIFIED", "ill-conditioned"),
        ("", " * 1.001", "REFUTED", "finite differences agree with the program before"),
        ("", " * tf.constant(1.001, tf.as_dtype('float' '32'))", "UNVERIFIED", "does not run in"),
    ],
)
def test_small_differences_are_settled_in_float64(
    run: Callable[..., dict[str, CaseResult]],
    tmp_path: Path,
    before: str,
    after: str,
    verdict: str,
    detail: str,
) -> None:
    model = tmp_path.resolve() / "project" / "model.py"
    imports = ("tensorflow as tf\n", "tensorflow as tf\n    import numpy as np\n")
    old = MODEL.replace(*imports).replace("return u_t + u", f"return u_t{before}")
    model.write_text(textwrap.dedent(old))
    new = RIGHT.replace(*imports).replace("return u_t + u", f"return u_t{after}")
    found = run(new, "residual")["case_residual"].comparison
    assert found.verdict == verdict, found.detail
    assert detail in found.detail


def test_no_case_of_that_name(run: Callable[..., dict[str, CaseResult]]) -> None:
    with pytest.raises(CasesError, match="no case is selected"):
        run(RIGHT, "residuum")


def test_inputs_are_drawn_by_name_and_seed() -> None:
    def function(x: object = case.draw(3), y: object = case.draw(3), n: object = 5) -> None: ...

    first, again, other = (case.inputs(function, seed) for seed in (1, 1, 2))
    np.testing.assert_equal(first, again)
    assert first["x"].dtype == np.float32
    assert not np.array_equal(first["x"], first["y"])
    assert not np.array_equal(first["x"], other["x"])
    assert first["n"] == 5


def test_a_parameter_needs_a_default() -> None:
    def case_without(x: object) -> None: ...

    with pytest.raises(TypeError, match="case_without: x has no default"):
        case.inputs(case_without, 1)


@pytest.mark.parametrize(
    ("dtype", "kind"), [("float64", "f"), ("int32", "i"), ("bool", "b"), ("complex64", "c")]
)
def test_drawn_types(dtype: str, kind: str) -> None:
    array = case.draw(2, 3, dtype=dtype, high=4).array(np.random.RandomState(0))
    assert (array.dtype.kind, array.shape) == (kind, (2, 3))


def test_shrinking_keeps_the_failure() -> None:
    random = np.random.RandomState(0)
    inputs = {name: wire.array(random.randn(8, 3)) for name in ("x", "y")}

    def fails(tried: Inputs) -> bool:
        return tried["x"].values.shape[0] >= 2 and bool((tried["y"].values != 0).any())

    small = shrink(inputs, fails)
    assert fails(small)
    assert small["x"].values.shape == small["y"].values.shape == (2, 1)
    assert small["x"].values.tolist() == [[1.0], [1.0]]

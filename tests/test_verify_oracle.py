"""The oracle on rewrites made by hand: right ones pass, spoilt ones do not."""

from __future__ import annotations

import contextlib
import os
import textwrap
from collections.abc import Iterator

import pytest

from tapemigrate.verify.compare import Comparison
from tapemigrate.verify.oracle import Case, submit
from tapemigrate.verify.pool import Mode, Pool, Task

BEFORE = """
    import numpy as np
    import tensorflow as tf

    rng = np.random.RandomState(3)
    W = [rng.randn(2, 4).astype("float32"), rng.randn(4, 1).astype("float32")]
    INPUTS = {"x": rng.rand(5, 1).astype("float32"), "t": rng.rand(5, 1).astype("float32")}


    def run(x, t):
        v = tf.get_variable("v", initializer=np.float32(2.0))
        u = v * tf.matmul(tf.tanh(tf.matmul(tf.concat([x, t], 1), W[0])), W[1])
        u_t = tf.gradients(u, t)[0]
        u_x = tf.gradients(u, x, grad_ys=2.0 * tf.ones_like(u))[0]
        u_xx = tf.gradients(u_x, x)[0]
        return {"f": u_t + u * u_x - u_xx, "v": tf.gradients(u_xx, [v, t])}
"""
AFTER = """
    def run(x, t):
        v = tf.get_variable("v", initializer=np.float32(2.0))
        with tf.GradientTape() as tape3:
            tape3.watch([x, t])
            with tf.GradientTape() as tape2:
                tape2.watch(x)
                with tf.GradientTape(persistent=True) as tape:
                    tape.watch([x, t])
                    u = v * tf.matmul(tf.tanh(tf.matmul(tf.concat([x, t], 1), W[0])), W[1])
                u_t = tape.gradient(u, t)
                u_x = tape.gradient(u, x, output_gradients=2.0 * tf.ones_like(u))
            u_xx = tape2.gradient(u_x, x)
        return {"f": u_t + u * u_x - u_xx, "v": tape3.gradient(u_xx, [v, t])}
"""
ALL: tuple[Mode, ...] = ("graph", "function", "eager")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with contextlib.closing(Pool(size=min(2, os.cpu_count() or 1), timeout=60)) as workers:
        yield workers


def program(after: str) -> str:
    text = textwrap.dedent(BEFORE)
    return text[: text.index("def run")] + textwrap.dedent(after)


def compared(pool: Pool, before: str, after: str, modes: tuple[Mode, ...] = ALL) -> Comparison:
    old: tuple[Mode, ...] = tuple(mode for mode in modes if mode != "eager") or ("eager",)
    case = Case({"step.py": before}, {"step.py": after}, "step", old, modes)
    return submit(pool, case).result()


def test_a_right_rewrite(pool: Pool) -> None:
    found = compared(pool, textwrap.dedent(BEFORE), program(AFTER))
    assert (found.verdict, found.detail) == ("VERIFIED", "")
    assert [site.row for site in found.sites] == [13, 14, 15, 16]
    assert {site.runs for site in found.sites} == {1}
    assert found.largest < 1e-5


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("tape2.watch(x)", "pass", id="watch left out"),
        pytest.param("tape.watch([x, t])", "tape.watch(x)", id="one source not watched"),
        pytest.param(", output_gradients=2.0 * tf.ones_like(u)", "", id="grad_ys dropped"),
        pytest.param("gradient(u_xx, [v, t])", "gradient(u_xx, [t, v])", id="sources swapped"),
        pytest.param("gradient(u, t)", "gradient(u, [t])", id="[0] lost"),
        pytest.param("persistent=True", "", id="persistent missing"),
        pytest.param(
            "        u_xx = tape2.gradient(u_x, x)\n",
            "    u_xx = tape2.gradient(u_x, x)\n",
            id="an order outside its tape",
        ),
        pytest.param("tape2.gradient", "tape3.gradient", id="tape of another order"),
    ],
)
def test_spoilt_rewrites(pool: Pool, right: str, wrong: str) -> None:
    after = program(AFTER)
    assert right in after
    found = compared(pool, textwrap.dedent(BEFORE), after.replace(right, wrong))
    assert found.verdict == "REFUTED", found


def test_packages_without_a_file_of_their_own_are_read_anew() -> None:
    main = "import tensorflow as tf\nfrom pkg import part\nrun = part.run\nINPUTS = {'x': 1.0}\n"
    texts = [f"def run(x):\n    return {factor} * x\n" for factor in (2.0, 3.0)]
    before, after = ({"main.py": main, "pkg/part.py": text} for text in texts)
    with contextlib.closing(Pool(size=1, timeout=60)) as one:
        found = submit(one, Case(before, after, "main", ("graph",), ("graph",))).result()
    assert found.verdict == "REFUTED", found.detail


def test_unequal_only_inside(pool: Pool) -> None:
    """The outputs agree; what one call returned does not."""
    before = (
        "import tensorflow as tf\nINPUTS = {'x': [1.0, 2.0]}\n\n\n"
        "def run(x):\n    return tf.stop_gradient(tf.gradients(x * x, x)[0] * 0.0)\n"
    )
    after = before.replace("tf.gradients(x * x, x)[0]", "g(x)") + (
        "\n\ndef g(x):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
        "        y = 3.0 * x\n    return tape.gradient(y, x)\n"
    )
    found = compared(pool, before, after)
    assert found.verdict == "REFUTED"
    assert "step.py:6: gradients_v2 returned float64 of shape (2,)" in found.detail


def test_a_program_that_fails_before_is_not_verified(pool: Pool) -> None:
    text = "def run():\n    raise ValueError('no data')\n"
    found = compared(pool, text, text)
    assert found.verdict == "UNVERIFIED"
    assert "ValueError: no data" in found.detail


def test_a_crash_is_a_verdict_and_others_go_on(pool: Pool) -> None:
    crash = "import os\n\n\ndef run():\n    os.abort()\n"
    fine = "def run():\n    return 1\n"
    cases = [(fine, crash), (fine, fine), (crash, fine)]
    runs = [
        submit(pool, Case({"p.py": a}, {"p.py": b}, "p", ("eager",), ("eager",))) for a, b in cases
    ]
    assert [run.result().verdict for run in runs] == ["REFUTED", "VERIFIED", "UNVERIFIED"]


def test_none_in_output_gradients_does_not_end_the_run(pool: Pool) -> None:
    """TensorFlow ends the process when a target without a gradient is a source itself."""
    text = (
        "import tensorflow as tf\n\n\ndef run():\n    x = tf.constant([1.0, 2.0])\n"
        "    with tf.GradientTape() as tape:\n        tape.watch(x)\n        ys = [x, x * x]\n"
        "    return tape.gradient(ys, [x], output_gradients=[None, tf.constant([10.0, 100.0])])\n"
    )
    observation = pool.submit(Task({"p.py": text}, "p", "eager")).result()
    assert observation.died
    assert observation.error is not None
    assert "status -6" in observation.error


def test_an_endless_program_is_stopped() -> None:
    with contextlib.closing(Pool(timeout=8)) as pool:
        text = "def run():\n    while True:\n        pass\n"
        observation = pool.submit(Task({"p.py": text}, "p", "eager")).result()
    assert observation.error == "no result within 8 s"


def test_results_that_change_from_run_to_run_prove_nothing(pool: Pool) -> None:
    text = (
        "import os\nimport tensorflow as tf\nINPUTS = {'x': [1.0]}\n\n\n"
        "def run(x):\n    return tf.gradients(x * int.from_bytes(os.urandom(4), 'big'), x)\n"
    )
    found = compared(pool, text, text, ("graph", "function"))
    assert found.verdict == "UNVERIFIED"
    assert "graph and function disagree" in found.detail


AMPLIFIED = """
import numpy as np
import tensorflow as tf

INPUTS = {"x": np.linspace(1, 2, 7).astype("float32")}


def run(x):
    y = tf.sin(x) * x
    return tf.gradients(y, x)[0] EXTRA
"""


@pytest.mark.parametrize(
    ("before", "after", "verdict", "detail"),
    [
        (
            "+ tf.exp(x) * 1e3 - tf.exp(x + np.log(1e3))",
            "",
            "VERIFIED",
            "ill-conditioned in float32",
        ),
        ("", "* 1.001", "REFUTED", "finite differences agree with the program before"),
        ("+ tf.constant(0, tf.as_dtype('float' '32'))", "* 1.001", "UNVERIFIED", "which would"),
    ],
)
def test_small_differences_are_settled_in_float64(
    pool: Pool, before: str, after: str, verdict: str, detail: str
) -> None:
    found = compared(
        pool, AMPLIFIED.replace("EXTRA", before), AMPLIFIED.replace("EXTRA", after), ("graph",)
    )
    assert found.verdict == verdict
    assert detail in found.detail


CONTRIB_IMPORTS = [
    "import tensorflow.contrib.eager as tfe",
    "from tensorflow.contrib import eager as tfe",
    "from tensorflow.contrib.eager.python import tfe",
    "import tensorflow as tf; tfe = tf.contrib.eager",
    "import tensorflow.compat.v1 as tf; tfe = tf.contrib.eager",
    "from tensorflow.python.eager import backprop as tfe",
    "import tensorflow.contrib.eager.python.tfe as tfe",
    "from tensorflow.contrib.eager import gradients_function as gf\n"
    "class tfe: gradients_function = gf",
]


@pytest.mark.parametrize("imports", CONTRIB_IMPORTS)
def test_contrib_eager_under_every_import(pool: Pool, imports: str) -> None:
    text = f"{imports}\n\n\ndef run():\n    return tfe.gradients_function(lambda x: x * x)(3.0)\n"
    observation = pool.submit(Task({"p.py": text}, "p", "eager")).result()
    assert observation.error is None, observation.error
    assert [gradient.values.tolist() for gradient in observation.outputs] == [6.0]
    assert [call.row for call in observation.calls] == [5 + imports.count("\n")]

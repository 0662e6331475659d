"""Imports that lose their last use to a rewrite, and those that have to stay."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile


def fixed(text: str, filename: str = "program.py") -> str:
    """What ``fix --unsafe-fixes`` makes of ``text``."""
    file = SourceFile(filename, dedent(text))
    result = analyse({filename: file}, Settings(unsafe_fixes=True), rewrite=True)
    return result.rewritten.get(filename, file.text)


def program(head: str, call: str = "gradients(y, x)[0]", tail: str = "") -> str:
    return f"{head}\n\n\ndef f(x):\n    y = x * x\n    return {call}\n{tail}"


HEAD = "import tensorflow as tf\n"
GRADIENTS = "from tensorflow.python.ops.gradients import gradients"


@pytest.mark.parametrize(
    ("line", "call"),
    [
        (GRADIENTS, "gradients(y, x)[0]"),
        ("from tensorflow.python.ops import gradients_impl", "gradients_impl.gradients(y, x)[0]"),
        ("import tensorflow.python.ops.gradients_impl as gi", "gi.gradients(y, x)[0]"),
        (
            "from tensorflow.python.ops.parallel_for.gradients import jacobian",
            "jacobian(y, x, use_pfor=True)",
        ),
        (
            "from tensorflow import gradients as grad, AggregationMethod as Method",
            "grad(y, x, aggregation_method=Method.ADD_N)[0]",
        ),
    ],
)
def test_goes_with_its_last_use(line: str, call: str) -> None:
    after = fixed(program(HEAD + line, call))
    assert line not in after
    assert after.startswith(HEAD + "\n\ndef f(x):\n    with tf.GradientTape(")


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (
            "from tensorflow.python.ops import array_ops, gradients_impl",
            "from tensorflow.python.ops import array_ops",
        ),
        ("import os, tensorflow.python.ops.gradients_impl as gradients_impl", "import os"),
    ],
)
def test_only_the_name_goes(line: str, after: str) -> None:
    tail = "\n\ndef g(x):\n    return array_ops.identity(x), os.name\n"
    new = fixed(program(HEAD + line, "gradients_impl.gradients(y, x)[0]", tail))
    assert f"{HEAD}{after}\n\n\ndef f(x):" in new


@pytest.mark.parametrize(
    ("head", "call", "tail"),
    [
        (GRADIENTS, "gradients(y, x)[0]", '\n\n__all__ = ["gradients"]\n'),
        (GRADIENTS, "gradients(y, x)[0]", '\n\ndef g(how: "gradients"): ...\n'),
        (GRADIENTS, "gradients(y, x)[0]", "\n\ndef g(z, x):\n    return map(gradients, z, x)\n"),
        (GRADIENTS + "  # noqa: F401", "gradients(y, x)[0]", ""),
        (GRADIENTS, "tf.gradients(y, x)[0]", ""),
        (f"try:\n    {GRADIENTS}\nexcept ImportError:\n    pass\n", "gradients(y, x)[0]", ""),
        (GRADIENTS, "gradients(y, x)[0]", "\n\ndel gradients\n"),
    ],
    ids=["exported", "annotation", "a call that stays", "comment", "unused", "try", "deleted"],
)
def test_stays(head: str, call: str, tail: str) -> None:
    after = fixed(program(HEAD + head, call, tail))
    assert "GradientTape" in after
    assert GRADIENTS in after


def test_stays_in_a_package() -> None:
    before = program(HEAD + GRADIENTS)
    assert GRADIENTS in fixed(before, "ops/__init__.py")
    assert GRADIENTS not in fixed(before, "ops/main.py")


def test_in_a_function() -> None:
    after = fixed("""\
        import tensorflow as tf


        def f(x):
            from tensorflow.python.ops import gradients_impl

            y = x * x
            return gradients_impl.gradients(y, x)[0]
        """)
    assert after == dedent("""\
        import tensorflow as tf


        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return tape.gradient(y, x)
        """)


def test_long_lists_keep_one_name_a_line() -> None:
    names = ", ".join(f"operation_number_{k}" for k in range(5))
    tail = f"\n\ndef g():\n    return {names}\n"
    after = fixed(
        program(f"{HEAD}from tensorflow.python.ops import gradients, {names}").replace(
            "gradients(y", "gradients.gradients(y"
        )
        + tail
    )
    assert "import (\n    operation_number_0,\n    operation_number_1,\n" in after

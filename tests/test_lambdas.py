"""Lambdas that hold gradient calls: where the function goes, how it is called, what stays."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

HEAD = "import tensorflow as tf\n\n\n"
SLOPE = "lambda v: tf.gradients(v * v, v)[0]"


def fixed(text: str) -> str:
    """What ``fix --unsafe-fixes`` makes of ``text`` below the import; a second run keeps it."""
    for _ in range(2):
        file = SourceFile("program.py", HEAD + text)
        result = analyse({"program.py": file}, Settings(unsafe_fixes=True), rewrite=True)
        before, text = text, result.rewritten.get("program.py", file.text)[len(HEAD) :]
    assert text == before
    return text


def body(text: str) -> str:
    """The same, of the statements of a function."""
    head = "def run(x, k):\n"
    new = fixed(head + indent(dedent(text), "    "))
    assert new.startswith(head)
    return dedent(new[len(head) :])


def function(name: str, target: str = "v * v") -> str:
    return (
        f"def {name}(v):\n    with tf.GradientTape() as tape:\n        tape.watch(v)\n"
        f"        target = {target}\n    return tape.gradient(target, v)\n"
    )


def test_takes_the_place_of_an_assignment() -> None:
    assert body(f"slope = {SLOPE}\nreturn slope(x)\n") == (
        f"{function('slope')}\nreturn slope(x)\n"
    )


@pytest.mark.parametrize(
    ("statement", "name", "after"),
    [
        (f"return tf.map_fn({SLOPE}, x)", "gradient_of", "return tf.map_fn(gradient_of, x)"),
        (f"return tf.map_fn(fn={SLOPE}, elems=x)", "fn", "return tf.map_fn(fn=fn, elems=x)"),
        (f"return {{'slope': {SLOPE}}}", "slope", "return {'slope': slope}"),
        (f"return {{'min': {SLOPE}}}", "gradient_of", "return {'min': gradient_of}"),
        (f"return {{'if': {SLOPE}}}", "gradient_of", "return {'if': gradient_of}"),
        (f"x.slope = {SLOPE}", "slope", "x.slope = slope"),
        (f"a = b = {SLOPE}", "gradient_of", "a = b = gradient_of"),
        (f"return {SLOPE}", "gradient_of", "return gradient_of"),
        (f"return(\n    {SLOPE}\n)", "gradient_of", "return gradient_of"),
        (f"return (({SLOPE}), 1)", "gradient_of", "return (gradient_of, 1)"),
        (f"return tf.map_fn(({SLOPE}), x)", "gradient_of", "return tf.map_fn((gradient_of), x)"),
        (f"return list(({SLOPE}))", "gradient_of", "return list((gradient_of))"),
        (f"while ({SLOPE})(x): x = k", "gradient_of", "while gradient_of(x): x = k"),
    ],
)
def test_goes_above_a_statement(statement: str, name: str, after: str) -> None:
    assert body(f"{statement}\n") == f"{function(name)}\n{after}\n"


def test_names_that_are_taken() -> None:
    new = body(f"fn = x\ngradient_of = k\nreturn tf.map_fn(fn={SLOPE}, elems=fn)\n")
    assert "def fn2(v):" in new
    assert "tf.map_fn(fn=fn2, elems=fn)" in new


def test_two_in_one_statement() -> None:
    other = "lambda v: tf.gradients(tf.sin(v), v)[0]"
    assert body(f"a, b = ({SLOPE}), ({other})\n") == (
        f"{function('gradient_of')}\n{function('gradient_of2', 'tf.sin(v)')}\n"
        "a, b = gradient_of, gradient_of2\n"
    )


def test_blank_lines() -> None:
    text = f"grad = {SLOPE}\nvalues = [{SLOPE}]\n"
    assert (
        fixed(text)
        == f"{function('grad')}\n\n{function('gradient_of')}\n\nvalues = [gradient_of]\n"
    )


def test_a_default_that_stays_one() -> None:
    assert "def slope(v, s=k[0], *, n=2):" in body(
        "slope = lambda v, s=k[0], *, n=2: tf.gradients(s * v ** n, v)[0]\nreturn slope\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"def run(x, slope={SLOPE}):\n    return slope\n",
        "slopes = [lambda v: tf.gradients(v * k, v)[0] for k in range(3)]\n",
        "x = (lambda f: lambda v: tf.gradients(f(v), v)[0])(f)\n",
        "def run(x, k):\n    return [x, lambda v, s=k[0]: tf.gradients(s * v, v)[0]]\n",
        f"print(f'{{({SLOPE})(x)}}')\n",
        "def run(x):\n    return lambda v: tf.gradients((yield v) * v, v)[0]\n",
        "grads = tf.gradients(tf.map_fn(lambda v: tf.gradients(v * v, v)[0], x), y)\n",
    ],
    ids=[
        *("default", "comprehension variable", "lambda", "computed default"),
        *("f-string", "yield", "in another call"),
    ],
)
def test_stays(text: str) -> None:
    assert "lambda v" in fixed(text)
    assert "tf.gradients(" in fixed(text)


def test_too_many() -> None:
    text = "".join(f"f{k} = [{SLOPE}]\n" for k in range(51))
    assert fixed(text) == text

"""Where tapes open beside what knows no tensors: a module's parser, sizes that a function gives."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_SIZES = """\
import tensorflow as tf
from tensorflow.contrib.training import HParams


def sizes():
    return {given}
"""

_MAIN = """\
import argparse
import json

import tensorflow as tf

import sizes

{parser}


def main({parameter}):
    args = parser.parse_args()
    units = sizes.sizes()
    with open(args.file) as file:
        units.{method}({value})
    x = tf.placeholder(tf.float32, [4, args.width])
    loss = tf.reduce_sum(tf.layers.dense(x, units.n)) * args.scale
    return tf.gradients(loss, tf.trainable_variables())


main()
"""

_PLAIN = {
    "parser": "parser = argparse.ArgumentParser()",
    "parameter": "",
    "method": "parse_json",
    "value": "json.load(file)",
    "given": "HParams(n=3, name='a')",
}


def _opens_at(**changed: str) -> str:
    """The first line under the tape."""
    parts = {**_PLAIN, **changed}
    texts = {"sizes.py": _SIZES.format(**parts), "main.py": _MAIN.format(**parts)}
    sources = {name: decode(text.encode(), name) for name, text in texts.items()}
    lines = analyse(sources, Settings(), rewrite=True).rewritten["main.py"].splitlines()
    tape = next(i for i, line in enumerate(lines) if "GradientTape" in line)
    return lines[tape + 1].strip()


def test_nothing_of_them_runs_under_the_tape() -> None:
    assert _opens_at().startswith("loss =")
    assert _opens_at(given="3").startswith("loss =")


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("given", "HParams(n=3, scale=tf.get_variable('s', []))"),
        ("given", "Sizes()"),
        ("value", "tf.layers.dense(file, 1)"),
    ],
)
def test_sizes_that_may_hold_tensors_do(part: str, other: str) -> None:
    assert not _opens_at(**{part: other}).startswith("loss =")


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("parser", "parser = argparse.ArgumentParser()\nfor parser in [sizes]:\n    pass"),
        ("parser", "parser = argparse.ArgumentParser()\n\n\ndef other(parser):\n    return parser"),
    ],
)
def test_what_may_be_another_parser_does(part: str, other: str) -> None:
    assert _opens_at(**{part: other}) == "args = parser.parse_args()"


_OWN = """\
import argparse

import tensorflow as tf


def main(width):
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type={function})
    args = parser.parse_args()
    loss = tf.reduce_sum(tf.layers.dense(tf.ones([4, 2]), 3)) * args.scale
    return tf.gradients(loss, tf.trainable_variables())


main(2)
"""


@pytest.mark.parametrize(
    ("function", "plain"),
    [
        ("float", True),
        ("lambda text: text == 'yes'", True),
        ("lambda text: float(text)", True),
        ("lambda text: tf.get_variable(text, [])", False),
        ("lambda text: width", False),
    ],
)
def test_what_a_parser_is_handed_counts(function: str, plain: bool) -> None:
    source = decode(_OWN.format(function=function).encode(), "main.py")
    lines = analyse({"main.py": source}, Settings(), rewrite=True).rewritten["main.py"].splitlines()
    tape = next(i for i, line in enumerate(lines) if "GradientTape" in line)
    assert lines[tape + 1].strip().startswith("loss =") == plain


_COUNTING = """

def run{n}(files):
    for name in files:
        with open(name) as file:
            rows += int(file.readline())
            words += int(file.readline())
    w = tf.get_variable("w", [])
    y = tf.square(w)
    return tf.gradients(y, tf.trainable_variables())
"""


def test_lines_that_a_loop_reads_end_somewhere() -> None:
    """Each read changes what the one before left, round the loop; in which order is chance."""
    text = "import tensorflow as tf\n" + "".join(_COUNTING.format(n=n) for n in range(12))
    result = analyse({"main.py": decode(text.encode(), "main.py")}, Settings(), rewrite=True)
    lines = result.rewritten["main.py"].splitlines()
    opened = [lines[n + 1].strip() for n, line in enumerate(lines) if "GradientTape" in line]
    assert opened == ["y = tf.square(w)"] * 12


_FUNCTION = """\
import argparse

import tensorflow as tf

SCALE = 0.5
LIST = []
{module}


def yes(text):
    return text.lower() == "yes"


def arguments({parameter}):
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type={type}, default={default})
    {statement}
    return parser.parse_args()


def main(width):
    args = arguments({given})
    loss = tf.reduce_sum(tf.layers.dense(tf.ones([4, 2]), 3)) * args.scale
    return tf.gradients(loss, tf.trainable_variables())


main(2)
"""


@pytest.mark.parametrize(
    ("changed", "plain"),
    [
        ({}, True),
        ({"type": "yes"}, True),
        ({"type": "lambda text: yes(text)"}, True),
        ({"parameter": "rate=0.5", "default": "rate"}, True),
        ({"default": "OTHER", "module": "OTHER = tf.get_variable('v', [])"}, False),
        ({"default": "max", "module": "max = tf.get_variable('v', [])"}, False),
        ({"default": "LIST[0]"}, False),
        ({"default": "tf.get_variable('v', [])"}, False),
        ({"parameter": "rate", "default": "rate", "given": "width"}, False),
        ({"parameter": "rate=LIST", "default": "rate[0]"}, False),
        (
            {"type": "make", "module": "def make(text):\n    return tf.ones(text)"},
            False,
        ),
        ({"statement": "global SCALE"}, False),
        ({"default": "globals()['SCALE']"}, False),
    ],
)
def test_a_function_that_meets_no_tensors_gives_none(changed: dict[str, str], plain: bool) -> None:
    parts = {"module": "", "parameter": "", "type": "float", "default": "SCALE"}
    parts |= {"statement": "parser.description = 'x'", "given": "", **changed}
    source = decode(_FUNCTION.format(**parts).encode(), "main.py")
    found = analyse({"main.py": source}, Settings(unsafe_fixes=True), rewrite=True)
    lines = found.rewritten["main.py"].splitlines()
    tape = next(i for i, line in enumerate(lines) if "GradientTape" in line)
    assert lines[tape + 1].strip().startswith("loss =") == plain


def test_a_method_is_handed_its_object() -> None:
    text = """\
import tensorflow as tf


class Model:
    def __init__(self):
        self.w = tf.Variable([1.0, 2.0])

    def forward(self):
        return self.w

    def slope(self):
        y = self.forward()
        return tf.gradients(tf.square(y), self.w)[0]
"""
    source = decode(text.encode(), "main.py")
    assert "y = self.forward()" in (
        line.strip()
        for line in analyse({"main.py": source}, Settings(), rewrite=True)
        .rewritten["main.py"]
        .partition("GradientTape")[2]
        .splitlines()
    )

"""Random notebooks, cut into cells at random: what is rewritten computes what was there before."""

from __future__ import annotations

import json
import random
import re
import textwrap
from typing import Any

import numpy as np
import pytest

from tapemigrate.runner import run_text
from tapemigrate.settings import Settings

tf = pytest.importorskip("tensorflow")

PLAIN = Settings()
OTHERS = ("!ls", "%matplotlib inline", "print?", "# note", "files = !ls", "%timeit len([1])")


def program(rng: random.Random) -> tuple[list[str], list[str]]:
    """Statements (some of several lines), and the names of the gradients that they make."""
    names, functions, helpers, gradients = ["x", "w"], [], [], []
    statements = ["x = tf.constant([0.5, -1.0])", "w = tf.constant([2.0, 3.0])"]
    for number in range(rng.randint(4, 12)):
        a, b, magic = rng.choice(names), rng.choice(names), rng.choice(["", "", "%time "])
        kind = rng.choice("ooooofaaldhipsgggg")
        new = f"t{number}"
        if kind == "o":
            if len(names) > 2 and rng.random() < 0.25:
                new = rng.choice(names[2:])
            value = rng.choice([f"{a} * {b}", f"tf.sin({a}) + {b}", f"tf.reduce_sum({a}) * {b}"])
            statements.append(f"{magic}{new} = {value}")
            names.append(new)
        elif kind == "f":
            statements.append(f"def f{number}(z):\n    return tf.tanh(z) * {a}")
            functions.append(f"f{number}")
        elif kind == "a" and functions:
            statements.append(f"{new} = {rng.choice(functions)}({a})")
            names.append(new)
        elif kind == "l":
            statements.append(f"{new} = {a}\nfor _ in range(2):\n    {new} = {new} * {b}")
            names.append(new)
        elif kind == "d":
            helpers.append(f"d{number}")
            statements.append(f"def d{number}(y, z):\n    return tf.gradients(y, z)[0]")
        elif kind == "h" and helpers:
            statements.append(f"g{number} = {rng.choice(helpers)}({b} * {a}, {a})")
            gradients.append(f"g{number}")
        elif kind == "i":
            call = f"g{number} = tf.gradients({new}, {a})[0]"
            statements.append(f"{new} = {a} * {b}\nif True:\n    {call}")
            names.append(new)
            gradients.append(f"g{number}")
        elif kind == "s":
            statements.append(rng.choice(OTHERS))
        elif kind == "g":
            target, source = rng.choice([b, f"{b} * {a}"]), rng.choice([a, f"[{a}, {b}]"])
            index = rng.choice(["", "[0]"])
            statements.append(f"{magic}g{number} = tf.gradients({target}, {source}){index}")
            gradients.append(f"g{number}")
            if index and rng.random() < 0.5:
                call = f"tf.gradients(g{number}, {rng.choice(names)})"
                statements.append(f"h{number} = {call}")
                gradients.append(f"h{number}")
    return statements, gradients


def cut(rng: random.Random, statements: list[str]) -> list[str]:
    """The statements as cells, of which some are indented, and some timed."""
    cells = [["import tensorflow as tf"]]
    for statement in statements:
        if rng.random() < 0.35:
            cells.append([])
        cells[-1].append(statement)
    return [
        rng.choice(["", "", "", "", "%%time\n"]) + "\n".join(cell)
        if rng.random() < 0.9
        else textwrap.indent("\n".join(cell), "  ")
        for cell in cells
    ]


def values(cells: list[str], gradients: list[str]) -> dict[str, Any] | None:
    """What the cells compute in a graph; None where they do not run."""
    text = "\n".join(textwrap.dedent(cell.removeprefix("%%time\n")) for cell in cells)
    text = text.replace("%time ", "").replace("files = !ls", "files = []")
    text = re.sub(r"^( *)(?:[!%].*|print\?)$", r"\1pass", text, flags=re.MULTILINE)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        names: dict[str, Any] = {}
        try:
            exec(text, names)
        except (AttributeError, TypeError):  # the gradient of a None
            return None
        return {name: value(names[name], session) for name in gradients}


def value(made: Any, session: Any) -> Any:
    if isinstance(made, list | tuple):
        return [value(each, session) for each in made]
    return None if made is None else session.run(made)


@pytest.mark.parametrize("seed", range(40))
def test_rewritten_cells_compute_the_same(seed: int) -> None:
    rng = random.Random(seed)
    statements, gradients = program(rng)
    cells = cut(rng, statements)
    sources = [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    raw = json.dumps({"cells": sources}).encode()
    result = run_text(raw, "a.ipynb", PLAIN, mode="fix")
    assert not [each for each in result.diagnostics if each.code.startswith("TM90")]
    before = values(cells, gradients)
    if result.new is None or before is None:
        return
    new = ["".join(cell["source"]) for cell in json.loads(result.new)["cells"]]
    after = values(new, gradients)
    assert after is not None
    for name in gradients:
        old_parts, new_parts = flat(before[name]), flat(after[name])
        assert [part is None for part in old_parts] == [part is None for part in new_parts]
        for one, other in zip(old_parts, new_parts, strict=True):
            if one is not None:
                np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def flat(parts: Any) -> list[Any]:
    return [each for part in parts for each in flat(part)] if isinstance(parts, list) else [parts]

"""Uses of ``tf.contrib.eager`` that are told: what would be written could not do the same."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

HEAD = "import tensorflow as tf\nimport tensorflow.contrib.eager as tfe\n\n"
CALL = "v, (g,) = tfe.value_and_gradients_function(loss)(tf.constant(2.0))\n"


def left(text: str) -> dict[str, bool]:
    """The codes told of a file, and whether there is no fix for what they stand for."""
    files = {"main.py": decode(text.encode(), "main.py")}
    found = analyse(files, Settings(), rewrite=False).diagnostics
    return {each.code: each.fix is None for each in found if "import" not in each.message[:8]}


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        ("def loss(x):\n    return x * x, 0.5\n", True),
        ("def loss(x):\n    y = x * x\n    return y, y.numpy()\n", True),
        ("def loss(x):\n    return x * x, float(x)\n", True),
        ("loss = lambda x: (x * x, 3)\n", True),
        ("def loss(x):\n    return x * x, x + 0.5\n", False),
        ("def loss(x):\n    return x * x\n", False),
    ],
)
def test_numbers_beside_the_loss(loss: str, told: bool) -> None:
    assert left(f"{HEAD}{loss}{CALL}")["TM112"] == told


@pytest.mark.parametrize("name", ["zip", "list", "other"])
def test_functions_of_python_that_new_code_calls(name: str) -> None:
    text = f"def loss(x):\n    return x * x\n\n\n{name} = 3\n{CALL}"
    assert left(f"{HEAD}{text}")["TM112"] == (name != "other")


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("print(isinstance(rows, tfe.Iterator))\n", True),
        ("iter = 3\nfor row in tfe.Iterator(rows):\n    print(row)\n", True),
        ("for row in tfe.Iterator(rows):\n    print(row)\n", False),
    ],
)
def test_iterators(use: str, told: bool) -> None:
    assert left(f"{HEAD}rows = tf.data.Dataset.range(3)\n{use}")["TM116"] == told

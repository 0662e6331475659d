"""Rows that messages tell of notebooks, as who reads the notebook counts them."""

from __future__ import annotations

import json

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_HELPER = "import tensorflow as tf\n\n\ndef slope(y, x):\n    return tf.gradients(y, x)[0]\n"
_CELLS = ["from helper import slope\n\nslopes = []", "x = 1.0\nslopes.append(slope(x, x))"]


def notebook(cells: list[str]) -> str:
    """A notebook of code cells."""
    found = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": c}
        for c in cells
    ]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize(
    "name", ["use.ipynb", "Introduction to it.ipynb", "a/An introduction.ipynb"]
)
def test_a_row_of_another_notebook_is_that_of_its_cell(name: str) -> None:
    files = {"helper.py": _HELPER, name: notebook(_CELLS)}
    read = {each: decode(text.encode(), each) for each, text in files.items()}
    (found,) = analyse(read, Settings(), rewrite=False).diagnostics
    assert f"{name}, line 2 of cell 2" in found.message

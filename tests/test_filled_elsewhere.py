"""Lists of the module that got what was made of a source, and are read through a function."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

TEXT = """\
import tensorflow as tf

weight = tf.Variable([0.7])
other = tf.Variable([0.3])
SCALES = [2.0]


def scaled(h):
    return h * SCALES[-1]


def slope(variable):
    y = scaled(variable)
    return tf.gradients(y, variable)[0]


{put}
slope(weight)
"""


@pytest.mark.parametrize(
    ("put", "left"),
    [
        ("SCALES.append(weight * weight)", True),
        ("SCALES.extend([tf.exp(weight)])", True),
        ("square = weight * weight\nSCALES.insert(0, square)", True),
        ("SCALES.append(3.0)", False),
        ("SCALES.append(other * 2.0)", False),
        ("[].append(weight * weight)", False),
    ],
)
def test_what_a_function_reads_of_such_a_list(put: str, left: bool) -> None:
    files = {"main.py": decode(TEXT.format(put=put).encode(), "main.py")}
    [found] = analyse(files, Settings(), rewrite=False).diagnostics
    assert (found.fix is None) == left
    if left:
        assert "`SCALES` enters the forward pass and was put together elsewhere" in found.message

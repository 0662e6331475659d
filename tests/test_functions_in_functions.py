"""Functions inside of others are reached by their names alone, and only while they have them."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

META = """
import tensorflow as tf

def minimize(x, apply):
    def update(fx, x):
        return tf.gradients(fx, x)[0]

    fx = tf.reduce_sum(x ** 3)
    step = update(fx, x)
    {more}
    return step, update

steps = minimize(tf.ones([2]), None)
"""
INNER = META.replace("    return step, update", "    return step")
OUTER = """
import tensorflow as tf

def update(fx, x):
    return tf.gradients(fx, x)[0]

def minimize(x):
    fx = tf.reduce_sum(x ** 3)
    return update(fx, x)

steps = minimize(tf.ones([2]))
"""
STAYS = "the old call stays"


def message(files: dict[str, str]) -> str:
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.message


@pytest.mark.parametrize("more", ["update = tf.group(step)", "update = tf.stack([step]) + x"])
def test_the_name_of_a_value_by_then(more: str) -> None:
    assert message({"meta.py": META.format(more=more)}).endswith("gives the same")


@pytest.mark.parametrize(
    "more",
    ["pass", "update = [update]", "kept = update\n    update = kept"],
)
def test_the_function_itself_is_handed_on(more: str) -> None:
    assert STAYS in message({"meta.py": META.format(more=more)})


TEXT = "NAMES = ['update']\n"


def test_no_text_of_another_file_looks_into_a_function() -> None:
    inner = INNER.format(more="pass")
    assert message({"meta.py": inner, "other.py": TEXT}).endswith("gives the same")
    assert STAYS in message({"meta.py": inner + TEXT})
    assert STAYS in message({"meta.py": OUTER, "other.py": TEXT})


def test_methods_of_a_class_in_a_function_are_reached_by_texts() -> None:
    inside = """
import tensorflow as tf

def make():
    class Net(object):
        def update(self, fx, x):
            return tf.gradients(fx, x)[0]

        def minimize(self, x):
            fx = tf.reduce_sum(x ** 3)
            return self.update(fx, x)

    return Net()

steps = make().minimize(tf.ones([2]))
"""
    assert STAYS not in message({"meta.py": inside})
    assert "`update` may be looked up by a text" in message({"meta.py": inside, "other.py": TEXT})

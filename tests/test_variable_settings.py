"""Reference variables, and cached copies of variables, in the file of the call and in others."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

NETS = """\
import tensorflow as tf
{top}

def dense(x, rows, {options}):
    w = tf.get_variable("w", [rows, 2]{given})
    return tf.tanh(tf.matmul(x, w))


def slope(x):
    y = dense(x, 3)
    return tf.gradients(y, tf.trainable_variables())
"""
MAIN = """\
import tensorflow as tf
from nets import slope

{before}
x = tf.placeholder(tf.float32, [None, 3])
{call}
"""


def is_left(**files: str) -> bool:
    read = {f"{name}.py": SourceFile(f"{name}.py", text) for name, text in files.items()}
    (found,) = analyse(read, Settings(), rewrite=False).diagnostics
    told = "reference variables" in found.message or "caching_device" in found.message
    assert told is (found.fix is None), found.message
    return told


def nets(given: str = "", options: str = "**kw", top: str = "") -> str:
    return NETS.format(given=given, options=options, top=top)


def main(before: str = "", call: str = "print(slope(x))") -> str:
    return MAIN.format(before=before, call=call)


@pytest.mark.parametrize(
    ("given", "options", "top"),
    [
        (", use_resource=False", "**kw", ""),
        (", use_resource=RESOURCE", "**kw", "RESOURCE = False"),
        (", use_resource=use_resource", "use_resource=False", ""),
        (", **KW", "**kw", "KW = {'use_resource': False}"),
        (", **KW", "**kw", "KW = {}\nKW['caching_device'] = '/cpu:0'"),
        (", caching_device='/cpu:0'", "**kw", ""),
        ("", "**kw", "tf.get_variable_scope().set_use_resource(False)"),
        ("", "**kw", "tf.get_variable_scope().set_caching_device('/cpu:0')"),
    ],
)
def test_of_the_file(given: str, options: str, top: str) -> None:
    assert is_left(nets=nets(given, options, top))


@pytest.mark.parametrize(
    ("given", "options", "top"),
    [
        ("", "**kw", ""),
        (", use_resource=True", "**kw", ""),
        (", use_resource=None, caching_device=None", "**kw", ""),
        (", use_resource=use_resource", "use_resource=True", ""),
        (", use_resource=use_resource", "use_resource=None", ""),
        ("", "**kw", "tf.get_variable_scope().set_use_resource(True)"),
    ],
)
def test_variables_that_a_tape_watches(given: str, options: str, top: str) -> None:
    assert not is_left(nets=nets(given, options, top))


SCOPED = "with tf.variable_scope('a', {}):\n    print(slope(x))"


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("tf.get_variable_scope().set_use_resource(False)", "print(slope(x))"),
        ("tf.get_variable_scope().set_caching_device('/cpu:0')", "print(slope(x))"),
        ("", SCOPED.format("use_resource=False")),
        ("", SCOPED.format("caching_device='/cpu:0'")),
        ("kw = {'use_resource': False}", SCOPED.format("**kw")),
        ("kw = dict()\nkw['use_resource'] = False", SCOPED.format("**kw")),
    ],
)
def test_of_the_caller(before: str, call: str) -> None:
    assert is_left(nets=nets(), main=main(before, call))


def test_of_a_file_that_calls_nothing_of_it() -> None:
    other = "import tensorflow as tf\n\ntf.get_variable_scope().set_use_resource(False)\n"
    assert not is_left(nets=nets(), main=main("", SCOPED.format("use_resource=True")), other=other)


@pytest.mark.parametrize("how", ["an argument", "a scope"])
@pytest.mark.parametrize(("value", "left"), [("False", True), ("True", False)])
def test_of_what_is_called(how: str, value: str, left: bool) -> None:
    setting = f"tf.get_variable_scope().set_use_resource({value})" if how == "a scope" else "pass"
    given = f", use_resource={value}" if how == "an argument" else ""
    layers = f"""\
import tensorflow as tf


def dense(x):
    {setting}
    w = tf.get_variable("w", [3, 2]{given})
    return tf.tanh(tf.matmul(x, w))
"""
    calling = """\
import tensorflow as tf
from layers import dense


def slope(x):
    y = dense(x)
    return tf.gradients(y, tf.trainable_variables())
"""
    assert is_left(layers=layers, nets=calling) is left

"""Files that find the ops of gradients by their names, and files that only write such names."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

PROGRAM = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [2])
y = tf.tanh(x)
g = tf.gradients(y, x)[0]
sess = tf.Session()
{}
"""


def is_left(line: str) -> bool:
    text = PROGRAM.format(line)
    (found,) = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    return "by their names" in found.message and found.fix is None


@pytest.mark.parametrize(
    "line",
    [
        "print(sess.run('gradients/Tanh_grad/TanhGrad:0', {x: [1, 2]}))",
        "print(sess.run([y, 'a/gradients_1/Tanh_grad/TanhGrad:0'], {x: [1, 2]}))",
        "g = tf.get_default_graph().get_tensor_by_name('gradients/Tanh_grad/TanhGrad:0')",
        "ops = [n for n in tf.get_default_graph().as_graph_def().node if 'gradients' in n.name]",
        "ops = [n for n in tf.get_default_graph().as_graph_def().node\\\n"
        "       if n.name.startswith('gradients/')]",
    ],
)
def test_finds_them(line: str) -> None:
    assert is_left(line)


@pytest.mark.parametrize(
    "line",
    [
        "tf.summary.histogram('gradients/' + x.op.name, g)",
        "print('gradients/', sess.run(g, {x: [1, 2]}))",
        "found = {'gradients': g}['gradients']",
        "mine = [v for v in tf.global_variables() if 'my_gradients' in v.name]",
    ],
)
def test_writes_them(line: str) -> None:
    assert not is_left(line)

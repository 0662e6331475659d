"""TensorFlow's own upgrade script, before this tool and after it: both give working programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tapemigrate.rules import catalog
from tests.programs import tapemigrate

GRAPH = """\
import tensorflow as tf

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [2])
y = tf.reduce_sum(tf.log(x))
slope = tf.gradients(y, x, colocate_gradients_with_ops=True)[0]
curvature = tf.gradients(slope, [x])[0]
hessian = tf.hessians(y, x, aggregation_method=tf.AggregationMethod.ADD_N)[0]
w = tf.get_variable("w", [], initializer=tf.ones_initializer(), use_resource=True)
step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.square(w))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step)
    for result in session.run([slope, curvature, hessian, w], {x: [1.0, 2.0]}):
        print(result.tolist())
"""
EAGER = """\
import tensorflow as tf

tfe = tf.contrib.eager

tf.enable_eager_execution()
w = tfe.Variable(2.0)


def loss(x):
    return tf.log(w * x)


print([float(grad) for grad in tfe.gradients_function(loss)(4.0)])
print([float(grad) for grad, _ in tfe.implicit_gradients(loss)(4.0)])
"""
PRINTED = {
    "graph.py": ("[1.0, 0.5]\n[-1.0, -0.25]\n[[-1.0, 0.0], [0.0, -0.25]]\n0.0\n"),
    "eager.py": "[0.25]\n[0.5]\n",
}


@pytest.mark.parametrize("order", ["tapemigrate first", "tf_upgrade_v2 first"])
def test_both_orders_give_working_programs(order: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "graph.py").write_text(GRAPH)
    (tree / "eager.py").write_text(EAGER)
    if order == "tapemigrate first":
        assert tapemigrate("fix", ".", cwd=tree).returncode == 0
        tree = upgraded(tree, tmp_path / "upgraded")
    else:
        tree = upgraded(tree, tmp_path / "upgraded")
        assert tapemigrate("fix", ".", cwd=tree).returncode == 0
    assert tapemigrate("check", ".", cwd=tree).returncode == 0
    for name, printed in PRINTED.items():
        assert "GradientTape" in (tree / name).read_text()
        assert python(str(tree / name)) == printed


def test_the_names_that_it_writes_are_known(tmp_path: Path) -> None:
    """Every gradient function is still found under its new name."""
    tree = tmp_path / "tree"
    tree.mkdir()
    old = [
        path
        for path, symbol in catalog.symbols().items()
        if symbol.rule.startswith("TM10")
        and not path.startswith(("tensorflow.compat.", "tensorflow.contrib.", "tensorflow.python."))
    ]
    assert "tensorflow.gradients" in old
    lines = [f"name = {path.replace('tensorflow', 'tf', 1)}\n" for path in old]
    (tree / "names.py").write_text("import tensorflow as tf\n" + "".join(lines))
    text = (upgraded(tree, tmp_path / "upgraded") / "names.py").read_text()
    new = re.findall(r"^name = tf\.(\S+)$", text, re.MULTILINE)
    assert len(new) == len(old)
    for before, after in zip(old, new, strict=True):
        symbol = catalog.lookup(f"tensorflow.{after}")
        assert symbol is not None, after
        assert symbol.rule == catalog.symbols()[before].rule, (before, after)


def upgraded(tree: Path, to: Path) -> Path:
    main = "tensorflow.tools.compatibility.tf_upgrade_v2_main"
    report = to.with_suffix(".txt")
    python("-m", main, "--intree", str(tree), "--outtree", str(to), "--reportfile", str(report))
    return to


def python(*arguments: str) -> str:
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment = {**os.environ, **quiet}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

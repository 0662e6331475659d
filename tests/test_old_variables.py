"""Programs that rely on variables of the old kind, where a fix turns the new kind on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_SLOPE = """\
import tensorflow as tf


def slope(x):
    y = tf.tanh(x)
    return tf.gradients(y, x)[0]
"""
_OLD_WAYS = [
    "v.initialized_value()",
    "tf.assign(v, x, validate_shape=False)",
    "tf.assign(v, x, False)",
]
_NEW_WAYS = [
    "v.initial_value",
    "tf.assign(v, x)",
    "tf.assign(v, x, validate_shape=True)",
    "tf.assign(tf.Variable(x, shape=tf.TensorShape(None)), x, validate_shape=False)",
]


_HEAD = "import tensorflow.compat.v1 as tf\n"
_TURNING_OFF = _SLOPE.replace("import tensorflow as tf\n", f"{_HEAD}tf.disable_v2_behavior()\n")
_OLD = "\n\ndef old(v, x):\n    return {}\n"


def messages(files: dict[str, str]) -> list[tuple[str, bool]]:
    read = {name: decode(text.encode(), name) for name, text in files.items()}
    found = analyse(read, Settings(), rewrite=False).diagnostics
    return [(each.message, each.fix is not None) for each in found if each.code == "TM101"]


@pytest.mark.parametrize("way", _OLD_WAYS)
def test_what_resource_variables_cannot_do_is_told(way: str) -> None:
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF + _OLD.format(way)})
    assert not fixed
    assert "raises for the resource variables" in message
    importing = _TURNING_OFF.replace("\n\n\ndef", "\nimport old\n\n\ndef", 1)
    ((message, fixed),) = messages({"slope.py": importing, "old.py": _HEAD + _OLD.format(way)})
    assert not fixed
    assert "in old.py, line 5" in message


@pytest.mark.parametrize("way", _NEW_WAYS)
def test_what_they_can_do(way: str) -> None:
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF + _OLD.format(way)})
    assert fixed, message


@pytest.mark.parametrize("way", _OLD_WAYS)
def test_programs_that_have_them_already_or_not_at_all(way: str) -> None:
    ((message, fixed),) = messages({"slope.py": _SLOPE + _OLD.format(way)})
    assert fixed, message
    old = _HEAD + _OLD.format(way)
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF, "old.py": old})
    assert fixed, message


_OPTIMIZER = """\

class Langevin(tf.train.Optimizer):
    def _apply_dense(self, grad, var):
        return tf.assign_sub(var, grad)
"""


def test_optimizers_that_know_the_old_kind_alone() -> None:
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF + _OPTIMIZER})
    assert not fixed
    assert "`Langevin.apply_gradients` in line 9 raises" in message
    more = "    def _resource_apply_dense(self, grad, var):\n        return var.assign_sub(grad)\n"
    ((message, fixed),) = messages({"slope.py": _TURNING_OFF + _OPTIMIZER + more})
    assert fixed, message


_SETTING = """\

x = tf.placeholder(tf.float32, [2], name="x")
w = tf.Variable([1.0, 2.0], name="w")
names = [v.name for v in tf.trainable_variables()]
values = [v.initial_value for v in tf.trainable_variables()]
sess = tf.Session()
graph = tf.get_default_graph()
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sess.run(names)", "fetches no variable by its name"),
        ("sess.run([v.name for v in graph.vars])", "fetches no variable by its name"),
        ("sess.run('w:0')", "nothing depends on `'w:0'` in line 15"),
        ("graph.get_tensor_by_name('w:0')", "finds no variable"),
        ("graph.get_tensor_by_name(name)", "finds no variable"),
        ("sess.run(x, {w: [5.0, 6.0]})", "`w`, fed in line 15, is no variable"),
        ("x.eval(feed_dict={'w:0': [5.0, 6.0]})", "`'w:0'`, fed in line 15, is no variable"),
        ("sess.run(x, {w.name: [5.0, 6.0]})", "`w.name`, fed in line 15, is no variable"),
        (
            "sess.run(x, {v: 1.0 for v in tf.trainable_variables()})",
            "`v`, fed in line 15, is no variable",
        ),
        ("feed = {}\nfeed[w] = 1.0\nsess.run(x, feed)", "`w`, fed in line 17, is no variable"),
        ("sess.run(x, dict(zip(tf.trainable_variables(), [1.0])))", "fed in line 15, is no"),
        ("ws = [w]\nsess.run(x, {v: 1.0 for v in ws})", "`v`, fed in line 16, is no"),
        ("v = w.value()", "nothing depends on `w.value()` in line 15"),
        ("v = w._ref()", "nothing depends on `w._ref()` in line 15"),
        ("sess.run(w.op.outputs[0])", "`w.op.outputs` in line 15 is of no variable"),
        ("sess.make_callable('w:0')", "if that names a variable"),
        ("sess.run('{}:0'.format(x))", "nothing depends on `'{}:0'` in line 15"),
        ("for name in names: sess.run(name)", "fetches no variable by its name"),
        ("found = []\nfound.append(w.name)\nsess.run(found)", "fetches no variable by its name"),
        ("graph.get_operation_by_name('w/read')", "finds no variable"),
        ("isinstance(w, tf.Variable)", "nothing depends on `isinstance(w, tf.Variable)`"),
        (
            "kinds = (int, tf.Variable)\nisinstance(w, kinds)",
            "on `isinstance(w, kinds)` in line",
        ),
        (
            "issubclass(type(w), tf.Variable)",
            "on `issubclass(type(w), tf.Variable)` in",
        ),
        ("type(w) is tf.Variable", "nothing depends on `type(w) is tf.Variable` in line 15"),
        ("w.dtype == tf.float32", "nothing depends on `w.dtype == tf.float32` in line 15"),
        ("w.dtype.name", "nothing depends on `w.dtype.name` in line 15"),
        ("w._snapshot", "nothing depends on `w._snapshot` in line 15"),
        ("tf.convert_to_tensor(w)", "nothing depends on `tf.convert_to_tensor(w)` in line 15"),
        (
            "[o for o in graph.ops if o.type == 'Assign']",
            "depends on `'Assign'` in line 15",
        ),
        ("graph.get('w/read')", "nothing depends on `'w/read'` in line 15"),
        (
            "def go(fetched, fed):\n    sess.run(fetched, {fed: 1.0})\n\ngo(x, w)",
            "`fed`, fed in line",
        ),
        ("def go(fed):\n    sess.run(x, {fed: 1.0})", "`fed`, fed in line 16, is no variable"),
        ("def feed():\n    return {w: 1.0}\n\nsess.run(x, feed())", "`w`, fed in line 18, is no"),
        ("def go(feed):\n    sess.run(x, feed)", "`feed`, fed in line 16, has none among its keys"),
        ("feed = {}\nfeed.update({w: 1.0})\nsess.run(x, feed)", "`w`, fed in line 17, is no"),
        ("sess.make_callable(x, [w])", "`w`, fed in line 15, is no variable"),
        ("run = sess.run\nrun(x, {w: 1.0})", "`w`, fed in line 16, is no variable"),
        (
            "t = w if sess else w\ndef go(t):\n    t += 1.0",
            "`t += 1.0` in line 17 is of no variable",
        ),
        (
            "def yes():\n    names.append(x + 1.0)\n    return x\n\n\ntf.cond(x, yes, lambda: x)",
            "nothing that `yes` in line 15 makes is used outside of it",
        ),
        ("tf.while_loop(x, lambda i: i.at(x), [w])", "nothing that `lambda i: i.at(x)` in"),
        ("[o for o in graph.ops if o.type == 'VariableV2']", "as ops of other types take"),
    ],
)
def test_what_is_found_otherwise_is_told(code: str, told: str) -> None:
    ((message, fixed),) = messages({"slope.py": f"{_TURNING_OFF}{_SETTING}{code}\n"})
    assert fixed
    assert told in message
    ((message, fixed),) = messages({"slope.py": f"{_SLOPE}{_SETTING}{code}\n"})
    assert fixed
    assert told not in message


@pytest.mark.parametrize(
    "code",
    [
        "sess.run([w, x], {x: [1.0, 2.0]})",
        "sess.run(values, feed_dict={'x:0': [1.0, 2.0]})",
        "sess.run(graph.get_tensor_by_name('x:0'))",
        "isinstance(values, list)",
        "sess.run(w, dict(zip([x], values)))",
        "rows = {1: 2}.values()",
        "feed = {}\nfeed[x] = [1.0, 2.0]\nsess.run(w, feed)",
        "total = 1.0\ntotal += 2.0",
        "found = tf.trainable_variables()\nfound += [w]",
        "found = [w]\nfound += [w]",
        "total = tf.add(w, x)\ntotal += x",
        "for value in values: sess.run(value)",
        "tf.app.run()",
        "import subprocess\nsubprocess.run('scp a:b c')",
        "w.eval(sess)",
        "def feed():\n    return {x: 1.0}\n\n\nsess.run(w, feed())",
        "def go(feed):\n    sess.run(w, feed)\n\n\ngo({x: 1.0})\ngo(feed={x: 2.0})",
        "def go(fed):\n    sess.run(w, {fed: 1.0})\n\n\ngo(x)",
        "feeds = [x, tf.placeholder(tf.float32)]\nsess.run(w, {fed: 1.0 for fed in feeds})",
        "sess.run(w, feed_dict=None)",
        "x.dtype == tf.float32",
        "type(w) is int",
        "with tf.device('/gpu:0'): t = x + 1.0",
        "host = 'localhost:2222'",
        "tf.cond(x, lambda: x + 1.0, lambda: x)",
        "def yes():\n    return tf.tanh(x)\n\n\ntf.cond(x, yes, yes)",
    ],
)
def test_what_is_found_all_the_same(code: str) -> None:
    ((message, fixed),) = messages({"slope.py": f"{_TURNING_OFF}{_SETTING}{code}\n"})
    assert fixed
    assert "right if" not in message


@pytest.mark.parametrize(
    "more",
    [
        "w = tf.Variable(1.0)\nw += 2.0\n",
        "t = tf.get_variable('t', [])\nt *= w\n",
        "t = w\nt += x\n",
    ],
)
def test_variables_that_are_added_up_in_place(more: str) -> None:
    ((message, fixed),) = messages({"slope.py": f"{_TURNING_OFF}{_SETTING}{more}"})
    assert not fixed
    assert "in line 16 raises for the resource variables" in message


_RUN = """
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
{more}
w = tf.Variable([1.0, 2.0], name="w")
y = tf.reduce_sum(w * 3.0)


class Langevin(tf.train.Optimizer):
    def __init__(self):
        super().__init__(False, "langevin")

    def _apply_dense(self, grad, var):
        return tf.assign_sub(var, grad)


def adds():
    v = w
    v += 1.0
    return v


def kept_by_a_branch():
    kept = []

    def branch():
        kept.append(y + 1.0)
        return y

    tf.cond(y > 0.0, branch, lambda: y)
    with tf.control_dependencies(kept):
        return tf.identity(y)


ways = [
    lambda: w.initialized_value(),
    adds,
    lambda: tf.assign(w, [1.0], validate_shape=False),
    lambda: Langevin().apply_gradients([(w * 1.0, w)]),
    kept_by_a_branch,
]
raised = []
for way in ways:
    try:
        way()
        raised.append(False)
    except (NotImplementedError, RuntimeError, ValueError):
        raised.append(True)
with tf.Session() as sess:
    sess.run(w.initializer)
    fetched = sess.run("w:0")
    values = [
        isinstance(fetched, bytes) or fetched.dtype.kind != "f",
        float(sess.run(y, {{w: [2.0, 2.0]}})) != 12.0,
        not isinstance(w, tf.Variable),
        w.op.type != "VariableV2",
        w.dtype == tf.float32,
        tf.convert_to_tensor(w) is not tf.convert_to_tensor(w),
    ]
print(all(raised + values), any(raised + values))
"""


@pytest.mark.parametrize(
    ("more", "otherwise"),
    [
        ("tf.enable_resource_variables()\ntf.enable_control_flow_v2()", True),
        ("pass", False),
    ],
)
def test_tensorflow_does_so(more: str, otherwise: bool) -> None:
    command = [sys.executable, "-c", _RUN.format(more=more)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert ran.stdout.split() == [str(otherwise), str(otherwise)]

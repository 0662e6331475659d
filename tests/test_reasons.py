"""What is said of calls that are left: it names what stands in the way, and nothing else."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

KEPT = """
import tensorflow as tf


class LossTest(tf.test.TestCase):
    def setUp(self):
        self.logits = tf.constant([[0.0, 1.0]])
        self.op = make_op(self.logits)

    def test_total(self):
        with self.test_session() as sess:
            total = tf.reduce_sum(self.op.loss)
            grad = tf.gradients(total, self.logits)[0]
"""

ADDED_TO = """
import tensorflow as tf

x = tf.constant([1.0, 2.0])
y = x
x += 1.0
g = tf.gradients(y, x)[0]
"""

EMPTY = """
import tensorflow as tf

x = tf.constant([1.0, 2.0])
g = tf.gradients(x * x, [])
"""

SET_ANEW = """
import tensorflow as tf


def outer(x):
    def step():
        nonlocal x
        x = x + 1.0

    step()
    y = x * x
    return tf.gradients(y, x)[0]
"""


BOTH_LOOKED_UP = """
import tensorflow as tf


def lower(lowering, op):
    all_ys = transposed([lowering.tensors[y] for y in op.outputs])
    all_xs = transposed([lowering.tensors[x] for x in op.inputs])
    return [tf.gradients(ys, xs) for ys, xs in zip(all_ys, all_xs)]
"""

ONE_BY_ONE = """
import tensorflow as tf


def gradients_of(self, loss, params):
    losses = tf.reshape(loss, [4, -1])

    def body(i, state):
        mean_loss = tf.reduce_mean(tf.gather(losses, [i]))
        return i + 1, state + tf.gradients(mean_loss, params)

    return tf.while_loop(lambda i, _: i < 4, body, [tf.constant(0), self.zero(params)])
"""


IN_A_FUNCTION = """
import tensorflow as tf


class Net:
    def __init__(self):
        self.w = tf.Variable([1.0, 2.0])
        self.k = tf.exp(self.w)


def run(x, net):
    def scaled(t):
        return net.k * t

    y = scaled(x)
    return tf.gradients(y, net.w)


def main(x):
    return run(x, Net())
"""

STOPPED = """
import tensorflow as tf


def gradients(ys, xs):
    return tf.gradients(ys, xs, stop_gradients=xs)
"""

STOPPED_BY_ANOTHER_NAME = """
import tensorflow as tf


def gradients(x):
    square = tf.square(x)
    k = x
    k = square
    return tf.gradients(k * x, x, stop_gradients=[k])
"""

STOPPED_IN_PART = """
import tensorflow as tf


def gradients(x):
    parts = [tf.square(x), tf.exp(x)]
    assert len(parts) == 2
    return tf.gradients(parts[0] * x, x, stop_gradients=[parts[0]])
"""

STOPPED_BESIDE = STOPPED_IN_PART.replace("    assert len(parts) == 2\n", "").replace(
    "] * x", "] * parts[1]"
)

JACOBIAN = """
import tensorflow as tf
from tensorflow.python.ops.parallel_for.gradients import batch_jacobian


class Model:
    def build(self, x):
        self.x = x
        self.out = tf.tanh(x)

    def slopes(self):
        return batch_jacobian(self.out, self.x)
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            IN_A_FUNCTION,
            "`net.k` enters the forward pass and was computed where its object was made",
        ),
        (STOPPED, "handed in: `stop_gradients` would have to cut the forward pass where that runs"),
        (
            STOPPED_BY_ANOTHER_NAME,
            "a tensor in `stop_gradients` goes by two names, `k` and `square`",
        ),
        (STOPPED_IN_PART, "`parts[0]` in `stop_gradients` is a part of `parts`, which is made as"),
        (STOPPED_BESIDE, "`parts[0]` in `stop_gradients` is not made by one assignment"),
        (JACOBIAN, "handed on for gradients alone, not for a Jacobian of each example"),
        (BOTH_LOOKED_UP, "the source and the target both come out of `lowering.tensors`"),
        (ONE_BY_ONE, "or not from the source: no gradient flows through what its callers pass"),
        (KEPT, "the target `total` is made of `self.op.loss`, which is computed outside"),
        (ADDED_TO, "which tensors `x` stands for here cannot be told"),
        (EMPTY, "the call has no source"),
        (SET_ANEW, "`x` may be given another value by what is called in line 10, where nothing"),
    ],
)
def test_the_reason(text: str, reason: str) -> None:
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.fix is None
    assert reason in finding.message


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (
            "tf.add_n(tf.get_collection('h'))",
            "`tf.get_collection('h')` gives tensors out of a graph",
        ),
        ("tf.add_n(net.losses)", "`net.losses` gives what layers gathered when they were called"),
        ("penalty()", "the graph collection that `penalty` asks for holds tensors"),
    ],
)
def test_what_is_collected_is_named(asked: str, reason: str) -> None:
    text = (
        "import tensorflow as tf\n\n\ndef penalty():\n    return tf.add_n(tf.get_collection('h'))"
        f"\n\n\ndef step(net, x):\n    y = x * {asked}\n    return tf.gradients(y, x)[0]\n"
    )
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert reason in finding.message


def test_a_name_of_values_is_no_function_that_asks_for_a_collection() -> None:
    text = (
        "import tensorflow as tf\n\n\nclass Net(object):\n    def variables(self):\n"
        "        return tf.get_collection('h')\n\n\ndef step(init):\n"
        "    variables = [tf.exp(init[i]) for i in range(2)]\n    y = tf.add_n(variables)\n"
        "    return tf.gradients(y, variables)\n"
    )
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.fix is not None
    assert "collection" not in finding.message


SETTINGS_FIRST = """
import tensorflow as tf


def attack(logits, x, labels, FLAGS):
    loss = tf.reduce_sum(labels * logits) * FLAGS.scale
    return tf.gradients(loss, x)[0]
"""

TAKEN_FROM_ONE = """
import tensorflow as tf


def cam(classes, network, layer):
    loss = tf.reduce_mean(network.layers["out"] * tf.one_hot(3, classes))
    return tf.gradients(loss, network.layers[layer])[0]
"""

ONLY_AN_INDEX = """
import tensorflow as tf


def slope(feature):
    loss = tf.reduce_mean(logits[:, feature])
    return tf.gradients(loss, image)[0]
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SETTINGS_FIRST, "the target `loss` is computed from `logits`, a parameter"),
        (TAKEN_FROM_ONE, "the target `loss` is computed from `network`, a parameter"),
        (ONLY_AN_INDEX, "the target `loss` is computed outside this function, or not from"),
    ],
)
def test_the_reason_names_what_the_forward_pass_comes_by(text: str, reason: str) -> None:
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.fix is None
    assert reason in finding.message


NUMBER_OF_THE_MODULE = """
import tensorflow as tf

BATCH_SIZE = 4


class Explainer:
    def samples(self, images):
        mixed = tf.cond(tf.constant(True), lambda: 0.5 * images, lambda: images)
        return tf.reshape(mixed, [-1, 2]), tf.constant(0.5)


def inputs(x, size):
    return x[:size], tf.constant([1.0, 2.0])


def run(x):
    images, labels = inputs(x, BATCH_SIZE)
    explainer = Explainer()
    mixed, share = explainer.samples(images)
    chosen = tf.reduce_sum(labels * tf.tanh(mixed), 1)
    return tf.gradients(chosen, mixed)[0] * share
"""


def test_no_number_of_the_module_is_taken_for_a_tensor() -> None:
    files = {"a.py": SourceFile("a.py", NUMBER_OF_THE_MODULE)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert "BATCH_SIZE" not in finding.message
    # Where the name may be given something else, that is not known.
    text = NUMBER_OF_THE_MODULE.replace("def run(x):", "def run(x, BATCH_SIZE):")
    (finding,) = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    assert "`mixed` is another tensor than `BATCH_SIZE`" in finding.message


def test_what_is_looked_up_beside_the_source_is_named() -> None:
    text = "\n".join(
        (
            "import tensorflow as tf",
            "def steps(kept):",
            "    label, x = kept['label'], kept['x']",
            "    for _ in range(3):",
            "        y = tf.reduce_sum(x * label)",
            "        x = x - tf.gradients(y, x)[0]",
            "    return x",
        )
    )
    (finding,) = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    assert "`kept['label']` enters the forward pass and was put there before" in finding.message
    assert "so it may depend on `kept['x']`" in finding.message


NAMED = """
import tensorflow as tf


class Layer:
    def __init__(self, w):
        self.w = w
        self.{0} = ""

    def fprop(self, x):
        return tf.matmul(x, self.w)


def label(layers):
    for i, layer in enumerate(layers):
        layer.{0} = "layer" * i


def forward(layers, x):
    for layer in layers:
        if layer.{0} == "layer":
            x = layer.fprop(x)
    return x


LAYERS = [Layer(tf.ones([2, 2])), Layer(tf.ones([2, 2]))]


def slope(x):
    label(LAYERS)
    y = forward(LAYERS, x)
    return tf.gradients(y, x)[0]


slope(tf.placeholder(tf.float32, [None, 2]))
"""


@pytest.mark.parametrize(("attribute", "assumed"), [("name", False), ("kept", True)])
def test_nothing_is_assumed_of_names(attribute: str, assumed: bool) -> None:
    files = {"a.py": SourceFile("a.py", NAMED.format(attribute))}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert (f"`layer.{attribute}` holds nothing" in finding.message) == assumed


HANDED = """
import tensorflow as tf


class Actor:
    def __init__(self, state):
        self.w = tf.Variable([[1.0]])
        self.mean = tf.matmul(state, self.w)

    def params(self):
        return [self.w]


def slope(state):
    pi = Actor(state)
    action = pi.mean
    params = pi.params()
    return tf.gradients(tf.reduce_sum({}), params)
"""


@pytest.mark.parametrize(
    ("target", "said"),
    [("state * action", False), ("critic(state, action)", False), ("state(action)", True)],
)
def test_only_what_is_called_runs_a_forward_pass(target: str, said: bool) -> None:
    files = {"a.py": SourceFile("a.py", HANDED.format(target))}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert ("`state` runs its forward pass" in finding.message) == said


@pytest.mark.parametrize(
    ("signature", "target", "said"),
    [
        ("y, x", "y", "`y` is a parameter: its forward pass runs"),
        ("y, i, x", "y[i]", "`y[i]` is a part of `y`, a parameter: its forward pass runs"),
        ("y, z, x", "[y, z]", "`[y, z]` is made of `y`, a parameter: its forward pass runs"),
        ("y, x", "tf.exp(y)", "`tf.exp(y)` is computed from `y`, a parameter: its forward pass"),
        ("i, x", "loss[i]", "`loss[i]` is computed outside this function, or not from the source"),
    ],
)
def test_only_a_parameter_is_called_one(signature: str, target: str, said: str) -> None:
    lines = (
        "import tensorflow as tf",
        f"def slope({signature}):",
        f"    return tf.gradients({target}, x)[0]",
        "table = [slope]",
        "table[0]()",
    )
    files = {"a.py": SourceFile("a.py", "\n".join(lines))}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert f"the target {said}" in finding.message


def test_it_is_told_why_no_tape_reaches_the_caller() -> None:
    lines = (
        "import tensorflow as tf",
        "class Optimizer:",
        "    def gradients(self, loss):",
        "        return tf.gradients(loss, tf.trainable_variables())",
        "    def minimize(self, loss):",
        "        return self.gradients(loss)",
        "def train(optimizer, loss):",
        "    return optimizer.minimize(loss)",
    )
    files = {"a.py": SourceFile("a.py", "\n".join(lines))}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.message.endswith(
        "at its call in line 6, the target `loss` is a parameter: its forward pass runs in the "
        "callers, and none can reach it: the call in line 8 may be one of `minimize`, or of another"
    )


def test_another_thing_of_the_name_is_no_use_of_the_function() -> None:
    lines = (
        "import tensorflow as tf",
        "def slope(y, x):",
        "    return tf.gradients(y, x)[0]",
        "def train(x):",
        "    return slope(x * x, x)",
        "def line(x):",
        "    slope = x * 2.0",
        "    def at(point):",
        "        return point * slope",
        "    return at",
    )
    files = {"a.py": SourceFile("a.py", "\n".join(lines))}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert "passed on as a value" not in finding.message


@pytest.mark.parametrize("between", [" ", "\n        "])
def test_an_earlier_call_counts_in_the_same_row_as_well(between: str) -> None:
    text = f"""
import tensorflow as tf


class Net(object):
    def __init__(self, size):
        self.scale = tf.constant(0.5) * size


NETS = {{"plain": Net}}


def put(net, x):
    setattr(net, "scale", tf.cos(x))


def slope(net, x):
    return tf.gradients(tf.sin(x) * net.scale, x)[0]


def run(x, tasks):
    net = NETS["plain"](1)
    return [tasks[0](net, x),{between}slope(net, x)]
"""
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert "`net`, a parameter, was not computed from `x`" in finding.message


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("y = tf.concat(xs, 0)", "right if no element of `xs` was computed from another"),
        ("y = sum(xs)", "right if no element of `xs` was computed from another"),
        ("y = tf.sin(xs)", "the same"),
    ],
)
def test_what_is_done_with_a_parameter_tells_that_it_is_a_list(lines: str, told: str) -> None:
    text = f"import tensorflow as tf\n\n\ndef slopes(xs):\n    {lines}\n"
    text += "    return tf.gradients(y, xs)\n"
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.message.endswith(told)


def test_a_set_is_nothing_to_watch() -> None:
    text = """
import tensorflow as tf


def slopes(x, z):
    xs = {x, z}
    return tf.gradients(tf.reduce_sum(x * z), list(xs))
"""
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.message.endswith("`xs` is a set, which a tape does not watch")


@pytest.mark.parametrize("lookup", ["get_tensor_by_name", "as_graph_element"])
def test_sources_that_are_looked_up_in_the_graph_are_told_as_such(lookup: str) -> None:
    text = f"""
import tensorflow as tf


def norm(graph):
    linear = graph.{lookup}("linear:0")
    loss = graph.{lookup}("loss:0")
    return tf.norm(tf.gradients(loss, linear)[0])
"""
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert "`linear` is looked up in the graph" in finding.message


def test_a_variable_on_one_way_is_told_by_its_name() -> None:
    text = """
import tensorflow as tf


def slopes(config, data):
    if config.learn:
        gamma = tf.Variable(config.gamma)
    else:
        gamma = config.gamma
    return tf.gradients(data * gamma * config.scale, [gamma])
"""
    files = {"a.py": SourceFile("a.py", text)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert "`None`" not in finding.message
    assert "it may depend on `gamma`" in finding.message

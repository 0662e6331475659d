"""Where a tape opens whose sources are new tensors in each round of a loop."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

HEAD = "import tensorflow as tf\n\n\n"
KEEPING = """
class Energy:
    def __init__(self):
        self.total = 0.0

    def forward(self, x):
        self.total = self.total + tf.reduce_sum(x * x)
        return self.total


"""


def steps(text: str) -> str:
    """What ``fix`` makes of the body of a loop that asks an object in each round."""
    head = "def steps(x):\n    energy = Energy()\n"
    loop = head + indent("for i in range(3):\n" + indent(dedent(text), "    "), "    ")
    text = HEAD + KEEPING + loop + "    return x\n\n\nsteps(tf.ones([2]))\n"
    file = SourceFile("program.py", text)
    result = analyse({"program.py": file}, Settings(), rewrite=True)
    return result.rewritten.get("program.py", file.text)


def test_new_tensors_have_a_tape_in_each_round() -> None:
    text = steps("x = x + tf.ones([2])\ny = energy.forward(x)\nx = x - tf.gradients(y, x)[0]\n")
    assert "        x = x + tf.ones([2])\n        with tf.GradientTape() as tape:" in text


def test_what_an_op_may_give_back_has_one_round_the_loop() -> None:
    text = steps("x = tf.nn.dropout(x, 1.0)\ny = energy.forward(x)\nz = tf.gradients(y, x)[0]\n")
    assert "with tf.GradientTape() as" not in text


def test_what_the_round_before_gave_has_one_round_the_loop() -> None:
    text = steps("y = energy.forward(x)\nx = x - tf.gradients(y, x)[0]\n")
    assert "with tf.GradientTape() as" not in text


def test_what_later_code_reads_has_one_round_the_loop() -> None:
    text = steps(
        """
        x = x + tf.ones([2])
        if i == 0:
            energy.again = lambda: x
        y = energy.forward(x)
        x = x - tf.gradients(y, x)[0]
        """
    )
    assert "with tf.GradientTape() as" not in text


def test_an_op_that_is_a_default_ties_no_rounds_together() -> None:
    text = """
    KEPT = {}


    def layer(name, x):
        if name not in KEPT:
            KEPT[name] = tf.ones([2])
        return x * KEPT[name]


    def begun(x):
        return {"rows": [x]}


    def critic(x, nonlinearity=tf.nn.relu):
        rows = begun(x)["rows"]
        rows.append(nonlinearity(layer("hidden", x)))
        return tf.reduce_sum(rows[-1])


    def networks():
        return critic, layer


    Critic, _ = networks()


    def penalties(x):
        found = []
        for scale in [0.5, 2.0]:
            real = tf.multiply(x, scale)
            cost = Critic(real)
            mixed = real + 0.3 * (x - real)
            found.append(cost + tf.gradients(Critic(mixed), [mixed])[0])
        return found


    penalties(tf.ones([2]))
    """
    file = SourceFile("program.py", HEAD + dedent(text).lstrip())
    made = analyse({"program.py": file}, Settings(), rewrite=True).rewritten["program.py"]
    assert "        cost = Critic(real)\n        mixed = " in made


ROUNDS = """\
import tensorflow as tf
from layers import {name}

x = tf.ones([2])
slopes = []
for i in range(3):
    {first}y = {name}(tf.sin({source}))
    slopes.append(tf.gradients(y, {source})[0])
"""
LAYERS = """\
import tensorflow as tf

SUMS = []
SCALE = {"wide": 2.0}


def added(v):
    SUMS.append(v)
    return tf.add_n(SUMS)


def by_default(v, sums=[]):
    sums.append(v)
    return tf.add_n(sums)


def scaled(v):
    return v * SCALE["wide"]
"""


def told_of_rounds(name: str, first: str = "", source: str = "x") -> str:
    text = ROUNDS.format(name=name, first=first, source=source)
    files = {
        "main.py": SourceFile("main.py", text),
        "layers.py": SourceFile("layers.py", LAYERS),
    }
    (found,) = analyse(files, Settings(), rewrite=False).diagnostics
    return f"{found.fix.applicability if found.fix else 'left'}: {found.message}"


@pytest.mark.parametrize("name", ["added", "by_default"])
def test_what_the_round_before_put_aside_in_another_file(name: str) -> None:
    told = told_of_rounds(name)
    assert told.startswith("unsafe")
    assert "nothing that was computed from `x` was put aside before line 7" in told


def test_what_each_round_computes_anew() -> None:
    assert told_of_rounds("scaled").startswith("safe")


def test_sources_of_the_round_are_older_than_nothing_kept() -> None:
    assert told_of_rounds("added", "x = tf.ones([2])\n    ").startswith("safe")


@pytest.mark.parametrize(
    "value",
    ["x - 1.0", "x + (0.5 * (x - 1.0))", "x + tf.random_uniform([2]) * (x - 1.0)", "2.0 * x"],
)
def test_arithmetic_that_lists_do_not_have_makes_a_new_tensor(value: str) -> None:
    assert told_of_rounds("added", f"z = {value}\n    ", "z").startswith("safe")


@pytest.mark.parametrize("value", ["[x] * (i - 1)", "[x] + pairs * (3 - 1)", "x"])
def test_what_may_be_a_list_of_the_same_tensors(value: str) -> None:
    assert not told_of_rounds("added", f"z = {value}\n    ", "z").startswith("safe")


PENALTY = """\
import functools

import tensorflow as tf
import lib
MODE = "a"


def Normalize(x):
    return x * lib.param("n")


def GoodGenerator(n):
    return tf.tanh(tf.ones([n, 3]) * lib.param("g"))


def GoodDiscriminator(x):
    lib.set_stdev(0.02)
    out = tf.reduce_sum(tf.nn.softplus(Normalize(x)), 1)
    lib.unset_stdev()
    return out


def GeneratorAndDiscriminator():
    if MODE == "a":
        return GoodGenerator, GoodDiscriminator
    return functools.partial(GoodGenerator), functools.partial(GoodDiscriminator)


Generator, Discriminator = GeneratorAndDiscriminator()
costs = []
for device, real_conv in zip(["a", "b"], tf.split(tf.placeholder(tf.int32, [4, 3]), 2)):
    with tf.device(device):
        real_data = tf.reshape(tf.cast(real_conv, tf.float32), [2, 3])
        fake_data = Generator(2)
        cost = tf.reduce_mean(Discriminator(fake_data))
        alpha = tf.random_uniform(shape=[2, 1])
        differences = fake_data - real_data
        interpolates = {made}
        gradients = tf.gradients(Discriminator(interpolates), [interpolates])[0]
        costs.append(cost + tf.reduce_sum(gradients))
"""
PARAMS = """\
import tensorflow as tf
_params = {}
_last = []
_stdev = None
def set_stdev(x):
    global _stdev
    _stdev = x
def unset_stdev():
    global _stdev
    _stdev = None
def param(name):
    if _stdev is not None:
        pass
    if name not in _params:
        _params[name] = tf.Variable(1.0, name=name)
    return _params[name]
"""


@pytest.mark.parametrize(
    ("made", "is_new"),
    [("real_data + (alpha * differences)", True), ("Generator(2)", False)],
)
def test_arithmetic_on_what_unknown_code_gives_is_no_list(made: str, is_new: bool) -> None:
    texts = {"main.py": PENALTY.replace("{made}", made), "lib.py": PARAMS}
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    result = analyse(files, Settings(), rewrite=True)
    assert ("main.py" in result.rewritten) == is_new

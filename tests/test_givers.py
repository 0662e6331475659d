"""Functions and classes of other files that give the sources of a call are read beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.running.modules import Modules
from tapemigrate.running.projects import Projects
from tapemigrate.settings import Settings

CALLER = """\
import tensorflow as tf

from {module} import {name}


def slopes():
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("model"):
        w = tf.get_variable("w", [3, 2])
        loss = tf.reduce_sum(tf.matmul(x, w))
    {before}
    return tf.gradients(loss, {sources})
"""
OWNER = """\
import tensorflow as tf

from nets import Net


def slopes():
    x = tf.placeholder(tf.float32, [None, 3])
    net = Net("model")
    loss = tf.reduce_sum(net(x))
    return tf.gradients(loss, net.vars)
"""
FUNCTION = "import tensorflow as tf\n\n\ndef get_vars(key):\n    return {value}\n"
CLASS = """\
import tensorflow as tf


class Net(object):
    def __init__(self, key):
        w = tf.get_variable(key, [3, 2])
        self.vars = {value}
        self.w = w

    def __call__(self, x):
        return tf.matmul(x, self.w)
"""
FILLED = """\
import tensorflow as tf

from gates import fill


class Model:
    def __init__(self, x):
        self.x = x
        self.gate = tf.ones([3])

    def slope(self):
        y = self.x * self.gate
        return tf.gradients(y, self.x)[0]

    def show(self):
        fill({inside})


def main():
    model = Model(tf.ones([3]))
    fill({outside})
    return model.slope()
"""
KEEPER = """\
import tensorflow as tf

from critics import Critic


class Learner(object):
    def __init__(self):
        self.x = tf.ones([3])
        self.critic = Critic(self.x)

    def update(self):
        loss = tf.reduce_sum(self.critic.output({given}))
        return tf.gradients(loss, tf.trainable_variables())
"""
CRITIC = """\
import tensorflow as tf


class Critic(object):
    def __init__(self, x):
        self.w = tf.get_variable("w", [3])
        self.out = tf.sin(x * self.w)

    def output(self, x=None):
        return {value}
{more}
"""
_MORE = """
    def more(self):
        self.out = tf.sin(self.out)
"""
FILLING = "import tensorflow as tf\n\n\ndef fill(model):\n    {value}\n"
TRAINABLE = "tf.trainable_variables(key)"


def applicability(folder: Path) -> str | None:
    """That of the one fix in the tree; None where there is none."""
    done = run([str(folder)], lambda path: Settings(), mode="check", jobs=1).results
    found = [each for result in done for each in result.diagnostics]
    assert [each.code for each in found] == ["TM101"]
    fix = found[0].fix
    return fix and fix.applicability


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (TRAINABLE, "safe"),
        ("[tf.get_default_graph().get_tensor_by_name(key)]", None),
        ("tf.trainable_variables(key) + [tf.ones([2])]", "unsafe"),
    ],
)
@pytest.mark.parametrize("module", ["common.tools", ".common.tools", "common"])
def test_a_function_of_another_file(
    tmp_path: Path, module: str, value: str, expected: str | None
) -> None:
    before = "params = get_vars('model')"
    caller = CALLER.format(module=module, name="get_vars", before=before, sources="params")
    home = "common/__init__.py" if module == "common" else "common/tools.py"
    write(tmp_path, "caller.py", caller)
    write(tmp_path, home, FUNCTION.format(value=value))
    assert applicability(tmp_path) == expected


@pytest.mark.parametrize(("value", "expected"), [(TRAINABLE, "safe"), ("[tf.exp(w)]", None)])
def test_a_class_of_another_file(tmp_path: Path, value: str, expected: str | None) -> None:
    write(tmp_path, "caller.py", OWNER)
    write(tmp_path, "nets.py", CLASS.format(value=value))
    assert applicability(tmp_path) == expected


@pytest.mark.parametrize(
    ("given", "value", "more", "expected"),
    [
        ("", "self.out", "", "safe"),
        ("", "self.out", _MORE, None),
        ("tf.ones([3])", "tf.sin(x * self.w)", _MORE, "safe"),
        ("tf.ones([3])", "tf.sin(x * self.out)", "", "safe"),
        ("tf.ones([3])", "tf.sin(x * self.out)", _MORE, None),
    ],
)
def test_an_object_of_another_file_that_gives_the_target(
    tmp_path: Path, given: str, value: str, more: str, expected: str | None
) -> None:
    write(tmp_path, "learner.py", KEEPER.format(given=given))
    write(tmp_path, "critics.py", CRITIC.format(value=value, more=more))
    assert applicability(tmp_path) == expected


@pytest.mark.parametrize(
    ("inside", "outside", "value", "expected"),
    [
        ("self", "3", "model.gate = tf.sin(model.x)", None),
        ("3", "model", "model.gate = tf.sin(model.x)", None),
        ("model=self", "model", "print(model.x)", "safe"),
        ("3", "3", "print(model)", "safe"),
    ],
)
def test_a_function_that_an_object_is_handed_to(
    tmp_path: Path, inside: str, outside: str, value: str, expected: str | None
) -> None:
    write(tmp_path, "model.py", FILLED.format(inside=inside, outside=outside))
    write(tmp_path, "gates.py", FILLING.format(value=value))
    assert applicability(tmp_path) == expected


def test_modules_that_an_import_cannot_mean() -> None:
    files = ["a/tools.py", "b/tools.py", "b/c/tools.py", "b/tools/__init__.py", "tools_of.py"]
    modules = Modules(files, Projects([], map))
    assert list(modules.meant("a/main.py", {".tools"})) == ["a/tools.py"]
    assert list(modules.meant("a/main.py", {"b.tools"})) == ["b/tools.py", "b/tools/__init__.py"]
    assert list(modules.meant("main.py", {"d.tools", "of", ""})) == []


BASE = """\
import tensorflow as tf


class Base:
    def __init__(self, x):
        self.x = x
        self.kept = {value}

    def layer(self, x):
        return tf.matmul(x, tf.compat.v1.get_variable("w", [3, 3]))
"""
DERIVED = """\
import tensorflow as tf

from bases import Base


class Model(Base):
    def slopes(self):
        loss = tf.reduce_sum(tf.matmul(self.kept, tf.compat.v1.get_variable("v", [3, 3])))
        return tf.gradients(loss, tf.compat.v1.trainable_variables())
"""


@pytest.mark.parametrize(
    ("value", "expected"), [("tf.ones([2, 3])", "safe"), ("self.layer(self.x)", None)]
)
def test_a_base_class_of_another_file(tmp_path: Path, value: str, expected: str | None) -> None:
    write(tmp_path, "bases.py", BASE.format(value=value))
    write(tmp_path, "model.py", DERIVED)
    assert applicability(tmp_path) == expected


def test_the_place_in_the_base_class_is_told(tmp_path: Path) -> None:
    write(tmp_path, "bases.py", BASE.format(value="self.layer(self.x)"))
    write(tmp_path, "model.py", DERIVED)
    done = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1).results
    (message,) = (each.message for result in done for each in result.diagnostics)
    assert "bases.py, line 7, by a class above" in message


LAYERED = """\
import tensorflow as tf

from layers import Layer


class Model:
    def __init__(self):
        self.layers = [Layer("one"), Layer("two")]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def slopes(self, x):
        loss = tf.reduce_sum(self.forward(x))
        return tf.gradients(loss, tf.compat.v1.trainable_variables())


Model().slopes(tf.ones([3]))
"""
LAYER = """\
import tensorflow as tf


class Layer:
    def __init__(self, name):
        self.rho = tf.compat.v1.get_variable(name, [3])
        self.scale = {made}

    def __call__(self, x):
        return x * {scale}
"""


@pytest.mark.parametrize(
    ("made", "scale", "expected"),
    [
        ("tf.nn.softplus(self.rho)", "self.scale", None),
        ("2.0", "self.scale * tf.nn.softplus(self.rho)", "safe"),
    ],
)
def test_layers_of_another_file(
    tmp_path: Path, made: str, scale: str, expected: str | None
) -> None:
    write(tmp_path, "layers.py", LAYER.format(made=made, scale=scale))
    write(tmp_path, "model.py", LAYERED)
    assert applicability(tmp_path) == expected


MEMORY = """\
import functools
import tensorflow as tf

kept = {{}}


{code}
"""
READER = """\
import tensorflow as tf

import nets


def slopes():
    loss = tf.reduce_sum(nets.mlp(tf.zeros([4, 2])) ** 2)
    return tf.gradients(loss, tf.trainable_variables())
"""
PRODUCT = 'tf.matmul(x, tf.get_variable("w", [2, 3]))'


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            f"def mlp(x):\n    if 1 not in kept:\n        kept[1] = {PRODUCT}\n    return kept[1]",
            "unsafe",
        ),
        (f"def mlp(x):\n    return kept.setdefault(1, {PRODUCT})", "unsafe"),
        (f"@functools.lru_cache()\ndef mlp(x):\n    return {PRODUCT}", "unsafe"),
        (
            "def mlp(x):\n    global last\n    if 'last' not in globals():\n"
            f"        last = {PRODUCT}\n    return last",
            "unsafe",
        ),
        (
            "class State(object):\n    made = []\n\n\nstate = State()\n\n\ndef mlp(x):\n"
            f"    if not state.made:\n        state.made.append({PRODUCT})\n"
            "    return state.made[0]",
            "unsafe",
        ),
        (
            "first = made = {}\n\n\ndef mlp(x):\n    if 1 not in made:\n"
            f"        made[1] = {PRODUCT}\n    return made[1]",
            "unsafe",
        ),
        (
            "def keep(f):\n    made = {}\n\n    def inner(x):\n        if 1 not in made:\n"
            "            made[1] = f(x)\n        return made[1]\n\n    return inner\n\n\n"
            f"@keep\ndef mlp(x):\n    return {PRODUCT}",
            "unsafe",
        ),
        (f"def mlp(x, made=[]):\n    made.append({PRODUCT})\n    return made[0]", "unsafe"),
        (
            "def mlp(x):\n    if not hasattr(mlp, 'h'):\n"
            f"        mlp.h = {PRODUCT}\n    return mlp.h",
            "unsafe",
        ),
        (
            "def weight():\n    if 1 not in kept:\n        w = tf.get_variable('w', [2, 3])\n"
            "        kept[1] = w\n    return kept[1]\n\n\n"
            "def mlp(x):\n    return tf.matmul(x, weight())",
            "safe",
        ),
        (f"def mlp(x):\n    return {PRODUCT}", "safe"),
        (f'def note(n):\n    kept["n"] = 3\n\n\ndef mlp(x):\n    return {PRODUCT}', "safe"),
    ],
)
def test_a_network_of_another_file_that_keeps_what_it_computed(
    tmp_path: Path, code: str, expected: str
) -> None:
    write(tmp_path, "nets.py", MEMORY.format(code=code))
    write(tmp_path, "main.py", READER)
    assert applicability(tmp_path) == expected

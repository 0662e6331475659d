"""Tapes kept on ``self``: what an attribute holds that they record, and where they may go on."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.runner import run_text
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_KEPT = """\
import tensorflow as tf
from others import change, network


class Model(object):
    def __init__(self, x):
        self.x = tf.identity(x)
        self.kept = {value}

    def slope(self):
        return tf.gradients({target}, self.x)[0]
{more}
"""
_LIST = "[tf.reduce_sum(self.x ** 3), tf.reduce_sum(self.x)]"
_SUM = "tf.add_n(self.kept)"
_PARTS = """

class Parts(object):
    def __init__(self, x):
        self.found = [tf.reduce_sum(x ** 3)]

    def total(self):
        return tf.add_n(self.found)
"""
_ADD = """
    def add(self, loss):
        self.found.append(loss)
"""


def slope(value: str, target: str, more: str = "") -> str:
    """What becomes of the call."""
    text = _KEPT.format(value=value, target=target, more=more)
    files = {"a.py": decode(text.encode(), "a.py")}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    return diagnostic.fix.applicability if diagnostic.fix else diagnostic.message


@pytest.mark.parametrize(
    "more",
    [
        "    def run(self, session):\n        return session.run(self.kept)\n",
        "\ndef first(model):\n    return model.kept[0] + len(model.kept)\n",
        "\ndef names(model):\n    return [loss.name for loss in model.kept]\n",
    ],
)
def test_a_list_that_others_only_read(more: str) -> None:
    assert slope(_LIST, _SUM, more) == "safe"
    assert slope(_LIST, "self.kept[0]", more) == "safe"


@pytest.mark.parametrize(
    "more",
    [
        "\ndef more(model, loss):\n    model.kept.append(loss)\n",
        "\ndef more(model, loss):\n    model.kept[0] = loss\n",
        "\ndef more(model, loss):\n    model.kept[0][1] = loss\n",
        "\ndef more(model, loss):\n    kept = model.kept\n    kept.append(loss)\n",
        "\ndef more(model):\n    change(model.kept)\n",
        "\ndef more(model):\n    change(*[model.kept])\n",
        "\ndef more(model):\n    return model.kept\n",
    ],
)
def test_a_list_into_which_others_may_put_something(more: str) -> None:
    assert "`kept` may get other elements in line 1" in slope(_LIST, "self.kept[0]", more)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("\ndef other(model, x):\n    model.x = x\n", "other code sets `x` on the object"),
        (
            "\ndef other(model, x):\n    setattr(model, 'x', x)\n",
            "other code sets `x` on the object",
        ),
        (
            "\ndef other(x):\n    Model(x).__dict__['x'] = 2 * x\n",
            "may be set under names that cannot be seen, by `setattr` or `__dict__`",
        ),
    ],
)
def test_a_source_that_others_set(more: str, reason: str) -> None:
    assert reason in slope("tf.tanh(self.x)", "self.kept", more)


def test_a_source_that_a_class_above_sets() -> None:
    above = "class Base(object):\n    def __init__(self, x):\n        self.x = x\n"
    text = (
        "import tensorflow as tf\nfrom base import Base\n\nclass Model(Base):\n"
        "    def __init__(self, x):\n        Base.__init__(self, x)\n"
        "        self.kept = tf.tanh(self.x)\n\n"
        "    def slope(self):\n        return tf.gradients(self.kept, self.x)[0]\n"
    )
    files = {n: decode(t.encode(), n) for n, t in (("a.py", text), ("base.py", above))}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert "`self.x` is set in base.py, line 3, by a class above" in diagnostic.message


def test_others_that_set_no_tensor() -> None:
    assert slope("tf.tanh(self.x)", "self.kept", "\ndef forget(a):\n    a.x = None\n") == "safe"


@pytest.mark.parametrize(
    ("value", "target", "more"),
    [
        ("tf.tanh(self.x)", "network(self.kept)", ""),
        ("network(self.x)", "tf.square(self.kept)", ""),
        (
            "network(self.x)",
            "self.kept[:, 0]",
            "    def twice(self):\n        return 2 * self.kept\n",
        ),
        ("network(self.x)", "half(self.kept)", "\ndef half(a):\n    return a * 0.5\n"),
        ("Parts(self.x)", "self.kept.total() * 2.0", _PARTS),
    ],
)
def test_what_is_a_tensor_or_stays_as_it_was(value: str, target: str, more: str) -> None:
    assert slope(value, target, more) == "safe"


@pytest.mark.parametrize(
    ("value", "target", "more"),
    [
        ("network(self.x)", "network(self.kept)", ""),
        ("network(self.x)", "self.kept.total() * 2.0", ""),
        ("network(self.x)", "total(self.kept)", "\ndef total(a):\n    return a.total()\n"),
        ("Parts(self.x)", "self.kept.total() * 2.0", _PARTS + _ADD),
        (
            "Parts(self.x)",
            "self.kept.total() * 2.0",
            _PARTS + "\n\ndef more(model, loss):\n    model.kept.found.append(loss)\n",
        ),
        (
            "Parts(self.x)",
            "self.kept.total() * 2.0",
            _PARTS + "\n\ndef losses(model):\n    return model.kept.found\n",
        ),
        (
            "Parts(self.x)",
            "self.kept.total() * 2.0",
            _PARTS.replace("[tf.reduce_sum(x ** 3)]", "x or [tf.reduce_sum(x ** 3)]"),
        ),
        (
            "Parts(self.x)",
            "self.kept.total() * 2.0",
            _PARTS.replace("(object)", "(Base)") + "\nfrom bases import Base\n",
        ),
    ],
)
def test_what_may_be_an_object_that_changes(value: str, target: str, more: str) -> None:
    assert "`self.kept` may be more than a tensor" in slope(value, target, more)


_GOES_ON = """\
import tensorflow as tf


class Model(object):
    def __init__(self, x):
        self.x = tf.identity(x)
        z = tf.square(self.x)
        u = tf.tanh(z)
        self.loss = tf.reduce_sum(z * u)
        {call}
        self.grads = tf.gradients(tf.reduce_sum(u) + self.loss, u)[0]

    def penalty(self):
        return tf.gradients(self.loss * 2.0, self.x)[0]

    def through(self):
        return [self.penalty()]


class Helper(object):
    def __init__(self, model):
        self.found = model.through()
"""


@pytest.mark.parametrize(
    ("call", "left"),
    [
        ("self.other = tf.exp(u)", 0),
        # The constructor hands it the tape that records, and keeps none.
        ("self.other = self.penalty()", 0),
        ("self.other = self.through()", 0),
        ("self.other = Helper(self)", 1),
        ("self.other = tf.map_fn(self.through, u)", 1),
    ],
)
def test_a_tape_does_not_go_on_where_it_records(call: str, left: int) -> None:
    text = _GOES_ON.format(call=call)
    files = {"a.py": decode(text.encode(), "a.py")}
    found = analyse(files, Settings(unsafe_fixes=True), rewrite=False).diagnostics
    messages = [d.message for d in found if d.fix is None]
    assert len(messages) == left, messages
    assert all("it may run while `self._loss_tape` records" in each for each in messages)


_STEPS = """\
import tensorflow as tf


class Model(object):
    def __init__(self, x, train):
        self.x = tf.identity(x)
        {first}

    def build(self, train):
        hidden = tf.sin(self.x)
        if train:
            self.loss = tf.reduce_sum(hidden)

    def more(self, train):
        self.build(train)

    def slope(self):
        return tf.gradients(self.loss, self.x)[0]
{more}
"""


@pytest.mark.parametrize(
    ("first", "more", "fixed"),
    [
        ("self.build(train)", "", False),
        ("self.more(train)", "", True),
        ("self.more(train)", "\ndef run(x):\n    Model(x, True).more(False)\n", False),
        ("[self.more(t) for t in train]", "", False),
        ("self.later = self.more", "", False),
        ("pass", "", False),
    ],
)
def test_a_target_that_may_outlive_its_tape(first: str, more: str, fixed: bool) -> None:
    text = _STEPS.format(first=first, more=more)
    files = {"a.py": decode(text.encode(), "a.py")}
    (found,) = analyse(files, Settings(unsafe_fixes=True), rewrite=False).diagnostics
    assert (found.fix is not None) == fixed, found.message
    assert fixed or "`build` may run again, and leave the target as it was" in found.message


_HELD_BEFORE = """\
import tensorflow as tf


class Base(object):
    def __init__(self, mode, scope):
        self.set(scope)
        self.train(self.build(), mode)

    def set(self, scope):
        self.train_loss = self.held

    def build(self):
        w = tf.get_variable("w", [3])
        return w, tf.reduce_sum(w ** 2)

    def train(self, res, mode):
        if mode == "train":
            self.train_loss = res[1]
        params = tf.trainable_variables()
        if mode == "train":
            self.grads = tf.gradients(self.train_loss, params)


Base("train", object())
"""


def test_what_an_attribute_held_before_is_told_as_such() -> None:
    files = {"a.py": decode(_HELD_BEFORE.encode(), "a.py")}
    (found,) = analyse(files, Settings(unsafe_fixes=True), rewrite=True).diagnostics
    assert (
        "`self.train_loss` was not computed from the variables before this method" in found.message
    )


_ASKED = """\
import tensorflow as tf
from agents import Base, Solver


class Agent(Base):
    def add_loss(self):
        self.loss = tf.reduce_mean(tf.square(self.value - self.wanted))

    def add_step(self):
        {asked}
        self.slope = tf.gradients(self.loss, {by})
        self.solver = Solver(self.session, {by})
"""


@pytest.mark.parametrize(
    ("asked", "by"),
    [
        ("tvars = self.variables_of('critic')", "tvars"),
        ("tvars = self.get_params()", "tvars"),
        ("w = self.trainable_vars(); tvars = self.trainable_vars()", "w + tvars"),
        ("tvars = self._tf_vars('critic'); self.other_vars()", "tvars"),
    ],
)
def test_who_asks_for_variables_computes_no_loss(asked: str, by: str) -> None:
    text = _ASKED.format(asked=asked.replace("; ", "\n        "), by=by)
    files = {"a.py": decode(text.encode(), "a.py")}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert diagnostic.fix is None
    assert "the target was computed in another method" in diagnostic.message


@pytest.mark.parametrize(
    "asked",
    [
        "tvars = self.get_params()\n        self.build()",
        "tvars = self.build()",
        "tvars = self.build_weighted()",
    ],
)
def test_another_method_may_compute_it(asked: str) -> None:
    files = {"a.py": decode(_ASKED.format(asked=asked, by="tvars").encode(), "a.py")}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert diagnostic.fix is not None
    assert diagnostic.fix.applicability == "unsafe"


_LOSSES = """\
import tensorflow as tf


def losses(w):
    return tf.reduce_sum(w), tf.reduce_sum(w ** 2)


class Model(object):
    def __init__(self):
        self.w = tf.Variable(tf.ones([3]))
        one, two = losses(self.w)
        self.one = one
        self.two = two
        self.three = {three}

    def slopes(self):
        return [
            tf.gradients(self.one, self.w),
            tf.gradients(self.two, self.w),
            tf.gradients(self.three, self.w),
        ]
"""


@pytest.mark.parametrize(("three", "tapes"), [("two", 1), ("tf.exp(self.w)", 2)])
def test_targets_of_one_call_are_kept_by_one_tape(three: str, tapes: int) -> None:
    text = _LOSSES.format(three=three)
    result = run_text(text.encode(), "net.py", Settings(), mode="fix")
    assert result.new is not None
    after = result.new.decode()
    assert after.count("tf.GradientTape(") == tapes
    assert "tf.gradients" not in after

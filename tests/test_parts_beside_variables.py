"""What else an object has that its variable went into, however it was put there and is read."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

HEAD = "import functools\nimport tensorflow as tf\n"
OWN = """
class Net(object):
    def __init__(self):
        self.parts, self.kept = {{}}, None
        self.w = tf.Variable([1.0, 2.0])
        {kept}

    def put(self, value):
        self.kept = value

    def __call__(self, value=None):
        if value is not None:
            self.kept = value
        return self.kept

    def __lshift__(self, value):
        self.kept = value

    def __getitem__(self, name):
        return self.kept

    def forward(self):
        return self.w * {read}

    def slope(self):
        y = self.forward()
        return tf.gradients(y, self.w)[0]
"""
BASE = """
import tensorflow as tf

class Base(object):
    @property
    def shown(self):
        return self.kept

    def __init__(self):
        self.parts, self.kept, self.total = {{}}, None, 0.0
        self.w = tf.Variable([1.0, 2.0])
        {kept}

    def __call__(self, value=None):
        if value is not None:
            self.kept = value
        return self.kept

    def forward(self):
        return self.w

    def slope(self):
        y = self.forward()
        return tf.gradients(y, self.w)[0]
"""
BELOW = """
from base import Base

class Net(Base):
    def forward(self):
        return self.w * {read}
"""
# The object comes by a name that does not show its class.
USE = "from net import Net\nnet = getattr(__import__('net'), 'Net')()\n{set}\nprint(net.slope())\n"
SQUARES = "self.w * self.w"


def is_safe(files: dict[str, str]) -> bool:
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.fix is not None and finding.fix.applicability == "safe"


@pytest.mark.parametrize(
    ("kept", "read"),
    [
        (f"self.put({SQUARES})", "self.kept"),
        (f"self({SQUARES})", "self.kept"),
        (f"self << {SQUARES}", "self.kept"),
        (f"self.kept = {SQUARES}", "self()"),
        (f"self.kept = {SQUARES}", "self[0]"),
        (f"self.kept = {SQUARES}", "getattr(self, 'kept')"),
        (f"self.kept = {SQUARES}", "vars(self)['kept']"),
    ],
)
def test_own_part_that_a_method_reads(kept: str, read: str) -> None:
    files = {"net.py": HEAD + OWN.format(kept=kept, read=read), "main.py": USE.format(set="")}
    assert not is_safe(files)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("net.kept = net.kept + tf.sin(net.w)", "self.kept"),
        ("net.kept = functools.partial(tf.add, net.w * 2.0)", "self.kept(1.0)"),
        ("net.kept = lambda a, b=net.w * 2.0: a * b", "self.kept(1.0)"),
    ],
)
def test_part_set_by_other_code(given: str, read: str) -> None:
    net = HEAD + OWN.format(kept="", read=read)
    assert not is_safe({"net.py": net, "main.py": HEAD + USE.format(set=given)})


@pytest.mark.parametrize(
    ("kept", "read"),
    [
        (f"self.kept = {SQUARES}", "getattr(self, 'kept')"),
        (f"self.kept = {SQUARES}", "self.shown"),
        ("self.total += self.w", "self.total"),
        (f"self.kept = {SQUARES}", "self.kept"),
        (f"self({SQUARES})", "self()"),
        (f"self.parts.update(kept={SQUARES})", "self.parts['kept']"),
        (f"self.kept = lambda a, b={SQUARES}: a * b", "self.kept(1.0)"),
    ],
)
def test_forward_of_a_subclass_elsewhere(kept: str, read: str) -> None:
    files = {"base.py": BASE.format(kept=kept), "net.py": BELOW.format(read=read)}
    assert not is_safe({**files, "main.py": USE.format(set="")})


HOLDER = """
import tensorflow as tf

class Trainer(object):
    def __init__(self, net):
        self.net = net

    def slope(self):
        y = self.net()
        return tf.gradients(y, self.net.w)[0]
"""
HELD = """
import tensorflow as tf
{more}
class Net(object):
    def __init__(self):
        self.w = tf.Variable([1.0, 2.0])
        {made}

    def build(self):
        {built}

    def put(self, value):
        self.kept = value

    def get(self):
        return self.kept

    def __call__(self):
        return self.w * {read}
"""


@pytest.mark.parametrize(
    ("made", "built", "read"),
    [
        (f"vars(self).update(kept={SQUARES})", "pass", "self.kept"),
        (f"self.kept = Data(a={SQUARES})", "pass", "self.kept.a"),
        (f"self.kept = {{'a': {SQUARES}}}", "pass", "self.kept['a']"),
        (f"self.kept = {SQUARES}", "pass", "getattr(self, 'kept')"),
        ("pass", f"self.put({SQUARES})", "self.get()"),
        ("pass", f"v = {SQUARES}; self.kept = lambda: v", "self.kept()"),
    ],
)
def test_object_that_another_one_calls(made: str, built: str, read: str) -> None:
    more = "class Data(object):\n    def __init__(self, a):\n        self.a = a\n"
    net = HELD.format(made=made, built=built, read=read, more=more)
    main = "from net import Net\nfrom trainer import Trainer\nnet = (Net if 1 else None)()\n"
    files = {"net.py": net, "trainer.py": HOLDER}
    assert not is_safe({**files, "main.py": main + "net.build()\nTrainer(net).slope()\n"})


@pytest.mark.parametrize(
    ("kept", "read"),
    [
        ("self.put(3.0)", "self.kept"),
        ("self.kept = 2.0", "self.kept"),
        ("self.kept = 2.0", "getattr(self, 'kept')"),
        ("self.parts.update(kept=2.0)", "self.parts['kept']"),
    ],
)
def test_parts_that_no_op_gave_are_no_obstacle(kept: str, read: str) -> None:
    plain = OWN.format(kept=kept, read=read).split("    def __call__")[0]
    rest = "    def forward" + OWN.format(kept=kept, read=read).split("    def forward")[1]
    assert is_safe({"net.py": HEAD + plain + rest, "main.py": USE.format(set="")})

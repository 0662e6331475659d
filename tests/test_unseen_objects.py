"""Objects whose methods run what no tape sees, where no name in the forward pass says so."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

LOOKS_UP = "tf.get_default_graph().get_tensor_by_name('k:0')"
NET = """
import tensorflow as tf

class Net(object):
    def {method}(self, w):
        return w * {reads}

    def forward(self, w):
        return w * 2.0

net = Net()
"""
USE = """
def slope(w, part=None):
    y = {use}
    return tf.gradients(y, w)

w = tf.get_variable("W", [2, 2])
tf.tanh(w, name="k")
slope(w{given})
"""


def applicability(files: dict[str, str]) -> str | None:
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.fix and finding.fix.applicability


@pytest.mark.parametrize("reads", [LOOKS_UP, "tf.get_collection('k')[0]"])
@pytest.mark.parametrize(
    ("method", "use", "given"),
    [
        ("__call__", "net(w)", ""),
        ("call", "net(w)", ""),
        ("__mul__", "net * w", ""),
        ("__rmul__", "w * net", ""),
        ("__getitem__", "net[w]", ""),
        ("__call__", "part(w)", ", Net()"),
        ("__call__", "part(w)", ", part=net"),
    ],
)
def test_methods_that_run_unnamed(method: str, use: str, given: str, reads: str) -> None:
    net = NET.format(method=method, reads=reads)
    assert applicability({"a.py": net + USE.format(use=use, given=given)}) != "safe"


@pytest.mark.parametrize("use", ["net(w)", "net * w", "net.forward(w)", "pair[1](w)"])
def test_an_object_of_another_file(use: str) -> None:
    more = "pair = (1, net)\n"
    main = "import tensorflow as tf\nfrom nets import net, pair\n" + USE.format(use=use, given="")
    nets = NET.format(method="__call__", reads=LOOKS_UP) + more
    assert applicability({"nets.py": nets, "main.py": main}) != "safe"
    nets = NET.format(method="__call__", reads="3.0") + more
    assert applicability({"nets.py": nets, "main.py": main}) == "safe"


@pytest.mark.parametrize("method", ["load", "__init__", "__call__"])
def test_other_methods_of_it_are_no_obstacle(method: str) -> None:
    net = NET.format(method=method, reads=LOOKS_UP)
    assert applicability({"a.py": net + USE.format(use="net.forward(w)", given="")}) == "unsafe"


BASE = f"""
import tensorflow as tf

class Base(object):
    {{more}}
    def look(self, w):
        return w * {LOOKS_UP}
"""
METHOD = """
    def width(self, w):
        return self.look(w)
"""
SETTER = """
    @property
    def width(self):
        return self.look(1.0)

    @width.setter
    def width(self, width):
        pass
"""
SUB = """
import tensorflow as tf
from base import Base

class Net(Base):
    def __init__(self, width):
        {given}

    def slope(self, w):
        y = w * {use}
        return tf.gradients(y, w)
"""
GIVEN = "self.width = width"


def with_base(more: str, given: str, use: str) -> str | None:
    return applicability(
        {"base.py": BASE.format(more=more), "net.py": SUB.format(given=given, use=use)}
    )


@pytest.mark.parametrize(
    "use",
    [
        "tf.zeros([self.width, 2])",
        "tf.ones(shape=tuple([self.width, 2]))",
        "(2.0 if self.width > 2 else 1.0)",
        "float(self.width * 2)",
    ],
)
def test_a_number_by_the_name_of_a_method_elsewhere(use: str) -> None:
    assert with_base(METHOD, GIVEN, use) == "safe"
    assert with_base(METHOD, "pass", use) is None
    assert with_base(SETTER, GIVEN, use) is None


@pytest.mark.parametrize("use", ["self.width(w)", "sum(f(w) for f in [self.width])"])
def test_a_method_of_that_name_is_run(use: str) -> None:
    assert with_base(METHOD, GIVEN, use) is None


COMPUTED = """
    @functools.cached_property
    def width(self):
        return self.look(1.0)
"""


def test_a_property_by_that_name() -> None:
    assert with_base(COMPUTED, GIVEN, "float(self.width * 2)") is None


def test_a_method_of_another_object_that_an_operator_is_handed() -> None:
    nets = f"""
import tensorflow as tf

class Net(object):
    def width(self):
        return {LOOKS_UP}
"""
    main = """
import tensorflow as tf
from nets import *

class Config(object):
    def __init__(self):
        self.width = 2.0

class Call(object):
    def __rmul__(self, function):
        return function()

net = Net()
call = Call()
w = tf.constant([2.0, 3.0])
k = tf.tanh(w, name="k")
y = (net.width * call) * w
g = tf.gradients(y, w)[0]
"""
    assert applicability({"nets.py": nets, "main.py": main}) != "safe"

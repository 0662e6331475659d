"""What other modules computed as they were imported: see ``rules/proof/imported_results.py``.

Whole programs of these shapes run in ``fixtures/``, in ``mustflag`` and ``flow``.
"""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

WEIGHTS = """\
import tensorflow as tf

W = tf.get_variable("w", [2, 2])
START = tf.zeros_initializer()


def product(h):
    return tf.matmul(h, W)
"""
NETS = """\
import functools

import numpy as np
import tensorflow as tf
from weights import START, W, product

SIZES = [2, 3]
V = tf.get_variable("v", [2, 2])


def times(factor):
    return lambda function: lambda h: function(h) * factor


def plain(function):
    return function


def halved(function):
    half = tf.sqrt(0.25)
    return lambda h: function(h) * half


def normed(function):
    norm = W * W
    return lambda h: function(h) * norm


class Kept(object):
    def __init__(self):
        self.v = V
        self.norm = tf.norm(V)

    def __call__(self, h):
        return product(h) / self.norm


class Late(object):
    def __init__(self):
        self.v = V

    def __call__(self, h):
        return tf.matmul(h, self.v) / tf.norm(V)


{made}
"""
MAIN = """\
import tensorflow as tf
{imports}


{own}
def slopes():
    h = tf.zeros([1, 2])
    loss = tf.reduce_sum({read} * tf.get_variable("u", [2, 2]))
    return tf.gradients(loss, tf.trainable_variables())


slopes()
"""


def applicability(
    made: str, read: str, imports: str = "from nets import *", own: str = ""
) -> str | None:
    main = MAIN.format(imports=imports, read=read, own=own)
    return _told({"weights.py": WEIGHTS, "nets.py": NETS.format(made=made), "main.py": main})


def _told(texts: dict[str, str]) -> str | None:
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    return diagnostic.fix and diagnostic.fix.applicability


LATE = {
    "N = tf.constant(2.0) * 3.0": "N",
    "N = SIZES": "N[0]",
    "N = [V, V]": "N[0]",
    "N = V": "N",
    "def net(h):\n    return tf.matmul(h, V)": "net(h)",
    "def net(h, start=START, n=2):\n    return tf.matmul(h, V) * n": "net(h)",
    "@plain\ndef net(h):\n    return product(h)": "net(h)",
    "@halved\ndef net(h):\n    return product(h)": "net(h)",
    "net = Late()": "net(h)",
    "kept = Kept()\ndef net(h):\n    return tf.matmul(h, kept.v)": "net(h)",
    "net = functools.partial(product)": "net(h)",
    "class Net(object):\n    start = START\n"
    "    def __call__(self, h):\n        return product(h)": "Net()(h)",
}
EARLY = {
    "N = tf.norm(V)": "N",
    "N = W * W": "N",
    "N = -W": "N",
    "N = product(tf.zeros([2, 2]))": "N",
    "N = [1.0, tf.norm(V)]": "N[1]",
    "N = {}\nN['v'] = tf.norm(V)": "N['v']",
    "N = []\nN.append(tf.norm(V))": "N[0]",
    "N = tf.norm(V)\ndef net(h):\n    return h * N": "net(h)",
    "N = tf.norm(V)\ndef inner():\n    return N\ndef net(h):\n    return h * inner()": "net(h)",
    "if SIZES:\n    def net(h, n=tf.norm(V)):\n        return h * n": "net(h)",
    "@times(tf.norm(V))\ndef net(h):\n    return product(h)": "net(h)",
    "@normed\ndef net(h):\n    return product(h)": "net(h)",
    "class by(object):\n    def __init__(self, f):\n        self.f, self.n = f, tf.norm(V)\n"
    "    def __call__(self, h):\n        return self.f(h) * self.n\n"
    "@by\ndef net(h):\n    return product(h)": "net(h)",
    "def make():\n    n = tf.norm(V)\n    return lambda h: h * n\nnet = make()": "net(h)",
    "def make():\n    v = tf.get_variable('x', [2])\n    n = tf.norm(v)\n"
    "    return lambda h: h * n\nnet = make()": "net(h)",
    "net = functools.partial(tf.multiply, tf.norm(V))": "net(h)",
    "net = Kept()": "net(h)",
    "NETS = [Kept(), Kept()]\ndef net(h):\n    return NETS[0](h)": "net(h)",
    "NETS = {}\nNETS['a'] = Kept()\n"
    "def net(h):\n    return sum(n(h) for n in NETS.values())": "net(h)",
    "NETS = {}\nfor name in 'ab':\n    NETS[name] = Kept()\n"
    "def net(h):\n    return sum(n(h) for n in NETS.values())": "net(h)",
    "net = np.array([Kept()])": "net[0](h)",
    "class Net(object):\n    n = tf.norm(V)\n"
    "    def __call__(self, h):\n        return h * self.n": "Net()(h)",
    "class Net(object):\n    v = tf.get_variable('x', [2])\n    n = tf.norm(v)\n"
    "    def __call__(self, h):\n        return h * self.n": "Net()(h)",
    "class Net(object):\n"
    "    def __call__(self, h, n=tf.norm(V)):\n        return h * n": "Net()(h)",
    "class Net(object):\n    @normed\n    def __call__(self, h):\n        return h": "Net()(h)",
}


@pytest.mark.parametrize("made", LATE)
def test_what_is_computed_where_it_is_called(made: str) -> None:
    assert applicability(made, LATE[made]) == "safe"


@pytest.mark.parametrize("made", EARLY)
def test_what_was_computed_before(made: str) -> None:
    assert applicability(made, EARLY[made]) is None


def test_by_its_module() -> None:
    assert applicability("N = tf.norm(V)", "nets.N", "import nets") is None
    assert applicability("N = tf.norm(V)", "other.N", "import nets\nother = nets") is None
    assert applicability("net = Kept()", "nets.net(h)", "import nets") is None
    assert applicability("N = tf.constant(2.0)", "nets.N * nets.V", "import nets") == "safe"
    assert applicability("net = Late()", "nets.net(h)", "import nets") == "safe"


KEEPING = """\
import tensorflow as tf
from nets import Net


class Model(object):
    def __init__(self):
        self.net = Net()

    def slopes(self):
        loss = tf.reduce_sum(self.net(tf.zeros([1, 2])))
        return tf.gradients(loss, tf.trainable_variables())


Model().slopes()
"""
CONSTANT = """\
N = {number}


class Net(object):
    def __init__(self):
        self.n = N

    def __call__(self, h):
        return tf.matmul(h, V) * self.n
"""


@pytest.mark.parametrize(("number", "expected"), [("2.0", "safe"), ("tf.norm(V)", None)])
def test_by_an_object_that_is_kept_here(number: str, expected: str | None) -> None:
    texts = {"nets.py": NETS.format(made=CONSTANT.format(number=number)), "main.py": KEEPING}
    assert _told({"weights.py": WEIGHTS, **texts}) == expected


def test_by_what_stands_here() -> None:
    imports = "from nets import Kept, N, normed"
    decorated = "@normed\ndef net(h):\n    return h\n\n"
    called = "    def __call__(self, h):\n        return h * self.n"
    made = f"N = tf.norm(V)\nclass Base(object):\n    n = N\n{called}"
    extended = "class Net(Base):\n    pass\n\n"
    assert applicability("N = 1.0", "net(h)", imports, decorated) is None
    plain = decorated.replace("normed", "halved")
    assert applicability("N = 1.0", "net(h)", "from nets import halved", plain) == "safe"
    assert applicability(made, "Net()(h)", "from nets import Base", extended) is None


def test_a_list_of_targets_that_stands_nowhere_is_no_default() -> None:
    module = (
        "import tensorflow as tf\n"
        "from nets import net\n"
        "x = tf.placeholder(tf.float32)\n\n\n"
        "def both(first, second, weights):\n"
        "    return [tf.gradients(first, weights)[0], tf.gradients(second, weights)[0]]\n\n\n"
        "y = net(x)\n"
        "z = net(x * 2)\n"
        "found = both(y, z, tf.trainable_variables())\n"
    )
    nets = 'import tensorflow as tf\n\n\ndef net(x):\n    return x * tf.get_variable("w", [2])\n'
    files = {
        name: decode(text.encode(), name) for name, text in [("a.py", module), ("nets.py", nets)]
    }
    found = analyse(files, Settings(), rewrite=False).diagnostics
    assert [each.code for each in found] == ["TM101", "TM101"]

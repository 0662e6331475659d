"""What objects keep that was computed from variables when they were made, however it came there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.api import analyse
from tapemigrate.runner import run
from tapemigrate.running.modules import Modules
from tapemigrate.running.projects import Projects
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

NET = """\
import tensorflow as tf

CACHE = {{}}


def pair(w):
    return tf.tanh(w), tf.sin(w)


def fill(found, w):
    found.append(tf.tanh(w))


def first(w=None, n=0):
    return w


def every(*ws):
    return ws


def given(w):
    yield tf.tanh(w)


class Net(object):
    def __init__(self, size=2):
        self.size = size
        self.W = tf.get_variable("W", [2, size])
        {made}

    def __call__(self, x):
        return {use}

    def norm(self, w):
        return w / tf.norm(w)

    @staticmethod
    def scaled(w):
        return w / tf.norm(w)

    def put(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)
"""
USE = """

def slopes(net, x):
    y = tf.reduce_sum(net(x) ** 2)
    return tf.gradients(y, tf.trainable_variables())


slopes({net}, tf.constant([[0.3, -0.7]]))
"""


def applicability(text: str) -> str | None:
    files = {"a.py": decode(text.encode(), "a.py")}
    (diagnostic,) = analyse(files, Settings(), rewrite=False).diagnostics
    return diagnostic.fix and diagnostic.fix.applicability


@pytest.mark.parametrize(
    ("made", "use"),
    [
        ("self.k, self.h = pair(self.W)", "tf.matmul(x, self.k) * self.h[0]"),
        ("self.k = self.norm(self.W)", "tf.matmul(x, self.k)"),
        ("self.k = Net.scaled(self.W)", "tf.matmul(x, self.k)"),
        ("self.k = self.W[:, :1]", "tf.matmul(x, self.k)"),
        ("self.d = {}; self.d.update(k=tf.tanh(self.W))", "tf.matmul(x, self.d['k'])"),
        ("self.ks = []; self.ks.append(tf.tanh(self.W))", "tf.matmul(x, self.ks[0])"),
        ("setattr(self, 'k', tf.tanh(self.W))", "tf.matmul(x, self.k)"),
        ("self.put(k=tf.tanh(self.W))", "tf.matmul(x, self.k)"),
        ("Net.k = tf.tanh(self.W)", "tf.matmul(x, Net.k)"),
        ("CACHE['k'] = tf.tanh(self.W)", "tf.matmul(x, CACHE['k'])"),
        ("k = tf.tanh(self.W); self.f = lambda a: tf.matmul(a, k)", "self.f(x)"),
        ("k = tf.tanh(self.W); k += 1.0; self.k = k", "tf.matmul(x, self.k)"),
        ("k = self.W; k *= 2.0; self.k = k", "tf.matmul(x, self.k)"),
        ("ks = [tf.tanh(self.W)]; ks += [1]; self.ks = ks", "tf.matmul(x, self.ks[0])"),
        ("ks = []; ks += [tf.tanh(self.W)]; self.ks = ks", "tf.matmul(x, self.ks[0])"),
        ("ks = []; ks.append(tf.tanh(self.W)); self.ks = ks", "tf.matmul(x, self.ks[0])"),
        ("ks = []; self.ks = ks; ks.append(tf.tanh(self.W))", "tf.matmul(x, self.ks[0])"),
        ("ks = []; self.ks = [ks]; ks.append(tf.tanh(self.W))", "tf.matmul(x, self.ks[0][0])"),
        ("ks = []; fill(ks, self.W); self.ks = ks", "tf.matmul(x, self.ks[0])"),
        ("self.ks = []; fill(self.ks, self.W)", "tf.matmul(x, self.ks[0])"),
        ("self.ks = []; put = self.ks.append; put(tf.tanh(self.W))", "tf.matmul(x, self.ks[0])"),
        ("self.ks = []; list(map(self.ks.append, [-self.W]))", "tf.matmul(x, self.ks[0])"),
        ("self.d = {}; self.d['k'], self.n = tf.tanh(self.W), 1", "tf.matmul(x, self.d['k'])"),
        (
            "ks = []\n        def f(): ks.append(-self.W)\n        f(); self.ks = ks",
            "self.ks[0] * x",
        ),
        ("d = {'k': 1.0}; d['k'] += self.W; self.d = d", "tf.matmul(x, self.d['k'])"),
        ("self.d = {}; [*self.d['k']] = [tf.tanh(self.W)]", "tf.matmul(x, self.d['k'][0])"),
        ("self.ks = list(map(tf.tanh, [self.W]))", "tf.matmul(x, self.ks[0])"),
        ("self.ks = list(map(lambda w: w * w, [self.W]))", "tf.matmul(x, self.ks[0])"),
        ("ks = []; self.f = lambda a: a * ks[0]; ks.append(tf.tanh(self.W))", "self.f(x)"),
        ("k = 1.0; self.f = lambda a: a * k; k = tf.tanh(self.W)", "self.f(x)"),
        ("k = tf.tanh(self.W); self.f = tf.make_template('f', lambda a: a * k)", "self.f(x)"),
        ("self.f = lambda a, k=tf.tanh(self.W): a * k", "self.f(x)"),
        ("self.k = first(n=1, w=tf.tanh(self.W))", "tf.matmul(x, self.k)"),
        ("self.ks = every(1, tf.tanh(self.W))", "tf.matmul(x, self.ks[1])"),
        ("self.k = next(given(self.W))", "tf.matmul(x, self.k)"),
    ],
)
def test_computed_before(made: str, use: str) -> None:
    assert applicability(NET.format(made=made, use=use) + USE.format(net="Net()")) != "safe"


@pytest.mark.parametrize(
    ("made", "use"),
    [
        ("pass", "tf.matmul(x, self.norm(self.W))"),
        ("self.ws = [self.W]", "tf.matmul(x, self.ws[0])"),
        ("self.scale = 2.0 / size", "tf.matmul(x, self.W) * self.scale"),
        ("self.f = tf.nn.relu", "self.f(tf.matmul(x, self.W))"),
        ("self.zeros = tf.zeros([size])", "tf.matmul(x, self.W) + self.zeros"),
        ("ws = []; ws.append(self.W); self.ws = ws", "tf.matmul(x, self.ws[0])"),
        ("ws = []; self.ws = [ws]; ws.append(self.W)", "tf.matmul(x, self.ws[0][0])"),
        ("n = 1.0; n += 1.0; self.n = n", "tf.matmul(x, self.W) * self.n"),
        ("ws = [self.W]; ws += [1]; self.ws = ws", "tf.matmul(x, self.ws[0])"),
        ("self.ns = list(map(str, range(2)))", "tf.matmul(x, self.W) * len(self.ns)"),
        ("self.ns = []; fill(self.ns, 2.0)", "tf.matmul(x, self.W) * self.ns[0]"),
        ("self.f = tf.make_template('f', lambda a: tf.matmul(a, self.W))", "self.f(x)"),
    ],
)
def test_computed_where_it_is_called(made: str, use: str) -> None:
    assert applicability(NET.format(made=made, use=use) + USE.format(net="Net(2)")) == "safe"


CALLED = """\
import tensorflow as tf


class Net(object):
    def __init__(self, {parameter}):
        self.k = {kept}

    def __call__(self, x):
        return x * self.k


x0 = tf.constant([0.3, -0.7])
net = Net({given})


def slope(x):
    y = tf.reduce_sum(net(x) ** 2)
    return tf.gradients(y, x)


slope(x0)
"""


def test_an_object_of_the_module_that_is_called() -> None:
    kept = CALLED.format(parameter="a", kept="tf.tanh(a)", given="x0")
    assert applicability(kept) is None
    assert applicability(CALLED.format(parameter="a", kept="2.0 * a", given="3.0")) == "safe"


COMPUTING = "self.k = tf.tanh(self.W)", "tf.matmul(x, self.k)"
PLAIN = "pass", "tf.matmul(x, self.W)"
BASED = """\
import tensorflow as tf
from bases import Base


class Net(Base):
    def __init__(self):
        super(Net, self).__init__()

    def __call__(self, x):
        return tf.matmul(x, self.k)
"""
BASE = """\
import tensorflow as tf


class Base(object):
    def __init__(self):
        self.W = tf.get_variable("W", [2, 2])
        self.k = {kept}
"""


def of_files(folder: Path, files: dict[str, str]) -> str | None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    settings = Settings()
    outcome = run([str(folder)], lambda path: settings, mode="check", jobs=1)
    (diagnostic,) = outcome.diagnostics
    return diagnostic.fix and diagnostic.fix.applicability


@pytest.mark.parametrize(
    ("begin", "net", "more", "home"),
    [
        ("from nets import net", "net", "net = Net()\n", "nets.py"),
        ("import nets", "nets.net", "net = Net()\n", "nets.py"),
        ("from nets import *", "Net()", "", "nets.py"),
        ("from pkg import net", "net", "net = Net()\n", "pkg/nets.py"),
        ("from nets import Net\n\n\nclass Sub(Net):\n    pass", "Sub()", "", "nets.py"),
    ],
)
def test_what_other_files_hold(tmp_path: Path, begin: str, net: str, more: str, home: str) -> None:
    for number, ((made, use), right) in enumerate(((COMPUTING, False), (PLAIN, True))):
        main = f"import tensorflow as tf\n{begin}\n\nnet = {net}\n" + USE.format(net="net")
        files = {"main.py": main, home: NET.format(made=made, use=use) + "\n\n" + more}
        if home.startswith("pkg/"):
            files["pkg/__init__.py"] = "from .nets import (\n    Net,\n    net,  # the one\n)\n"
        folder = tmp_path / str(number)
        folder.mkdir()
        assert (of_files(folder, files) == "safe") is right


@pytest.mark.parametrize(("kept", "right"), [("tf.tanh(self.W)", False), ("self.W", True)])
def test_what_a_class_of_a_third_file_keeps(tmp_path: Path, kept: str, right: bool) -> None:
    main = "import tensorflow as tf\nfrom nets import Net\n" + USE.format(net="Net()")
    files = {"main.py": main, "nets.py": BASED, "bases.py": BASE.format(kept=kept)}
    assert (of_files(tmp_path, files) == "safe") is right


@pytest.mark.parametrize(
    "imports",
    [
        b"from bases import Base\nimport parts\n",
        b"import os, parts; from bases import Base\n",
        b"from bases \\\n    import (  # one\n    Base,\n)\nimport parts as parts\n",
        b"import parts\rfrom bases import *\r",
        b"try: import parts\nfinally: from bases import Base\n",
    ],
)
def test_modules_are_followed_by_what_they_import(tmp_path: Path, imports: bytes) -> None:
    texts = {
        "main.py": b"",
        "nets.py": imports + b"\nclass Net(Base, parts.Mixin): pass\n",
        "bases.py": b"class Base(object): pass\n",
        "parts.py": b"class Mixin(object): pass\nnet = Net()\ndef make(): pass\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    paths = [str(tmp_path / name) for name in texts]

    modules = Modules(paths, Projects([], map))

    def meant(giver: str) -> list[str]:
        return [Path(each).name for each in modules.meant(paths[0], {giver})]

    assert meant("nets:Net") == ["nets.py", "bases.py", "parts.py"]
    assert meant("parts:net") == ["parts.py"]
    assert meant("nets:Other") == ["nets.py"]


def test_a_text_that_speaks_of_an_import_is_followed_nowhere(tmp_path: Path) -> None:
    nets = tmp_path / "nets.py"
    nets.write_bytes(b"'''\nimport , and\nfrom the import\n'''\nclass Net(Base): pass\n")
    modules = Modules([str(nets)], Projects([], map))
    assert [*modules.meant(str(tmp_path / "main.py"), {"nets:Net"})] == [str(nets)]


LOOP = """\
import tensorflow as tf


def layer(x, w, activation=tf.identity):
    return activation(tf.matmul(x, w))


class Net(object):
    def __init__(self, size=2, activation=tf.tanh):
        self.W = tf.get_variable("W", [size, size])
        self.activation = activation
        self.out = self.forward(tf.ones([1, size]))

    def forward(self, x):
        for _ in range(2):
            x = layer(x, self.W, self.activation)
        return x

    def __call__(self, x):
        return tf.reduce_sum(self.forward(x) * self.out)
"""


def test_a_loop_that_hands_a_function_what_it_gave_before() -> None:
    """What it gives depends on what it is handed: the two must not turn in a circle."""
    assert applicability(LOOP + USE.format(net="Net()")) == "unsafe"

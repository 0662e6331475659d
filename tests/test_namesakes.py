"""Two classes of one name: what extends the one does not extend the other."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

NET = """
import tensorflow as tf

class Net(object):
    def __init__(self, points):
        self.low = points.low()
        self.x = tf.placeholder(tf.float32, [None, 1])
        self.u = self.net_u(self.x)
        self.slope = self.net_f(self.x)

    def net_u(self, x):
        return tf.square(x - self.low)

    def net_f(self, x):
        u = self.net_u(x)
        return tf.gradients(u, x)[0]
"""
SUB = """
from geometry import points
from {module} import Net

class Sub(Net):
    def net_u(self, x):
        return x * Net.net_u(self, x)

net = Sub(points())
"""
BOTH = """
import second.net
from geometry import points
from net import Net

class Both(Net, second.net.Net):
    pass

net = Both(points())
"""


def applicabilities(files: dict[str, str]) -> list[str | None]:
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    return [each.fix and each.fix.applicability for each in found if each.code == "TM101"]


COPIES = {"first/net.py": NET, "second/net.py": NET}
LOW = NET.replace("points.low()", "points['low']")


@pytest.mark.parametrize("main", ["first/main.py", "second/main.py"])
@pytest.mark.parametrize("net", [NET, LOW])
def test_a_copy_of_the_class_in_another_folder(net: str, main: str) -> None:
    sub = SUB.format(module="net").replace("Net.net_u(self, x)", "x * self.low")
    assert applicabilities({"first/net.py": net, main: sub}) == ["safe"]
    copies = {"first/net.py": net, "second/net.py": net}
    assert applicabilities({**copies, main: sub}) == ["safe", "safe"]


@pytest.mark.parametrize(
    ("main", "joins"),
    [
        (BOTH, True),
        (BOTH.replace("Net, second.net.Net", "Net"), False),
        (BOTH.replace("Net, second.net.Net", "Net, dict"), False),
        (SUB.format(module="net") + "\nclass Both(Sub, Net):\n    pass\n", True),
        (SUB.format(module="net") + "\nOther = Net\nclass Both(Sub, Other):\n    pass\n", True),
        ("import second.net\nfrom net import Net\ntype('Both', (Net, second.net.Net), {})\n", True),
        (SUB.format(module="net") + "\nclass Below(Sub):\n    pass\n", False),
    ],
)
def test_classes_that_may_extend_both(main: str, joins: bool) -> None:
    texts = {**COPIES, "first/main.py": main}
    project = Project({name: unit(SourceFile(name, text)) for name, text in texts.items()})
    assert classes(project).joins_namesakes("Net") is joins


@pytest.mark.parametrize("joined", [True, False])
def test_what_only_a_namesake_extends_is_mixed_in_with_it(joined: bool) -> None:
    second = "class Mixin(object):\n    pass\n\nclass Net(Mixin):\n    pass\n"
    main = BOTH if joined else SUB.format(module="net")
    texts = {"first/net.py": NET, "second/net.py": second, "first/main.py": main}
    project = Project({name: unit(SourceFile(name, text)) for name, text in texts.items()})
    ((_, net),) = [each for each in classes(project).named("Net") if each[0].text == NET]
    names = [cls.name for _, cls in beside(project, net)]
    assert ("Mixin" in names, "Net" in names) == (True, joined)
    assert ("Both" if joined else "Sub") in names


def test_a_class_that_extends_its_namesake() -> None:
    heir = "import tensorflow as tf\nimport net\n\nclass Net(net.Net):\n    def net_u(self, x):\n"
    heir += "        self.low = tf.sin(x)\n        return net.Net.net_u(self, x)\n"
    found = applicabilities({"net.py": NET, "heir.py": heir, "main.py": SUB.format(module="heir")})
    assert found != ["safe"]

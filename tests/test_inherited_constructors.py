"""Which calls run a constructor through subclasses: see ``callgraph/inherited_constructors.py``."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.callgraph.inherited_constructors import made_by
from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.source.decoding import SourceFile

BASE = """\
class Base(object):
    def __init__(self, x):
        self.x = x


Base(0)
"""
CALLING = "class Net(Base):\n    def __init__(self, y):\n        {call}\n\n\nNet(1)\n"


def made(text: str) -> tuple[list[str], int]:
    """The calls beside ``Base(0)``, and how much is meant in another way."""
    texts = {"base.py": BASE, "main.py": f"from base import Base\n\n\n{text}"}
    project = Project({name: unit(SourceFile(name, each)) for name, each in texts.items()})
    home = project.units["base.py"]
    (cls,) = home.nodes(ast.ClassDef)
    found = made_by(project, home, cls)
    calls = [ast.unparse(site.call) for site in found.calls]
    return [each for each in calls if each != "Base(0)"], len(found.others)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("x = 1\n", []),
        ("class Net(Base):\n    pass\n\n\nNet(1)\n", ["Net(1)"]),
        ("class Net(Base):\n    pass\n\n\nclass Last(Net):\n    pass\n\n\nLast(1)\n", ["Last(1)"]),
        (CALLING.format(call="super(Net, self).__init__(y)"), ["super(Net, self).__init__(y)"]),
        (CALLING.format(call="Base.__init__(self, y)"), ["Base.__init__(self, y)"]),
        (CALLING.format(call="self.y = y"), []),
        (
            CALLING.format(call="super().__init__(y)")
            + "\n\nclass Last(Net):\n    pass\n\n\nLast(2)\n",
            ["super().__init__(y)"],
        ),
        (
            CALLING.format(call="super().__init__(y)")
            + "class Last(Net):\n    def __init__(self):\n        super().__init__(3)\n",
            ["super().__init__(y)"],
        ),
    ],
)
def test_calls_of_subclasses(text: str, calls: list[str]) -> None:
    assert made(text) == (calls, 0)


@pytest.mark.parametrize(
    "text",
    [
        "class Mixin(object):\n    pass\n\n\nclass Net(Mixin, Base):\n    pass\n\n\nNet(1)\n",
        "class Mixin(object):\n    pass\n\n\nclass Net(Base, Mixin):\n    pass\n\n\nNet(1)\n",
        "@final\nclass Net(Base):\n    pass\n\n\nNet(1)\n",
        "class Net(Base, metaclass=Meta):\n    pass\n\n\nNet(1)\n",
        "class Net(Base):\n    pass\n\n\nTABLE = {'net': Net}\n",
        "def again(net):\n    net.__init__(2)\n",
        "class Net(Base):\n    pass\n\n\ndef again(net):\n    Base.__init__(net, 2)\n",
        "class Net(Net, Base):\n    pass\n",
    ],
)
def test_what_may_be_made_in_another_way(text: str) -> None:
    assert made(text)[1] > 0

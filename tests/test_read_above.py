"""What a method of a class of another file reads: see ``tapemigrate/rules/proof/read_above.py``.

Whole programs of these shapes run in ``fixtures/``.
"""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.objects.read_above import read_above
from tapemigrate.source.decoding import SourceFile

BASE = """\
import tensorflow as tf
from tables import LIMIT

TABLE = [1.0]
LOWER = -1.0
scale = tf.sin


def scaled(x):
    return x - LOWER


def looked_up():
    return TABLE[0]


def kept(x, rows=[]):
    return rows


def marked(method):
    return method


class Base(object{more_bases}):
    def __init__(self, x):
        self.w = tf.constant(2.0)

    def inner(self, x):
        return tf.tanh(x) * self.inner_w

    @property
    def part(self):
        return self.w

    {decorator}
    def net(self, x{default}):
        {net}

    {member}
"""
MAIN = """\
from base import Base


class Model(Base):
    def slope(self, x):
        return self.net(x)


{more}
"""


def read(
    net: str,
    default: str = "",
    more: str = "",
    decorator: str = "",
    member: str = "",
    more_bases: str = "",
) -> frozenset[str] | None:
    base = BASE.format(
        net=net, default=default, decorator=decorator, member=member, more_bases=more_bases
    )
    texts = {"base.py": base, "main.py": MAIN.format(more=more)}
    project = Project({name: unit(SourceFile(name, text)) for name, text in texts.items()})
    here = project.units["main.py"]
    slope = next(n for n in here.nodes(ast.FunctionDef) if n.name == "slope")
    return read_above(project, project.view(here, slope), "net")


@pytest.mark.parametrize(
    ("net", "expected"),
    [
        ("return tf.tanh(x) * self.w", {"w"}),
        ("return scaled(x) * self.w[0] + len(self.biases)", {"w", "biases"}),
        ("f = lambda y: y * self.w\n        return f(x)", {"w"}),
        ("return self.inner(x) * self.w", {"w", "inner_w"}),
        ("return self.net(x - 1.0) if self.w else x", {"w"}),
        ("return LOWER * x", set()),
        ("me = self\n        return x * me.w", {"w"}),
    ],
)
def test_what_is_read(net: str, expected: set[str]) -> None:
    assert read(net) == expected


@pytest.mark.parametrize(
    "net",
    [
        "return x * self.part",
        "return x * self.unknown(x)",
        "return x * self.sub.h",
        "return x * TABLE[0]",
        "return x * looked_up()",
        "return x * LIMIT",
        "return kept(x)",
        "return scale(x)",
        "return x * getattr(None, 'h')",
        "self.h = x\n        return x",
        "self.kept[0] = x\n        return x",
        "self.kept += [x]\n        return x",
    ],
)
def test_what_does_more_than_read(net: str) -> None:
    assert read(net) is None


@pytest.mark.parametrize(
    "more",
    [
        "class Other(Model):\n    def net(self, x):\n        return x",
        "class Base(object):\n    pass",
        "def patch(model, h):\n    model.net = lambda x: x * h",
        "def patch(h):\n    setattr(Model, 'net', lambda self, x: x * h)",
    ],
)
def test_what_may_run_in_its_place(more: str) -> None:
    assert read("return x * self.w", more=more) is None


def test_what_its_class_hides() -> None:
    plain = "return x * self.w"
    assert read(plain, default=", h=2.0") == {"w"}
    assert read(plain, default=", h=TABLE") is None
    assert read(plain, decorator="@marked") is None
    assert read(plain, decorator="@staticmethod") is None
    assert read(plain, more_bases=", Unseen") is None
    assert read(plain, member="def __getattr__(self, name):\n        return TABLE") is None

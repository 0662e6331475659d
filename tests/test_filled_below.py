"""What subclasses of other files give attributes: see ``rules/values/filled_below.py``."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.filled_below import filled_below, given_below
from tapemigrate.source.decoding import SourceFile

BASE = """\
import tensorflow as tf


def scale(x):
    return x


class Model(object):
    def __init__(self, x):
        self.x = x
        self.terms = []
        self.table = dict()
        self.factor = self.hook(x)
        self.scaled = scale(x)
        self.setup(self.terms)

    def hook(self, x):
        return 1.0

    def setup(self, terms):
        pass
"""
MAIN = """\
import tensorflow as tf
import base


class Net(base.Model):
    def build(self, x):
        {build}

    {member}


{more}
"""


def below(
    build: str = "pass", member: str = "", more: str = "", here: str = ""
) -> tuple[Project, View]:
    texts = {"base.py": BASE + here, "main.py": MAIN.format(build=build, member=member, more=more)}
    project = Project({name: unit(SourceFile(name, text)) for name, text in texts.items()})
    home = project.units["base.py"]
    setup = next(n for n in home.nodes(ast.FunctionDef) if n.name == "setup")
    return project, project.view(home, setup)


@pytest.mark.parametrize(
    ("build", "name", "fills"),
    [
        ("pass", "terms", False),
        ("return sum(self.terms)", "terms", False),
        ("return [t * x for t in self.terms]", "terms", False),
        ("for t in self.terms:\n            print(t)", "terms", False),
        ("return self.table['h'] + len(self.table)", "table", False),
        ("return self.terms + [x]", "terms", False),
        ("return tf.square(self.x)", "x", False),
        ("self.x.append(x)", "x", False),
        ("self.terms.append(x)", "terms", True),
        ("self.table['h'] = x", "table", True),
        ("self.table.update(h=x)", "table", True),
        ("terms = self.terms\n        terms.insert(0, x)", "terms", True),
        ("self.add(self.terms)", "terms", True),
    ],
)
def test_lists_that_subclasses_fill(build: str, name: str, fills: bool) -> None:
    assert filled_below(*below(build), name) is fills


def test_lists_that_are_handed_to_what_subclasses_write() -> None:
    setup = "def setup(self, terms):\n        terms.append(1.0)"
    assert filled_below(*below(member=setup), "terms")
    assert not filled_below(*below(member=setup), "table")


@pytest.mark.parametrize(
    ("member", "more", "gives"),
    [
        ("", "", False),
        ("def hook(self, x):\n        return 2.0", "", False),
        ("def hook(self, x):\n        return tf.Variable(1.0)", "", False),
        ("def hook(self, x):\n        return tf.Variable(1.0), tf.Variable(2.0)", "", False),
        ("def other(self, x):\n        return tf.square(x)", "", False),
        ("def hook(self, x):\n        return tf.square(x)", "", True),
        ("def hook(self, x):\n        return [tf.Variable(1.0), x]", "", True),
        ("", "base.Model.hook = lambda self, x: x * x", True),
    ],
)
def test_hooks_that_subclasses_write(member: str, more: str, gives: bool) -> None:
    assert given_below(*below(member=member, more=more), "factor") is gives
    assert not given_below(*below(member=member, more=more), "terms")


def test_functions_that_others_set() -> None:
    assert given_below(*below(more="base.scale = tf.square"), "scaled")
    assert not given_below(*below(more="scale = tf.square"), "scaled")


def test_subclasses_of_the_same_file_are_seen_by_others() -> None:
    hook = "    def hook(self, x):\n        self.terms.append(x)\n        return x\n"
    here = f"\n\nclass Near(Model):\n{hook}"
    assert not filled_below(*below(here=here), "terms")
    assert not given_below(*below(here=here), "factor")

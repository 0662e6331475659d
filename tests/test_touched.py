"""What methods do with the attributes of their object: see ``tapemigrate/flow/touched.py``."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.flow.effects import Effects
from tapemigrate.flow.touched import ALL_PARTS, NO_PARTS, Told

CLASSES = """
class Base(object):
    def __init__(self, x):
        self.x = x
        self.rows = []

    def reads(self):
        return self.x

    def sets(self, h):
        self.last, self.count = h, 1

    def fills(self, h):
        self.rows.append(h)
        self.table[0] = h

    def is_set(self):
        return hasattr(self, "x") and isinstance(self, Base)

    def in_turn(self):
        self.sets(self.reads())

    def round(self):
        self.back()

    def back(self):
        self.met = True
        self.round()

    def open(self):
        raise NotImplementedError

    def by_name(self, name, h):
        setattr(self, name, h)

    def dict(self, h):
        self.__dict__["y"] = h

    def handed(self):
        keep(self)

    def far(self):
        self.elsewhere()

    def itself(self):
        self[0] = 1

    @property
    def asked_for(self):
        self.times = 1
        return self.x

    @scoped
    def under_a_scope(self):
        self.h = 1

    @scoped
    def only_reads(self):
        return self.x


class Net(Base):
    def __init__(self, x):
        super(Net, self).__init__(x)
        self.depth = 2

    def reads(self):
        self.asked = True
        return Base.reads(self)

    def wide(self):
        super().missing()

    def named(self):
        Other.build(self)
"""
MANY = "class Many:\n  def all(self):\n" + "".join(f"    self.a{k} = 1\n" for k in range(100))


def touched(text: str, name: str) -> tuple[Effects, ast.ClassDef]:
    effects = Effects(ast.parse(text), lambda call: isinstance(call.func, ast.Name))
    cls = effects.class_named(name)
    assert cls is not None
    return effects, cls


@pytest.mark.parametrize(
    ("cls", "method", "written"),
    [
        ("Net", "reads", {"asked"}),
        ("Base", "reads", {"asked"}),  # an object of a subclass may be at hand
        ("Base", "sets", {"last", "count"}),
        ("Base", "fills", {"rows", "table"}),
        ("Base", "is_set", set()),
        ("Base", "in_turn", {"last", "count", "asked"}),
        ("Base", "round", {"met"}),
        ("Base", "back", {"met"}),
        ("Base", "open", ALL_PARTS),
        ("Base", "by_name", ALL_PARTS),
        ("Base", "dict", ALL_PARTS),
        ("Base", "handed", ALL_PARTS),
        ("Base", "far", ALL_PARTS),
        ("Base", "itself", ALL_PARTS),
        ("Base", "asked_for", {"times"}),
        ("Base", "under_a_scope", ALL_PARTS),
        ("Base", "only_reads", set()),
        ("Net", "__init__", {"x", "rows", "depth"}),
        ("Net", "wide", ALL_PARTS),
        ("Net", "named", ALL_PARTS),
        ("Base", "rows", set()),  # what is called is no method, and was assigned
        ("Base", "unknown", ALL_PARTS),
    ],
)
def test_written(cls: str, method: str, written: set[str]) -> None:
    effects, found = touched(CLASSES, cls)
    assert effects.touched.written(found, method) == written


@pytest.mark.parametrize(
    ("method", "owner", "written"),
    [
        ("sets", "", {"last", "count"}),
        ("__init__", "", {"x", "rows"}),
        ("missing", "", ALL_PARTS),
        ("reads", "Base", set()),  # the very method of that class
        ("reads", "Other", ALL_PARTS),
    ],
)
def test_written_above(method: str, owner: str, written: set[str]) -> None:
    effects, found = touched(CLASSES, "Net")
    assert effects.touched.written_above(found, method, owner) == written


def test_read() -> None:
    effects, found = touched(CLASSES, "Net")
    assert effects.touched.told(found, "in_turn").read >= {"x", "sets", "reads"}
    assert "x" not in effects.touched.told(found, "fills").read


def test_what_is_out_of_sight_has_a_name() -> None:
    effects, found = touched(CLASSES, "Base")
    elsewhere = frozenset({"elsewhere"})
    assert effects.touched.told(found, "far") == Told(NO_PARTS, elsewhere, elsewhere, whole=True)


@pytest.mark.parametrize(
    ("cls", "method", "whole"),
    [
        ("Base", "sets", False),
        ("Base", "in_turn", False),
        ("Net", "reads", False),
        ("Net", "__init__", False),
        ("Base", "is_set", True),
        ("Base", "handed", True),
        ("Base", "dict", True),
        ("Base", "itself", True),
        ("Base", "asked_for", False),
        ("Base", "only_reads", True),
        ("Base", "rows", True),  # whatever is kept there is called
    ],
)
def test_whole(cls: str, method: str, whole: bool) -> None:
    effects, found = touched(CLASSES, cls)
    assert effects.touched.told(found, method).whole is whole


def test_many_attributes_are_all() -> None:
    effects, found = touched(MANY, "Many")
    assert effects.touched.written(found, "all") == ALL_PARTS

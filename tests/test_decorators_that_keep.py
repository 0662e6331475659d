"""Decorators that have a function give what it gave before, which a later tape misses."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

PROGRAM = """
import functools
import tensorflow as tf

KEPT = {{}}
LAST = None
w = tf.get_variable("W", [2])

{decorator}

@{name}
def factor():
    return tf.tanh(w)


factor()


def slope():
    y = tf.reduce_sum(factor() * w)
    return tf.gradients(y, w)[0]


slope()
"""
FUNCTION = """
def keep(f):
    {before}
    def inner(*args):
        {body}
        return {gives}
    return inner
"""
CLASS = """
class keep(object):
    def __init__(self, f):
        self.f = {given}
        self.kept = None

    def __call__(self, *args):
        {body}
        return {gives}
"""


def applicability(decorator: str, name: str = "keep") -> str | None:
    text = PROGRAM.format(decorator=decorator, name=name)
    found = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.fix and finding.fix.applicability


@pytest.mark.parametrize(
    ("before", "body", "gives"),
    [
        ("", "global LAST; LAST = LAST or f()", "LAST"),
        ("last = None", "nonlocal last; last = last or f()", "last"),
        ("", "KEPT[0] = KEPT.get(0) or f()", "KEPT[0]"),
        ("", "pass", "KEPT.setdefault(0, f())"),
        ("", "KEPT.update(a=f())", "KEPT['a']"),
        ("kept = []", "kept.append(f())", "kept[0]"),
        ("kept = []", "kept.insert(0, f())", "kept[-1]"),
        ("kept = set()", "kept.add(f())", "min(kept)"),
        ("", "f.kept = getattr(f, 'kept', None) or f()", "f.kept"),
        ("", "setattr(f, 'kept', f())", "f.kept"),
    ],
)
def test_a_function(before: str, body: str, gives: str) -> None:
    decorator = FUNCTION.format(before=before or "pass", body=body, gives=gives)
    # What is put into a dict of the module is seen, and stands in the way.
    assert applicability(decorator) == (None if "KEPT" in body + gives else "unsafe")


@pytest.mark.parametrize(
    ("given", "body", "gives"),
    [
        ("f", "self.kept = self.kept or self.f()", "self.kept"),
        ("[f]", "self.f.append(self.f[0]())", "self.f[-1]"),
        ("f()", "pass", "self.f"),
    ],
)
def test_a_class(given: str, body: str, gives: str) -> None:
    assert applicability(CLASS.format(given=given, body=body, gives=gives)) == "unsafe"


@pytest.mark.parametrize(
    "name", ["functools.lru_cache()", "cached", "memoize", "run_once", "singleton", "Memo(3)"]
)
def test_by_its_name(name: str) -> None:
    assert applicability("", name) == "unsafe"


@pytest.mark.parametrize(
    "decorator",
    [
        FUNCTION.format(before="pass", body="value = f()", gives="value"),
        FUNCTION.format(before="pass", body="found = []; found.append(f())", gives="found[0]"),
        CLASS.format(given="f", body="pass", gives="self.f()"),
        CLASS.format(given="f", body="found = []; found.append(self.f())", gives="found[0]"),
    ],
)
def test_what_runs_it_anew(decorator: str) -> None:
    assert applicability(decorator) == "safe"

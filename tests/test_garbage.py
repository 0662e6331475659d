"""Garbage is looked for between analyses, and afterwards as before."""

from __future__ import annotations

import ast
import gc
import weakref

import pytest

from tapemigrate import api
from tapemigrate.rules import kept_units
from tapemigrate.running import garbage
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile
from tests.programs import LOCAL

HELPER = "import tensorflow as tf\n\n\ndef slope(y, x):\n    return tf.gradients(y, x)[0]\n"
CALLER = "from helper import slope\n\n\ndef f(x):\n    y = x * x\n    return slope(y, x)\n"


class Circle:
    def __init__(self) -> None:
        self.itself = self


def test_it_is_put_off_and_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gc.isenabled()
    with garbage.put_off():
        assert not gc.isenabled()
        gone = weakref.ref(Circle())
        with garbage.put_off():
            garbage.collect()
        assert not gc.isenabled()
        assert gone() is not None  # one circle is not much
        monkeypatch.setattr(garbage, "_MANY", 0)
        garbage.collect()
        assert gone() is None
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), garbage.put_off():
        _ = 1 // 0
    assert gc.isenabled()


def test_who_has_switched_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with garbage.put_off():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nothing_is_done_where_python_looks_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_MANY", -1)
    monkeypatch.setattr(gc, "collect", lambda: pytest.fail("collected"))
    garbage.collect()


def test_what_an_analysis_read_is_freed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trees: list[weakref.ref[ast.Module]] = []
    real = kept_units.plain_tree

    def plain_tree(file: SourceFile) -> ast.Module:
        tree = real(file)
        trees.append(weakref.ref(tree))
        return tree

    kept = kept_units._Kept()
    kept.most = 0
    monkeypatch.setattr(kept_units, "plain_tree", plain_tree)
    monkeypatch.setattr(kept_units, "_kept", kept)
    files = {"helper.py": HELPER, "caller.py": CALLER}
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    gc.disable()
    try:
        assert api.analyse(sources, Settings(), rewrite=False).diagnostics
        assert api.links(SourceFile("other.py", LOCAL)).names
        # The last one that was asked for is always kept.
        assert [tree() is None for tree in trees] == [True, True, False]
    finally:
        gc.enable()

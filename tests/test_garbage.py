"""Garbage is looked for between analyses, and afterwards as before."""

from __future__ import annotations

import gc
import weakref

import pytest

from tapemigrate import garbage


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

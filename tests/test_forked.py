"""Quick work shared with copies of this process: the same results, whatever becomes of them."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from tapemigrate.running import forked

MANY = list(range(20_000))
HERE = os.getpid()


def _square(number: int) -> int:
    return number * number


def _who(number: int) -> int:
    return os.getpid()


def _deadly(number: int) -> int:
    if number == 9_999 and os.getpid() != HERE:
        os._exit(11)
    return number


def test_the_results_come_in_order() -> None:
    for jobs in (1, 2, 5):
        for items in ([], MANY[:7], MANY[:600], MANY[:1100], MANY):
            assert forked.each(_square, items, jobs) == [n * n for n in items]


@pytest.mark.skipif(sys.platform != "linux", reason="not done there")
def test_several_processes_work() -> None:
    assert len(set(forked.each(_who, MANY * 20, 3))) > 1


def test_little_is_done_here() -> None:
    assert set(forked.each(_who, MANY[:200], 4)) == {HERE}
    assert set(forked.each(_who, MANY, 1)) == {HERE}


def test_nothing_is_forked_beside_other_threads() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert set(forked.each(_who, MANY, 4)) == {HERE}
    finally:
        done.set()
        thread.join()


def test_what_a_killed_process_had_taken_is_done_here() -> None:
    for _ in range(5):
        assert forked.each(_deadly, MANY, 3) == MANY


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_where_no_process_can_be_had_it_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fork)
    before = os.listdir("/proc/self/fd") if sys.platform == "linux" else []
    assert set(forked.each(_who, MANY, 4)) == {HERE}
    assert before == (os.listdir("/proc/self/fd") if sys.platform == "linux" else [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no children")
def test_no_child_is_left() -> None:
    forked.each(_square, MANY, 3)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)

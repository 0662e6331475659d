"""Quick work on many items, shared with processes that begin as copies of this one.

Starting such a process costs a few milliseconds, where those of ``workers`` cost a hundred. They
are for work that needs nothing but what is in memory, and gives results that ``marshal`` can hold.
"""

from __future__ import annotations

import marshal
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

# What one process takes at a time, and how much there has to be of it to pay for a process.
_PORTION = 64
_PORTIONS_PER_PROCESS = 8
# What a pipe holds: the numbers of the portions.
_ROOM = 1 << 15
_NUMBER = 4


def each(function: Callable[[_T], _R], items: Sequence[_T], jobs: int) -> list[_R]:
    """The results of ``function``, in order. It must not raise, nor print, nor lock anything."""
    portion = max(_PORTION, len(items) * _NUMBER // _ROOM + 1)
    starts = range(0, len(items), portion)
    jobs = min(jobs, len(starts) // _PORTIONS_PER_PROCESS)
    if jobs < 2 or not _can_fork():
        return list(map(function, items))

    def worked_off(taking: int) -> dict[int, list[_R]]:
        done = {}
        # Whoever is quick takes more.
        while number := os.read(taking, _NUMBER):
            start = int.from_bytes(number, "big")
            done[start] = list(map(function, items[start : start + portion]))
        return done

    taking, giving = os.pipe()
    os.write(giving, b"".join(start.to_bytes(_NUMBER, "big") for start in starts))
    os.close(giving)
    children = list(filter(None, [_child(worked_off, taking) for _ in range(jobs - 1)]))
    try:
        done = worked_off(taking)
    finally:
        os.close(taking)
        told = [_end_of(*child) for child in children]
    for data in told:
        # A process that was killed has said nothing.
        done.update(marshal.loads(data) if data else {})
    results: list[_R] = []
    for start in starts:
        here = done.get(start)
        results += map(function, items[start : start + portion]) if here is None else here
    return results


def _can_fork() -> bool:
    # A thread that holds a lock would not be there to let go of it.
    return sys.platform == "linux" and threading.active_count() == 1


def _child(work: Callable[[int], Any], taking: int) -> tuple[int, int] | None:
    """A process that does its part of the work, and the pipe in which it tells what came of it.

    None where the system has no room for one.
    """
    telling, told = os.pipe()
    try:
        process = os.fork()
    except OSError:
        os.close(telling)
        os.close(told)
        return None
    if process:
        os.close(told)
        return process, telling
    try:
        os.close(telling)
        with open(told, "wb") as stream:
            stream.write(marshal.dumps(work(taking)))
    finally:
        # Nothing of what the other process would do at its end.
        os._exit(0)


def _end_of(process: int, telling: int) -> bytes:
    with open(telling, "rb") as stream:
        data = stream.read()
    os.waitpid(process, 0)
    return data

"""Where threads take memory from, in a process that has one after the other do its work."""

from __future__ import annotations

import sys

# From <malloc.h> of glibc.
_M_ARENA_MAX = -8


def share_one() -> None:
    """All threads take memory where the first one does, where the C library has a choice.

    glibc gives every thread a place of its own, and little of what is freed there ever goes back:
    a fifth of what a large tree took. See ``mallopt(3)``.
    """
    _call("mallopt", _M_ARENA_MAX, 1)


def give_back() -> None:
    """What is free between things that are still needed goes back to the system.

    Of its own accord glibc gives back only what lies at the end. See ``malloc_trim(3)``.
    """
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    """Calls a function of glibc; musl has none of them."""
    if sys.platform != "linux":
        return
    import ctypes

    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*arguments)

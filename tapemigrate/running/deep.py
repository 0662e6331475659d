"""Room for recursion: real programs have expressions that are thousands of levels deep."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

# Pairs of stack size and recursion limit. A level of Python's recursion that passes through C
# takes up to about 2 KiB of stack. The memory is only reserved; where even that is refused, less
# has to do.
_ROOMS = ((512 * 2**20, 150_000), (64 * 2**20, 20_000))


def call_with_room(function: Callable[[], _T]) -> _T:
    """The result of ``function``, called on a thread with a large stack.

    Raises:
        BaseException: whatever ``function`` raises.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:  # it is raised again in the calling thread
            errors.append(error)

    old_limit = sys.getrecursionlimit()
    for stack_size, limit in _ROOMS:
        old_size = threading.stack_size(stack_size)
        # A daemon, so that Ctrl-C need not wait for it.
        thread = threading.Thread(target=run, daemon=True)
        sys.setrecursionlimit(max(limit, old_limit))
        try:
            thread.start()
            thread.join()
        except RuntimeError:
            continue
        finally:
            threading.stack_size(old_size)
            sys.setrecursionlimit(old_limit)
        if errors:
            raise errors[0]
        return results[0]
    return function()

"""When Python looks for garbage: between analyses, not while one is at work.

An analysis makes many objects and throws few away; to go through them again and again would cost
a third of its time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made since the last search, less those that went by themselves: some 40 MiB.
_MANY = 250_000


@contextmanager
def put_off() -> Iterator[None]:
    """Nothing is looked for inside, but where ``collect`` is called."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collect() -> None:
    """Looks for garbage where that was put off, and where there may be much of it."""
    if not gc.isenabled() and gc.get_count()[0] > _MANY:
        gc.collect()

"""Where a module lies, by the steps of its path."""

from __future__ import annotations

import os
from functools import lru_cache


def stem(filename: str) -> str:
    """The name of a module: that of its file, without the ending."""
    return os.path.splitext(os.path.basename(filename))[0]


@lru_cache(maxsize=1024)
def steps_of(filename: str) -> tuple[str, ...]:
    """The folders above a module, the outermost first, and its name."""
    folders = os.path.dirname(filename).replace(os.sep, "/")
    return (*(step for step in folders.split("/") if step not in ("", ".")), stem(filename))

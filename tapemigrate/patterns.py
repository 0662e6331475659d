"""Regular expressions that are compiled when they are used first.

Most of a program's patterns are for what most runs do not meet, and compiling them all took longer
than a small file.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """Has the methods of the compiled pattern, which it takes over one by one."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # The ``re`` module keeps what it has compiled.
        found = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, found)
        return found


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like ``re.compile``, later."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))

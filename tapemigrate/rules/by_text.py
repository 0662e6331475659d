"""What follows from a file by itself, found once: many analyses have it in their context."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.units import Later, parsed

# Of so many texts is kept what follows from each.
_MOST_TEXTS = 500

_T = TypeVar("_T")


class ByText(Generic[_T]):
    """What ``make`` tells from a file alone, kept by its text."""

    def __init__(self, make: Callable[[Unit], _T]) -> None:
        self._make = make
        self._found: dict[str, _T] = {}
        self._lock = Lock()

    def of(self, file: Unit | Later) -> _T | None:
        """What follows from ``file``; None where it does not parse."""
        with self._lock:
            found = self._found.get(file.text)
        if found is None:
            unit = parsed(file)
            if unit is None:
                return None
            found = self._make(unit)
            with self._lock:
                self._found[file.text] = found
                if len(self._found) > _MOST_TEXTS:
                    del self._found[next(iter(self._found))]
        return found

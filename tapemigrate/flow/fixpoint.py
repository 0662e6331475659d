"""What is told of functions that call each other: the least that agrees, worked out when asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar, cast

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")

# So often a value may change before it may only grow.
_ROUNDS = 8
_NOT_YET = object()
# So deep what a value needs is worked out at once; further down, it waits.
_DEPTH = 24


class Fixpoint(Generic[_K, _V]):
    """Values by keys, of which each may need others, and those the first one.

    ``least`` is what is taken for a value that is not known yet. A value does not depend on which
    key was asked for first. ``join`` gives what is no less than either value; it is needed where
    the keys that are asked for depend on values, which may then turn in a circle. ``most`` is what
    no value is more than: who has it needs no others any longer.
    """

    def __init__(
        self, least: _V, join: Callable[[_V, _V], _V] | None = None, most: _V | None = None
    ) -> None:
        self._least = least
        self._join = join
        self._most = most
        self._known: dict[_K, _V] = {}
        self._found: dict[_K, _V] = {}
        # Dicts, for their order: what is worked out does not depend on hashes.
        self._readers: dict[_K, dict[_K, None]] = {}
        self._open: list[_K] = []
        self._again: dict[_K, None] = {}
        self._at: list[_K] = []
        self._changes: dict[_K, int] = {}
        self._lock = RLock()

    def of(self, key: _K, make: Callable[[_K], _V]) -> _V:
        """The value of a key; while that of another is worked out, what is known of it so far.

        ``make``, always the same, works out the value of a key, and asks for those that it needs.
        It is called again where these have grown, and may then give no less. It is not kept:
        a method of an object that has the fixpoint would keep that alive.
        """
        # Keys may take long to hash, and are asked for very often.
        known = self._known.get(key, _NOT_YET)
        if known is not _NOT_YET:
            return cast("_V", known)
        with self._lock:
            if self._at:
                if key not in self._found:
                    self._found[key] = self._least
                    if self._most is None and len(self._at) < _DEPTH:
                        self._work_out(key, make)
                    else:
                        self._open.append(key)
                # Who reads it is told of what it becomes from here on.
                self._readers.setdefault(key, {})[self._at[-1]] = None
                return self._found[key]
            try:
                self._found[key] = self._least
                self._work_out(key, make)
                while (at := self._next(key)) is not None:
                    self._work_out(at, make)
                self._known.update(self._settled())
                return self._known[key]
            finally:
                self._found, self._readers, self._open, self._again = {}, {}, [], {}
                self._changes = {}

    def _work_out(self, at: _K, make: Callable[[_K], _V]) -> None:
        self._at.append(at)
        try:
            value = make(at)
        finally:
            self._at.pop()
        if self._join is not None and self._changes.get(at, 0) >= _ROUNDS:
            value = self._join(self._found[at], value)
        if value != self._found[at]:
            self._found[at] = value
            self._changes[at] = self._changes.get(at, 0) + 1
            self._again |= self._readers.get(at, {})

    def _next(self, asked: _K) -> _K | None:
        """The key that is worked out next; None once that of ``asked`` cannot change."""
        if self._most is not None:
            if self._has_most(asked):
                return None
            # Its readers may have the most as well, and what else they asked for is not needed.
            while self._again:
                at, _ = self._again.popitem()
                if not self._has_most(at):
                    return at
        while self._open:
            # New ones first: their readers have taken the least for them.
            at = self._open.pop()
            readers = self._readers.get(at)
            if self._most is None or not readers or not all(map(self._has_most, readers)):
                return at
            del self._found[at], self._readers[at]
        if not self._again:
            return None
        # Those that have waited longest: the others may still be told of what these become.
        at = next(iter(self._again))
        del self._again[at]
        return at

    def _has_most(self, key: _K) -> bool:
        return self._found[key] == self._most

    def _settled(self) -> dict[_K, _V]:
        """The values that cannot change: those that need none which is not worked out yet."""
        unsettled: set[_K] = set()
        pending = [*self._open, *self._again]
        while pending:
            key = pending.pop()
            if key not in unsettled and not self._has_most(key):
                unsettled.add(key)
                pending += self._readers.get(key, ())
        return {key: value for key, value in self._found.items() if key not in unsettled}

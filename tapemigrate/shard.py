"""Shards: a large tree split over several jobs, each of which sees the whole and tells its part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The shard ``number`` (from one) of ``count``."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that ``K/N`` means.

        Raises:
            ValueError: when it means none.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not K/N, such as 1/4")
        number, count = int(match[1]), int(match[2])
        if not 1 <= number <= count:
            raise ValueError(f"{text!r} is not K/N with K from 1 to N")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def files(self, weights: Mapping[str, int], ties: Iterable[Iterable[str]]) -> frozenset[str]:
        """The files of this shard, of those in ``weights``, which has the work that each one is.

        Files that a tie names together come into the same shard. All shards of a tree together
        hold each file once. The groups stay in the order of their names and are cut into runs of
        equal work, so that a file more or less moves few others to another shard.
        """
        groups = _groups(weights, ties)
        total = sum(weights.values())
        mine: set[str] = set()
        done = 0
        for group in groups:
            weight = sum(weights[name] for name in group)
            # Where the middle of the group falls.
            place = (2 * done + weight) * self.count // (2 * total) if total else 0
            if min(place, self.count - 1) == self.number - 1:
                mine.update(group)
            done += weight
        return frozenset(mine)


def _groups(names: Iterable[str], ties: Iterable[Iterable[str]]) -> list[list[str]]:
    """The names, in order, those that are tied (also through others) together."""
    leaders = {name: name for name in names}

    def leader(name: str) -> str:
        while leaders[name] != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    for tie in ties:
        first, *others = sorted({leader(name) for name in tie if name in leaders}) or [""]
        for other in others:
            leaders[other] = first
    groups: dict[str, list[str]] = {}
    for name in sorted(leaders):
        groups.setdefault(leader(name), []).append(name)
    return list(groups.values())

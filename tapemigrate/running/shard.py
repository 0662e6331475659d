"""Shards: a large tree split over several jobs, each of which sees the whole and tells its part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tapemigrate.patterns import late

# A group is small if it is not more than this part of a shard.
_SMALL = 4

_FORM = late(r"([0-9]{1,9})/([0-9]{1,9})")


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
        hold each file once. Large groups are dealt out first, the largest to the emptiest shard.
        The others, in the order of their names, fill the shards up to one level, so that a file
        more or less moves few of them.
        """
        groups = [(sum(weights[name] for name in group), group) for group in _groups(weights, ties)]
        total = sum(weight for weight, _ in groups)
        loads = [0] * self.count
        homes: dict[str, int] = {}
        small = []
        for weight, group in sorted(groups, key=lambda item: (-item[0], item[1])):
            if weight * self.count * _SMALL <= total:
                small.append((weight, group))
                continue
            emptiest = loads.index(min(loads))
            loads[emptiest] += weight
            homes[group[0]] = emptiest
        small.sort(key=lambda item: item[1])
        room = _room(loads, sum(weight for weight, _ in small))
        number, taken = 0, 0.0
        for weight, group in small:
            # The middle of the group says where it goes.
            while number < self.count - 1 and taken + weight / 2 > room[number]:
                taken -= room[number]
                number += 1
            taken += weight
            homes[group[0]] = number
        mine = [group for _, group in groups if homes[group[0]] == self.number - 1]
        return frozenset(name for group in mine for name in group)


def _room(loads: Sequence[int], more: int) -> list[float]:
    """How much of ``more`` each load takes, so that all of those that take some become alike."""
    taking = sorted(loads)
    while len(taking) > 1 and taking[-1] * len(taking) >= sum(taking) + more:
        taking.pop()
    level = (sum(taking) + more) / len(taking)
    return [max(0.0, level - load) for load in loads]


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

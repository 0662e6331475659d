"""The parts of a graph whose nodes all lead to each other."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from typing import TypeVar

_K = TypeVar("_K", bound=Hashable)


def components(
    roots: Iterable[_K], further: Callable[[_K], Iterable[_K]], known: Container[_K]
) -> Iterator[list[_K]]:
    """All that ``roots`` lead to, but for ``known`` ones; what a part leads to comes before it.

    Tarjan's algorithm: each edge is followed once, and none by recursion.
    """
    number: dict[_K, int] = {}
    lowest: dict[_K, int] = {}
    stack: list[_K] = []
    waiting: set[_K] = set()
    for root in roots:
        if root in number or root in known:
            continue
        number[root] = lowest[root] = len(number)
        stack.append(root)
        waiting.add(root)
        path = [(root, iter(further(root)))]
        while path:
            at, rest = path[-1]
            for each in rest:
                if each in known:
                    continue
                if each not in number:
                    number[each] = lowest[each] = len(number)
                    stack.append(each)
                    waiting.add(each)
                    path.append((each, iter(further(each))))
                    break
                if each in waiting:
                    lowest[at] = min(lowest[at], number[each])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[at])
                if lowest[at] == number[at]:
                    part: list[_K] = []
                    while not part or part[-1] != at:
                        part.append(stack.pop())
                    waiting.difference_update(part)
                    yield part

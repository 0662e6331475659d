"""Parts of a graph whose nodes all lead to each other."""

from __future__ import annotations

import random

import pytest

from tapemigrate.flow.components import components


def reached(graph: dict[int, list[int]], start: int) -> set[int]:
    found, pending = set[int](), [start]
    while pending:
        new = set(graph[pending.pop()]) - found
        found |= new
        pending += new
    return found


@pytest.mark.parametrize("seed", range(40))
def test_any_graph(seed: int) -> None:
    chosen = random.Random(seed)
    size = chosen.randint(1, 12)
    edges = chosen.randint(0, 24)
    graph: dict[int, list[int]] = {node: [] for node in range(size)}
    for _ in range(edges):
        graph[chosen.randrange(size)].append(chosen.randrange(size))
    ahead = {node: reached(graph, node) for node in graph}
    met: set[int] = set()
    for part in components([0, size - 1], graph.__getitem__, ()):
        for node in part:
            together = {n for n in graph if n == node or (n in ahead[node] and node in ahead[n])}
            assert set(part) == together
            assert ahead[node] <= met | together
        met.update(part)
    assert met == {0, size - 1} | ahead[0] | ahead[size - 1]


def test_what_is_known_is_passed_over() -> None:
    graph = {1: [2, 3], 2: [4], 3: [1], 4: [2]}
    assert [*components([1], graph.__getitem__, {2})] == [[3, 1]]
    assert [*components([2], graph.__getitem__, {2})] == []


def test_a_long_way_needs_no_recursion() -> None:
    found = [*components([0], lambda node: [node + 1] if node < 100_000 else [], ())]
    assert len(found) == 100_001

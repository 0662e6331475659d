"""Values that follow from each other: the same ones, whichever is asked for first."""

from __future__ import annotations

import ast
import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapemigrate.flow.effects import Effects
from tapemigrate.flow.fixpoint import Fixpoint

NODES = range(7)
GRAPHS = st.lists(st.lists(st.sampled_from(NODES), max_size=3), min_size=7, max_size=7)


def reached(graph: list[list[int]], start: int) -> frozenset[int]:
    found = {start}
    stack = [start]
    while stack:
        new = set(graph[stack.pop()]) - found
        found |= new
        stack += new
    return frozenset(found)


@given(GRAPHS, st.permutations(list(NODES)))
def test_what_a_graph_reaches(graph: list[list[int]], order: list[int]) -> None:
    def make(node: int) -> frozenset[int]:
        return frozenset({node}).union(*(fixpoint.of(each, make) for each in graph[node]))

    fixpoint = Fixpoint[int, frozenset[int]](frozenset())
    assert {node: fixpoint.of(node, make) for node in order} == {
        node: reached(graph, node) for node in order
    }


@given(GRAPHS, st.sets(st.sampled_from(NODES)), st.permutations(list(NODES)))
def test_who_has_the_most_needs_no_others(
    graph: list[list[int]], wanted: set[int], order: list[int]
) -> None:
    def make(node: int) -> bool:
        behind = [fixpoint.of(each, make) for each in graph[node]]
        return node in wanted or any(behind)

    fixpoint = Fixpoint[int, bool](False, most=True)
    assert {node: fixpoint.of(node, make) for node in order} == {
        node: not wanted.isdisjoint(reached(graph, node)) for node in order
    }


def test_what_does_not_matter_is_not_worked_out() -> None:
    asked: list[int] = []

    def make(node: int) -> bool:
        asked.append(node)
        if node == 0:
            return fixpoint.of(-1, make) or fixpoint.of(1, make) or fixpoint.of(2, make)
        return node == 2 or (node < 0 and fixpoint.of(node - 1, make))

    fixpoint = Fixpoint[int, bool](False, most=True)
    assert fixpoint.of(0, make)
    assert asked == [0, 2, 0]
    # Of what was left over, nothing is taken for known.
    assert not fixpoint.of(1, make)
    assert asked == [0, 2, 0, 1]


def test_each_is_worked_out_once_where_none_needs_itself() -> None:
    asked: list[int] = []

    def make(node: int) -> int:
        asked.append(node)
        return node + fixpoint.of(node - 1, make) if node else 0

    fixpoint = Fixpoint[int, int](0)
    for node in range(200):
        assert fixpoint.of(node, make) == node * (node + 1) // 2
    assert asked == list(range(200))


def test_what_a_value_needs_is_worked_out_before_it() -> None:
    asked: list[int] = []

    def make(node: int) -> int:
        asked.append(node)
        return node + fixpoint.of(node - 1, make) if node else 0

    fixpoint = Fixpoint[int, int](0)
    assert fixpoint.of(20, make) == 210
    assert asked == list(range(20, -1, -1))


def test_long_chains_need_no_room() -> None:
    def make(node: int) -> bool:
        return node == 0 or fixpoint.of(node - 1, make)

    fixpoint = Fixpoint[int, bool](False)
    assert fixpoint.of(20_000, make)


def test_a_failure_leaves_nothing_behind() -> None:
    failing = True

    def make(node: int) -> int:
        if failing and node == 2:
            raise MemoryError
        return fixpoint.of(node + 1, make) + 1 if node < 2 else 5

    fixpoint = Fixpoint[int, int](0)
    with pytest.raises(MemoryError):
        fixpoint.of(0, make)
    failing = False
    assert fixpoint.of(0, make) == 7


CIRCLE = """
class Net:
    def up(self, x):
        self.down(x)

    def down(self, x):
        self.up(x)
        self.hidden = x

    def same(self, x):
        return self.likewise(x)

    def likewise(self, x):
        return self.same(x)


def fill(box, x):
    hand_on(box, x)
    global kept
    box.value = kept = x


def hand_on(box, x):
    fill(box, x)
"""


@pytest.mark.parametrize("names", [("up", "down"), ("down", "up")])
def test_methods_that_call_each_other(names: tuple[str, str]) -> None:
    effects = Effects(ast.parse(CIRCLE))
    net = effects.class_named("Net")
    assert net is not None
    assert [effects.writes_self(net, name) for name in names] == [True, True]
    assert not effects.writes_self(net, "same")
    assert not effects.writes_self(net, "likewise")


@pytest.mark.parametrize("names", [("fill", "hand_on"), ("hand_on", "fill")])
def test_functions_that_call_each_other(names: tuple[str, str]) -> None:
    effects = Effects(ast.parse(CIRCLE))
    assert [effects.outside_names(name) for name in names] == [{"kept"}, {"kept"}]


def test_an_object_that_asks_goes_as_soon_as_nobody_has_it() -> None:
    effects = Effects(ast.parse(CIRCLE))
    assert effects.outside_names("fill")
    gone = weakref.ref(effects)
    gc.disable()
    try:
        del effects
        assert gone() is None
    finally:
        gc.enable()


def test_keys_that_depend_on_values() -> None:
    """What a function gives depends on what it is handed, which it gave before, in a loop."""
    rounds = 0

    def make(key: tuple[str, int]) -> int:
        nonlocal rounds
        rounds += 1
        assert rounds < 100
        if key[0] == "function":
            return 3
        return fixpoint.of(("function", fixpoint.of(key, make)), make)

    fixpoint = Fixpoint[tuple[str, int], int](0, max)
    assert fixpoint.of(("loop", 0), make) == 3


def test_values_that_turn_in_a_circle_come_to_an_end() -> None:
    def make(key: str) -> int:
        return 4 if key == "one" and fixpoint.of("other", make) < 4 else fixpoint.of("one", make)

    fixpoint = Fixpoint[str, int](0, max)
    assert fixpoint.of("one", make) == 4

"""Every file in one shard, what is tied together, about as much work in each, and few moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapemigrate.running.shard import Shard

NAMES = [f"f{number:02}.py" for number in range(30)]


def shards(weights: dict[str, int], ties: list[list[str]], count: int) -> list[frozenset[str]]:
    return [Shard(number, count).files(weights, ties) for number in range(1, count + 1)]


@pytest.mark.parametrize("text", ["1/1", "2/4", "10/10", "001/2"])
def test_what_is_a_shard(text: str) -> None:
    shard = Shard.parse(text)
    assert 1 <= shard.number <= shard.count


@pytest.mark.parametrize(
    "text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1 / 2", "²/3"]
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not K/N"):
        Shard.parse(text)


@given(
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1000)),
    st.lists(st.lists(st.sampled_from([*NAMES, "elsewhere.py"]), max_size=4), max_size=8),
    st.integers(1, 9),
)
def test_every_file_is_in_one_shard_with_those_that_it_is_tied_to(
    weights: dict[str, int], ties: list[list[str]], count: int
) -> None:
    found = shards(weights, ties, count)
    assert sorted(name for shard in found for name in shard) == sorted(weights)
    for tie in ties:
        homes = {number for number, shard in enumerate(found) for name in tie if name in shard}
        assert len(homes) <= 1


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 50), min_size=1), st.integers(1, 9))
def test_the_work_is_balanced(weights: dict[str, int], count: int) -> None:
    most = max(weights.values())
    for shard in shards(weights, [], count):
        assert sum(weights[name] for name in shard) <= sum(weights.values()) / count + most


def test_a_large_group_leaves_no_shard_empty() -> None:
    weights = dict.fromkeys(NAMES, 10)
    large = [name for name in NAMES if name < "f20.py"]
    found = shards(weights, [large], 4)
    assert sorted(len(shard) for shard in found) == [3, 3, 4, 20]


def test_tied_through_a_third() -> None:
    ties = [["f00.py", "f29.py"], ["f29.py", "f15.py"], ["f15.py", "f07.py"]]
    found = shards(dict.fromkeys(NAMES, 1), ties, 5)
    assert any({"f00.py", "f07.py", "f15.py", "f29.py"} <= shard for shard in found)


def test_a_new_file_moves_few_others() -> None:
    weights = dict.fromkeys(NAMES, 10)
    before = shards(weights, [], 4)
    after = shards(weights | {"f10a.py": 10}, [], 4)
    moved = [name for name in NAMES if [name in s for s in before] != [name in s for s in after]]
    assert len(moved) <= 2


def test_more_shards_than_files() -> None:
    found = shards({"a.py": 5, "b.py": 5}, [], 6)
    assert sorted(len(shard) for shard in found) == [0, 0, 0, 0, 1, 1]

"""Comparing observations: what counts as the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tapemigrate.verify import wire
from tapemigrate.verify.compare import TOLERANCES, compare, differences


def f32(*values: float) -> wire.Array:
    return wire.array(np.array(values, np.float32))


def slices(values: list[float], rows: list[int]) -> wire.Array:
    return wire.array(np.array(values, np.float32), rows)


def problems(before: Any, after: Any) -> list[str]:
    return [found.message for found in differences(before, after, TOLERANCES) if found.message]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f32(1, 2), f32(1, 2 + 1e-6)),
        (f32(1000, 1e-6), f32(1000, 0)),
        (f32(0, 0), f32(0, 5e-9)),
        (f32(np.nan, np.inf), f32(np.nan, np.inf)),
        (f32(), f32()),
        ([None, (f32(1), {"a": 2})], [None, (f32(1), {"a": 2})]),
        (slices([1, 2, 3], [0, 2, 0]), f32(4, 0, 2)),
        (slices([1, 2], [2, 0]), slices([2, 1], [0, 2])),
        (slices([1], [0]), f32(1, 0, 0)),
        (2, 2.0),
        (wire.array("text"), wire.array(b"text")),
    ],
)
def test_same(before: Any, after: Any) -> None:
    assert not problems(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f32(1, 2), f32(1, 2.001)),
        (f32(1), None),
        (None, f32(0)),
        (f32(1), f32(1, 1)),
        (f32(1), wire.array(np.array([1.0]))),
        (f32(1, np.nan), f32(1, 1)),
        (f32(np.inf), f32(-np.inf)),
        ([f32(1)], (f32(1),)),
        ([f32(1)], [f32(1), None]),
        ({"a": f32(1)}, {"b": f32(1)}),
        (slices([1, 2], [0, 1]), f32(2, 1)),
        (slices([1], [0]), f32(1, 0, 1)),
        (True, 1),
        (wire.array(np.array([1, 2])), wire.array(np.array([1, 3]))),
    ],
)
def test_different(before: Any, after: Any) -> None:
    assert problems(before, after)


def test_message_names_the_worst_element() -> None:
    [message] = problems(f32(1, 5, 3), f32(1.1, 9, 3))
    assert message == "at [1] 5.0 before, 9.0 after, relative difference 0.8"


def test_float64_is_held_to_more_digits() -> None:
    before, after = np.array([1.0]), np.array([1.0 + 1e-9])
    assert problems(wire.array(before), wire.array(after))
    assert not problems(wire.array(before.astype("f4")), wire.array(after.astype("f4")))


def observation(*calls: wire.Call, outputs: Any = None) -> wire.Observation:
    return wire.Observation(outputs=outputs, calls=calls)


def call(row: int, *gradients: Any, api: str = "gradients") -> wire.Call:
    return wire.Call(api, "train.py", row, gradients)


def test_merged_and_reordered_calls_find_their_sites() -> None:
    before = observation(call(3, f32(1)), call(4, f32(2)), call(5, None))
    after = observation(call(9, f32(7), api="tape.gradient"), call(3, None, f32(2), f32(1)))
    found = compare(before, after)
    assert found.verdict == "VERIFIED"
    assert [(site.row, site.verdict) for site in found.sites] == [
        (3, "VERIFIED"),
        (4, "VERIFIED"),
        (5, "VERIFIED"),
    ]


def test_a_gradient_matches_once() -> None:
    before = observation(call(3, f32(1)), call(4, f32(1)))
    found = compare(before, observation(call(3, f32(1))))
    assert [site.verdict for site in found.sites] == ["VERIFIED", "REFUTED"]
    assert found.verdict == "REFUTED"


def test_runs_of_one_site_are_counted_and_the_worst_stands() -> None:
    before = observation(call(3, f32(1)), call(3, f32(2)), call(3, f32(1)))
    found = compare(before, observation(call(3, f32(1)), call(3, f32(1))))
    [site] = found.sites
    assert (site.verdict, site.runs) == ("REFUTED", 3)


def test_zeros_alone_are_told() -> None:
    zeros = (call(3, f32(0, 0), None), call(4, f32(0)), call(4, f32(1)), call(4, f32(0)))
    others = (call(5, f32()), call(6, None), call(7, f32(0), f32(1)))
    found = compare(observation(*zeros, *others), observation(*zeros, *others))
    assert {site.verdict for site in found.sites} == {"VERIFIED"}
    assert {site.row: "is 0 on both sides" in site.detail for site in found.sites} == {
        3: True,
        **dict.fromkeys([4, 5, 6, 7], False),
    }


def test_what_could_not_be_looked_at_is_not_verified() -> None:
    before = observation(call(3, wire.Unseen("in a loop")))
    [site] = compare(before, observation(call(3, f32(1)))).sites
    assert (site.verdict, site.detail) == ("UNVERIFIED", "in a loop")


def test_failures() -> None:
    fine, failed = observation(outputs=f32(1)), wire.Observation(error="ValueError: no")
    assert compare(failed, fine).verdict == "UNVERIFIED"
    assert compare(failed, failed).verdict == "UNVERIFIED"
    assert compare(fine, failed).verdict == "REFUTED"


@pytest.mark.parametrize(
    "value",
    [
        f32(1.1, np.nan, -np.inf),
        wire.array(np.array([[1 + 2j]], np.complex64)),
        wire.array(np.zeros((0, 3), np.int64)),
        wire.array(np.array(True)),
        wire.array(np.array([b"a", "ü"], dtype=object)),
        slices([1, 2], [3, 0]),
        [None, (1, 2.5, "a"), {"k": [f32(1)], 3: ()}],
        wire.Unseen("why"),
        wire.Opaque("Operation"),
    ],
)
def test_json_round_trip(value: Any) -> None:
    again = wire.parse(json.loads(json.dumps(wire.dump(value))))
    if isinstance(value, (wire.Unseen, wire.Opaque)):
        assert again == value
    else:
        assert not problems(value, again)

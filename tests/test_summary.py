"""What a run came to, in a sentence that counts what a reader would count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tapemigrate.command import summary
from tapemigrate.model import Diagnostic, Fix, Position, Proof
from tapemigrate.runner import FileResult, Outcome


def found(*codes: str, applicability: str = "safe") -> tuple[Diagnostic, ...]:
    here = Position(1, 1)
    fix = None if applicability == "flag" else Fix("safe", "m")
    return tuple(Diagnostic(code, "m", "a.py", here, here, fix=fix) for code in codes)


@pytest.mark.parametrize(
    ("codes", "deeds"),
    [
        (["TM101"], "1 call"),
        (["TM101", "TM111", "TM204"], "2 calls"),
        (["TM101", "TM116", "TM116"], "1 call and 2 other places"),
        (["TM116", "TM910"], "1 place"),
        (["TM301", "TM306"], "2 places"),
    ],
)
def test_imports_and_arguments_are_no_calls(codes: list[str], deeds: str) -> None:
    outcome = Outcome([FileResult("a.py", (), found(*codes), new=b"")], [], ["a.py"])
    assert summary.of_fix(outcome, written=True) == [f"Rewrote {deeds} in 1 file."]
    assert summary.of_fix(outcome, written=False) == [f"Would rewrite {deeds} in 1 file."]


def test_suppressions_that_go() -> None:
    outcome = Outcome([FileResult("a.py", (), found("TM910"), new=b"")], [], ["a.py"])
    assert summary.of_fix(outcome, written=True) == ["Removed 1 unused suppression in 1 file."]


def test_what_a_baseline_knows_is_counted() -> None:
    outcome = Outcome([], [], ["a.py", "b.py"], known=3)
    assert summary.of_check(outcome) == [
        "Nothing new to migrate in 2 files; 3 known from the baseline."
    ]
    outcome = Outcome([FileResult("a.py", found("TM101"))], [], ["a.py", "b.py"], known=3)
    assert summary.of_check(outcome) == [
        "Found 1 new problem in 1 file; 1 can be fixed with `tapemigrate fix`; "
        "3 known from the baseline."
    ]


def test_what_needs_a_look_is_told_by_its_reasons() -> None:
    here = Position(1, 1)
    stays = "`tf.gradients` raises, and is left as it is"
    told = [
        *(
            f"{stays}: `{name}` in line {row} of a.py is a parameter"
            for row, name in enumerate("abc")
        ),
        *(f"{stays}: no tape gets through `tf.map_fn`" for _ in range(2)),
        *(f"{stays}: reason {reason}" for reason in "rstuv"),
    ]
    flags = tuple(Diagnostic("TM101", message, "a.py", here, here) for message in told)
    lines = summary.of_check(Outcome([FileResult("a.py", flags)], [], ["a.py"]))
    assert lines == [
        "Found 10 problems in 1 file; 10 need a look:",
        f"  3 × TM101: {stays}: … in … of … is a parameter",
        f"  2 × TM101: {stays}: no tape gets through `tf.map_fn`",
        *(f"  1 × TM101: {stays}: reason {reason}" for reason in "rst"),
        "  and 2 more",
    ]


@pytest.mark.parametrize(
    ("proof", "told"),
    [(None, "1 more with another run"), (Proof("UNVERIFIED", "d"), "1 more without --verify")],
)
def test_what_would_bring_the_rest(proof: Proof | None, told: str) -> None:
    (left,) = found("TM101")
    outcome = Outcome([FileResult("a.py", (replace(left, proof=proof),))], [], ["a.py"])
    assert summary.of_fix(outcome, written=True) == [f"{told}."]

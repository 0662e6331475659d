"""What a fix rests on, told as one sentence."""

from __future__ import annotations

import pytest

from tapemigrate.rules.conditions import apart, right_if


@pytest.mark.parametrize(
    ("assumptions", "told"),
    [
        ([], ""),
        (["`net` gives trainable variables"], "; right if `net` gives trainable variables"),
        (
            ["`z`, a parameter, was not computed from `x`"],
            "; right if `z`, a parameter, was not computed from `x`",
        ),
        (
            [f"`{name}`, a parameter, was not computed from `x`" for name in "abc"],
            "; right if `a`, `b` and `c`, parameters, were not computed from `x`",
        ),
        (
            [
                *(f"`{name}`, a parameter, keeps nothing that was made of `x`" for name in "ab"),
                *(f"`{name}` keeps nothing that was made of `x`" for name in "cd"),
            ],
            "; right if `a` and `b`, parameters, keep nothing that was made of `x`, and `c` and "
            "`d` keep nothing that was made of `x`",
        ),
        (
            [
                "`self.a` was not computed from the variables (line 3)",
                "`f` reads nothing that was computed from the variables",
                "`self.b` was not computed from the variables (line 3)",
                "`c` was not computed from the variables",
                "`g` reads nothing that was computed from the variables",
            ],
            "; right if `self.a` and `self.b` were not computed from the variables (line 3), and "
            "`f` and `g` read nothing that was computed from the variables, and "
            "`c` was not computed from the variables",
        ),
        (
            [
                "`x`, a parameter, was not computed from `t`",
                "`t`, a parameter, was not computed from `x`",
                "`z` is a list",
            ],
            "; right if none of `t` and `x`, parameters, was computed from another, and "
            "`z` is a list",
        ),
        (
            [
                "`x`, a parameter, was not computed from `t`",
                "`t`, a parameter, was not computed from `x`",
                "`z`, a parameter, was not computed from `x`",
            ],
            "; right if `x`, a parameter, was not computed from `t`, and "
            "`t` and `z`, parameters, were not computed from `x`",
        ),
        (
            [
                f"`update`, called in {place}, is a method of the files at hand"
                for place in ("a.py, line 3", "b.py, line 4")
            ],
            "; right if `update`, called in a.py, line 3 and b.py, line 4, is a method of the "
            "files at hand",
        ),
        (
            [
                f"`f`, called in a.py, line {n}, is a method of the files at hand"
                for n in range(1, 6)
            ],
            "; right if `f`, called in a.py, line 1, a.py, line 2, a.py, line 3 and 2 other "
            "places, is a method of the files at hand",
        ),
    ],
)
def test_names_of_which_the_same_is_assumed_stand_together(
    assumptions: list[str], told: str
) -> None:
    assert right_if(assumptions) == told


def test_assumptions_are_told_apart() -> None:
    assumptions = ["`a` and `b`, parameters, were not computed from `x`", "`z` is a list"]
    message = "Record on a tape" + right_if(assumptions)
    assert apart(message) == ("Record on a tape", assumptions)
    assert apart("Record on a tape" + right_if(assumptions[1:])) == (
        "Record on a tape",
        assumptions[1:],
    )
    assert apart("Record on a tape") == ("Record on a tape", [])

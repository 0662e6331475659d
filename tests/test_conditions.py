"""What a fix rests on, told as one sentence."""

from __future__ import annotations

import pytest

from tapemigrate.rules.conditions import right_if


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
    ],
)
def test_names_of_which_the_same_is_assumed_stand_together(
    assumptions: list[str], told: str
) -> None:
    assert right_if(assumptions) == told

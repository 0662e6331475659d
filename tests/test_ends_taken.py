"""Ends of functions that constants passed rule out: see ``rules/values/ends_taken.py``."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.variables.ends_taken import ends_taken
from tapemigrate.source.decoding import SourceFile

_PLAIN = """
    if trainable:
        return 1
    else:
        return 2
"""
_EARLY = """
    if not trainable:
        return 1
    return 2
"""
_DEEP = """
    with scope:
        if trainable:
            if scope:
                return 1
            raise ValueError()
        for each in scope:
            return 2
    return 3
"""
_AGAIN = """
    trainable = trainable and scope
    if trainable:
        return 1
    return 2
"""


@pytest.mark.parametrize(
    ("body", "call", "ends"),
    [
        (_PLAIN, "get(s, True)", [1]),
        (_PLAIN, "get(s, trainable=False)", [2]),
        (_PLAIN, "get(s)", [1]),
        (_PLAIN, "get(s, None)", [2]),
        (_PLAIN, "get(s, flag)", [1, 2]),
        (_PLAIN, "get(s, *rest)", [1, 2]),
        (_PLAIN, "get(s, **rest)", [1, 2]),
        (_EARLY, "get(s, True)", [2]),
        (_EARLY, "get(s, False)", [1]),
        (_EARLY, "get(s, flag)", [1, 2]),
        (_DEEP, "get(s, True)", [1, 3]),
        (_DEEP, "get(s, False)", [2, 3]),
        (_AGAIN, "get(s, True)", [1, 2]),
    ],
)
def test_ends(body: str, call: str, ends: list[int]) -> None:
    text = f"def get(scope, trainable=True):{body}\n\n{call}\n"
    project = Project({"a.py": unit(SourceFile("a.py", text))})
    home = project.units["a.py"]
    (function,) = home.nodes(ast.FunctionDef)
    asked = next(n for n in home.nodes(ast.Call) if ast.unparse(n) == call)
    found = dict.fromkeys(ends_taken(project.view(home, function), asked))
    assert [ast.literal_eval(end.value) for end in found if end.value] == ends

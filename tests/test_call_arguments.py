"""What calls pass for the parameters of functions, and where that cannot be seen."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.callgraph.arguments import argument_for, hides_argument


def _of(definition: str, call: str) -> tuple[ast.FunctionDef, ast.Call]:
    function = ast.parse(f"def {definition}: ...").body[0]
    made = ast.parse(call, mode="eval").body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(made, ast.Call)
    return function, made


@pytest.mark.parametrize(
    ("definition", "call", "passed"),
    [
        ("f(x, y)", "f(a, b)", "b"),
        ("f(x, y)", "f(a, y=b)", "b"),
        ("f(x, y=1)", "f(a)", "1"),
        ("f(x, *, y)", "f(a, y=b)", "b"),
        ("f(x, y)", "f(a)", None),
        ("f(x)", "f(a)", None),
    ],
)
def test_what_is_passed(definition: str, call: str, passed: str | None) -> None:
    function, made = _of(definition, call)
    found = argument_for(made, function, "y", method=False)
    assert (None if found is None else ast.unparse(found)) == passed
    assert not hides_argument(made, function, "y", method=False)


@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("f(x, y)", "f(*values)"),
        ("f(x, y)", "f(a, **settings)"),
        ("f(x, *y)", "f(a, b)"),
        ("f(x, **y)", "f(a, k=b)"),
        ("f(x, *y)", "f(a, *values)"),
    ],
)
def test_what_is_not_seen(definition: str, call: str) -> None:
    function, made = _of(definition, call)
    assert argument_for(made, function, "y", method=False) is None
    assert hides_argument(made, function, "y", method=False)


@pytest.mark.parametrize(
    ("definition", "call", "hidden"),
    [
        ("f(self, x, *y)", "net.f(a)", False),
        ("f(self, x, *y)", "net.f(a, b)", True),
        ("f(self, x, *y)", "Net.f(self, a)", False),
        ("__init__(self, x, *y)", "Net(a, b)", True),
        ("f(self, x, **y)", "net.f(x=a)", False),
    ],
)
def test_of_methods(definition: str, call: str, hidden: bool) -> None:
    function, made = _of(definition, call)
    assert hides_argument(made, function, "y", method=True) is hidden

"""Where a value holds functions, or the objects that one was made with."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.flow.code_held import code_held, paths_called, paths_held


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "called", "expected"),
    [
        ("f", False, {"f"}),
        ("[f, *others, (g if a else h)]", False, {"f", "others", "g", "h"}),
        ("{'a': net.act}", False, {"net.act"}),
        ("[f for f in fs]", False, {"f"}),
        ("layers + [f]", False, {"layers", "f"}),
        ("Net(f, act=g)", False, {"f", "g"}),
        ("functools.partial(f, rows)", False, {"functools.partial", "f", "rows"}),
        ("make(f)", True, {"make", "f"}),
        ("make(f)", False, set()),
        ("make(f)(x)", False, set()),
        ("x[0]", False, {"x[0]"}),
    ],
)
def test_code(text: str, called: bool, expected: set[str]) -> None:
    assert {ast.unparse(each) for each in code_held(expression(text), called)} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("make(rows, [net.other], self)", {("rows",), ("net", ".other")}),
        ("stack.pop", {("stack",)}),
        ("self.rows.pop", {("self", ".rows")}),
        ("self.policy", set()),
        ("rows", set()),
        ("Net(rows)", set()),
        ("3.0", set()),
    ],
)
def test_paths(text: str, expected: set[tuple[str, ...]]) -> None:
    assert paths_held(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = make(rows)\nf(x)\n", {("f",)}),
        ("for act in acts:\n    h = act(h)\n", {("act",), ("acts",)}),
        ("g = f\ng(x)\n", {("g",), ("f",)}),
        ("net = Net()\nnet.build(x)\n", set()),
        ("rows.append(x)\ny.get_shape()\n", set()),
        ("pop()\n", {("pop",)}),
    ],
)
def test_what_is_called(text: str, expected: set[tuple[str, ...]]) -> None:
    known = {("f",), ("rows",), ("act",), ("acts",), ("g",), ("net",), ("y",), ("pop",)}
    assert paths_called(ast.parse(text)) & known == expected

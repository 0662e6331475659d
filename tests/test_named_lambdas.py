"""Lambdas that are given a name: which are read as functions, and what is written of them."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.codemods import apply
from tapemigrate.source.named_lambdas import is_lambda, may_define, name_lambdas
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import AddParameter, Op, Wrap


def read(text: str) -> ast.Module:
    tree = ast.parse(text)
    name_lambdas(tree, text)
    return tree


def functions(text: str) -> list[str]:
    return [n.name for n in ast.walk(read(text)) if isinstance(n, ast.FunctionDef) and is_lambda(n)]


@pytest.mark.parametrize(
    "text",
    [
        "f = lambda x: x\n",
        "f = lambda x: x  # the same\n",
        "f = (lambda x:\n     x)\n",
        "if a:\n    f = lambda: 1\n",
        "try:\n    pass\nfinally:\n    f = lambda *a, **k: (a, k)\n",
        "class A:\n    f = lambda self: self\n",
    ],
)
def test_is_read_as_a_function(text: str) -> None:
    assert functions(text) == ["f"]


@pytest.mark.parametrize(
    "text",
    [
        "f = g = lambda x: x\n",
        "a.f = lambda x: x\n",
        "f = [lambda x: x]\n",
        "if a: f = lambda x: x\n",
        "f = lambda x: x; y = 1\n",
        "y = 1; f = lambda x: x\n",
        "def g():\n    f = lambda: (yield)\n",
    ],
)
def test_stays_a_lambda(text: str) -> None:
    assert not functions(text)
    assert any(isinstance(node, ast.Lambda) for node in ast.walk(read(text)))


def test_a_function_is_no_lambda() -> None:
    (function,) = ast.parse("def f(x): return x\n").body
    assert isinstance(function, ast.FunctionDef)
    assert not is_lambda(function)


def test_nodes_keep_their_places() -> None:
    (function,) = read("π = lambda x: x + 1\n").body
    assert isinstance(function, ast.FunctionDef)
    assert Lines("π = lambda x: x + 1\n").span(function) == Span(1, 0, 1, 19)
    assert Lines("π = lambda x: x + 1\n").span(function.body[0]) == Span(1, 14, 1, 19)


def test_may_define() -> None:
    assert may_define("def f(): pass", "f")
    assert may_define("f = lambda: 1", "f")
    assert not may_define("f = 1", "f")


def with_tape(tree: ast.Module, text: str) -> list[Op]:
    """A tape round what each lambda gives."""
    lines = Lines(text)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and is_lambda(n)]
    spans = [lines.span(function.body[0]) for function in found]
    return [Wrap(span, span, "with tape:") for span in spans]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = lambda x: x\n", "def f(x):\n    with tape:\n        return x\n"),
        ("f = lambda x: x  # c\n", "def f(x):\n    with tape:\n        return x  # c\n"),
        (
            "f = (lambda x:\n     x +\n     1)\n",
            "def f(x):\n    with tape:\n        return (x +\n             1)\n",
        ),
        (
            "a = 1\nf = lambda: 1\ng = lambda: 2\nb = 2\n",
            "a = 1\n\n\ndef f():\n    with tape:\n        return 1\n\n\n"
            "def g():\n    with tape:\n        return 2\n\n\nb = 2\n",
        ),
        (
            "class A:\n  f = lambda self: 1\n  g = lambda self: 2\n",
            "class A:\n  def f(self):\n    with tape:\n      return 1\n\n"
            "  def g(self):\n    with tape:\n      return 2\n",
        ),
        (
            "def h():\n    f = lambda: 1\n    g = lambda: 2\n    return f, g\n",
            "def h():\n    def f():\n        with tape:\n            return 1\n\n"
            "    def g():\n        with tape:\n            return 2\n\n    return f, g\n",
        ),
    ],
)
def test_statements_in_it_make_it_a_function(text: str, expected: str) -> None:
    tree = read(text)
    assert apply(text, tree, with_tape(tree, text)) == expected


@pytest.mark.parametrize(
    ("before", "optional", "after"),
    [
        ("lambda: 1", False, "lambda tape: 1"),
        ("lambda x: x", False, "lambda x, tape: x"),
        ("lambda x, : x", False, "lambda x, tape : x"),
        ("lambda x, k=2: x", False, "lambda x, k=2, *, tape: x"),
        ("lambda x, k=2: x", True, "lambda x, k=2, tape=None: x"),
        ("lambda x={1: 2}, k=lambda y: y: x", True, "lambda x={1: 2}, k=lambda y: y, tape=None: x"),
        ("lambda *a: a", False, "lambda *a, tape: a"),
        ("lambda **k: k", False, "lambda tape, **k: k"),
        ("(lambda x: x)", False, "(lambda x, tape: x)"),
    ],
)
def test_a_parameter_leaves_it_a_lambda(before: str, optional: bool, after: str) -> None:
    text = f"f = {before}\n"
    tree = read(text)
    op = AddParameter(Lines(text).span(tree.body[0]), "tape", optional)
    assert apply(text, tree, [op]) == f"f = {after}\n"

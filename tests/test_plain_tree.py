"""What a file is read as does not depend on how often it was parsed before."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tapemigrate.source import plain_tree as tested
from tapemigrate.source.decoding import SourceFile

FAMILIES = ("flow", "orders", "threaded", "traps", "unsafe")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_is_the_same_tree_each_time(family: str) -> None:
    for path in sorted(Path("fixtures", family).rglob("*.py")):
        file = SourceFile(str(path), path.read_text(encoding="utf-8"))
        first = _dump(tested.plain_tree(file))
        assert _dump(tested.plain_tree(file)) == first, path


def test_what_a_pass_changes_is_done_again() -> None:
    for text in (
        "def f(a):\n    b, c = g(), h()\n    return b\n",
        "def f(*args):\n    a, *rest = [args, 1]\n    return g(*rest)\n",
        "from functools import partial\ndef f(a):\n    h = partial(g, a)\n    return h(1)\n",
        "def f(a):\n    return g(*[a, 1])\n",
    ):
        file = SourceFile("f.py", text)
        first = _dump(tested.plain_tree(file))
        assert first != _dump(ast.parse(text)), text
        assert _dump(tested.plain_tree(file)) == first, text


def _dump(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True)

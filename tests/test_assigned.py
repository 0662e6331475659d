"""What attributes are given by the methods of a class: by which names, and what these are."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.indexes import effects_of
from tapemigrate.rules.kept_units import unit
from tapemigrate.source.decoding import SourceFile


def written(body: str, name: str = "kept") -> list[str]:
    lines = body.replace("\n", "\n        ")
    text = f"class Net:\n    def build(self, x, handed):\n        {lines}\n"
    here = unit(SourceFile("net.py", text))
    (cls,) = here.nodes(ast.ClassDef)
    return [ast.unparse(value) for value in assigned_in(here, cls).get(name, ())]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("self.kept = [x]", "[x]"),
        ("made = [x]\nprint(len(made))\nself.kept = made", "[x]"),
        ("made = Part(x)\nassert made is not None\nself.kept = made", "Part(x)"),
        ("self.kept = made = [x]", "[x]"),
        ("self.kept, n = [x], 1", "[x]"),
    ],
)
def test_what_a_name_stands_for(body: str, value: str) -> None:
    assert written(body) == [value]


@pytest.mark.parametrize(
    "body",
    [
        # More may be put in by the name.
        "made = [x]\nmade.append(x)\nself.kept = made",
        "made = [x]\nfill(made)\nself.kept = made",
        "made = [x]\nmade[0] = x\nself.kept = made",
        "made = [x]\nother = (made, 1)\nself.kept = made",
        # It may be another one.
        "made = [x]\nmade = [x, x]\nprint(x)\nself.kept = made",
        "if x:\n    handed = [x]\n    print(x)\nself.kept = handed",
        # What an op, or a function, gives is asked about by its name.
        "made = tf.sin(x)\nprint(x)\nself.kept = made",
    ],
)
def test_a_name_that_stands_for_itself(body: str) -> None:
    assert written(body) in (["made"], ["handed"])


def test_what_is_kept_beside_something_else() -> None:
    here = unit(SourceFile("net.py", "def build(net, x):\n    net.shape, net.n = tf.exp(x), 3\n"))
    assert [ast.unparse(value) for value in effects_of(here).kept("shape")] == ["tf.exp(x)"]

"""Functions that AutoGraph converts, found through those that call them."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.callgraph.converted import may_be_converted
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Mentions, Project
from tapemigrate.source import parse

_WIDTH = 6


def layers(decorator: str) -> Unit:
    """Functions in four layers, each of which all of the next one call, and one more above."""
    text = "import tensorflow as tf\n@tf.function\ndef other(): ...\n"
    text += f"{decorator}\ndef f_4_0(): f_3_0()\n"
    for layer in range(4):
        calls = "; ".join(f"f_{layer - 1}_{k}()" for k in range(_WIDTH)) if layer else "..."
        text += "".join(f"def f_{layer}_{k}(): {calls}\n" for k in range(_WIDTH))
    return Unit("layers.py", text, parse(text, "layers.py"))


@pytest.mark.parametrize(("decorator", "converted"), [("", False), ("@tf.function", True)])
def test_each_function_is_asked_about_once(
    monkeypatch: pytest.MonkeyPatch, decorator: str, converted: bool
) -> None:
    unit = layers(decorator)
    asked: list[str] = []
    mentions = Project.mentions

    def counted(project: Project, name: str) -> Mentions:
        asked.append(name)
        return mentions(project, name)

    monkeypatch.setattr(Project, "mentions", counted)
    first = next(n for n in unit.definitions if n.name == "f_0_0")
    assert isinstance(first, ast.FunctionDef)
    assert may_be_converted(Project({"layers.py": unit}), unit, first) is converted
    assert len(asked) <= 4 * _WIDTH

"""Parts of objects that a text names: as which attribute each is read."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.source.named_parts import name_parts


def read(stmt: str) -> str:
    text = f"import tensorflow as tf\nimport models\n\n\n{stmt}"
    tree = ast.parse(text)
    name_parts(tree, text)
    return ast.unparse(tree.body[-1])


@pytest.mark.parametrize(
    ("stmt", "plain"),
    [
        ("y = getattr(self, 'x')", "y = self.x"),
        ("y = getattr(getattr(self, 'net'), 'x') + 1", "y = self.net.x + 1"),
        ("y = self.__dict__['x']", "y = self.x"),
        ("y = vars(self)['x']", "y = self.x"),
        ("self.__dict__['x'] = h", "self.x = h"),
        ("setattr(self, 'x', getattr(net, 'h'))", "self.x = net.h"),
    ],
)
def test_what_is_looked_up_by_a_text_is_an_attribute(stmt: str, plain: str) -> None:
    assert read(stmt) == plain


@pytest.mark.parametrize(
    "stmt",
    [
        "y = getattr(self, name)",
        "y = getattr(self, 'x', None)",
        "y = getattr(self, '__x')",
        "y = getattr(self, 'not a name')",
        "y = getattr(tf, 'gradients')",
        "y = getattr(models.nets, 'x')",
        "y = getattr(nets[0], 'x')",
        "setattr(self, name, h)",
        "y = setattr(self, 'x', h)",
    ],
)
def test_what_may_be_something_else_stays(stmt: str) -> None:
    assert read(stmt) == stmt


def test_nodes_keep_their_places() -> None:
    text = "y = getattr(self, 'x')\nsetattr(self, 'h', y)\n"
    tree = ast.parse(text)
    name_parts(tree, text)
    read, kept = tree.body
    assert isinstance(read, ast.Assign)
    assert ast.get_source_segment(text, read.value) == "getattr(self, 'x')"
    assert ast.get_source_segment(text, kept) == "setattr(self, 'h', y)"

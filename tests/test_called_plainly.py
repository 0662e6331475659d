"""Calls of what is looked up or handed on: what plain call each is read as."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.source.called_plainly import call_plainly
from tapemigrate.source.decoding import SourceFile
from tapemigrate.source.plain_tree import plain_tree

HEAD = """import tensorflow as tf
import models


def apply(function, *args, **kwargs):
    '''Calls it.'''
    return function(*args, **kwargs)


def timed(function, *args, **kwargs):
    print(function)
    return function(*args, **kwargs)


def first(function, *args):
    return function(*args)


class Net:
    def build(self, x):
        return x


"""


def read(call: str, head: str = HEAD) -> str:
    text = head + call
    tree = ast.parse(text)
    call_plainly(tree, text)
    return ast.unparse(tree.body[-1])


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        ("getattr(net, 'build')(x)", "net.build(x)"),
        ("getattr(self.net, 'build')(x)", "self.net.build(x)"),
        ("y = 2 * getattr(net, 'build')(x=x)", "y = 2 * net.build(x=x)"),
        ("apply(f, x)", "f(x)"),
        ("apply(net.build, x, k=1)", "net.build(x, k=1)"),
        ("apply(getattr(net, 'build'), x); getattr(net, 'build')(x)", "net.build(x)"),
        ("apply(f, apply(g, x))", "f(g(x))"),
        ("apply(f, *values, **settings)", "f(*values, **settings)"),
    ],
)
def test_is_read_as(call: str, plain: str) -> None:
    assert read(call) == plain


@pytest.mark.parametrize(
    "call",
    [
        "getattr(net, 'other')(x)",  # no method of that name is at hand
        "getattr(net, 'build', None)(x)",
        "getattr(net, name)(x)",
        "getattr(models, 'build')(x)",
        "getattr(tf, 'gradients')(y, x)",
        "build = getattr(net, 'build')",
        "apply(tf.gradients, y, x)",
        "apply(models.build, x)",
        "apply(lambda v: v, x)",
        "apply(function=f)",
        "timed(f, x)",
        "first(f, x)",
    ],
)
def test_stays(call: str) -> None:
    assert read(call) == ast.unparse(ast.parse(call))


@pytest.mark.parametrize(
    "more",
    ["apply = print\n", "from models import apply\n", "def g(apply): ...\n", "class apply: ...\n"],
)
def test_a_name_of_several_meanings_stays(more: str) -> None:
    assert read("apply(f, x)", HEAD + more) == "apply(f, x)"


def test_nodes_keep_their_places() -> None:
    text = HEAD + "z = getattr(net, 'build')(x)\n"
    stmt = plain_tree(SourceFile("main.py", text)).body[-1]
    assert isinstance(stmt, ast.Assign)
    assert ast.get_source_segment(text, stmt.value) == "getattr(net, 'build')(x)"

"""Calls that unpack what stands there, or are of a partial: what plain call each is read as."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.source.choices import settle_choices
from tapemigrate.source.decoding import SourceFile
from tapemigrate.source.plain_tree import plain_tree
from tapemigrate.source.spelled_out import spell_out_calls
from tapemigrate.source.trees import walk

HEAD = "import functools\nimport tensorflow as tf\nfrom functools import partial\n"


def read(call: str) -> str:
    text = HEAD + call
    tree = ast.parse(text)
    spell_out_calls(tree, text)
    return ast.unparse(tree.body[-1])


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        ("f(*[a, b])", "f(a, b)"),
        ("f(a, *(b, c), d)", "f(a, b, c, d)"),
        ("self.f(*[a], k=1)", "self.f(a, k=1)"),
        ("f(**{'x': a})", "f(x=a)"),
        ("f(b, **{'x': a}, k=1)", "f(b, x=a, k=1)"),
        ("partial(f, a)(b)", "f(a, b)"),
        ("functools.partial(f, a, k=1)(b)", "f(a, b, k=1)"),
        ("partial(f, *[a])(*[b])", "f(a, b)"),
        ("g(f(*[a, b]))", "g(f(a, b))"),
    ],
)
def test_is_read_as(call: str, plain: str) -> None:
    assert read(call) == plain


@pytest.mark.parametrize(
    "call",
    [
        "f(*values)",
        "f(*[*values, a] if c else [a])",
        "f(**{name: a})",
        "f(**{**settings})",
        "tf.gradients(*[y, x])",
        "partial(f, a)",
        "partial(f, k=1)(k=2)",
        "partial(f, **settings)(b)",
        "partial(tf.add, a)(b)",
        "mine.partial(f, a)(b)",
    ],
)
def test_stays(call: str) -> None:
    assert read(call) == ast.unparse(ast.parse(call))


def test_nodes_keep_their_places() -> None:
    text = "f(*[a, b], **{'x': c})\n"
    tree = ast.parse(text)
    spell_out_calls(tree, text)
    (stmt,) = tree.body
    assert isinstance(stmt, ast.Expr)
    assert isinstance(stmt.value, ast.Call)
    places = [each.col_offset for each in (*stmt.value.args, *stmt.value.keywords)]
    assert places == [4, 7, 19]


KEPT = """
class Kept:
    def __init__(self, x):
        self.x = x
"""


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("given = [x, y]; f(*given)", "f(x, y)"),
        ("given = (x, y); f(*given, z)", "f(x, y, z)"),
        ("given = {'k': x}; f(**given)", "f(k=x)"),
        ("given = dict(k=x); f(y, **given)", "f(y, k=x)"),
        ("later = partial(f, x, k=1); later(y)", "f(x, y, k=1)"),
        ("later = partial(net.f, x); later()", "net.f(x)"),
        ("table = {'do': f}; table['do'](x)", "f(x)"),
        ("given = types.SimpleNamespace(k=x); f(given.k)", "f(x)"),
        ("given = Pair(x, y); f(*given)", "f(x, y)"),
        ("given = Pair(y=x, x=y); f(given.x, given.y)", "f(y, x)"),
        ("given = Kept(x); f(given.x)", "f(x)"),
        # What has no name of its own goes by the text that reads it.
        ("given = [x + 1]; f(*given)", "f(given[0])"),
        ("given = {'k': net.x}; f(**given)", "f(k=net.x)"),
        ("given = {'k': net.x}; net.y = f(**given)", "net.y = f(k=net.x)"),
        ("given = {'k': net.x}; g(); f(**given)", "f(k=given['k'])"),
        ("given = {'k': net.x}; f(g(), **given)", "f(g(), k=given['k'])"),
        ("given = {'k': net.x}; net.x = y; f(**given)", "f(k=given['k'])"),
        ("later = partial(f, x + 1, k=-x); later(y)", None),
        # So does what has another meaning by then.
        ("given = [x]; x = 2; f(*given)", "f(given[0])"),
        ("given = [x]\n    for i in y: f(*given); x = i", None),
    ],
)
def test_what_a_name_carries(body: str, last: str | None) -> None:
    text = f"{HEAD}import types\nfrom collections import namedtuple\n{KEPT}"
    text += f"Pair = namedtuple('Pair', 'x y')\ndef run(x, y, z, net):\n    {body}\n"
    tree = ast.parse(text)
    spell_out_calls(tree, text)
    done = ast.unparse(tree)
    if last is not None:
        assert done.splitlines()[-1].strip() == last
    elif "later" in body:
        assert "f(later.args[0], y, k=later.keywords['k'])" in done
        assert "partial(f, (later.args[0] := " in done
    else:
        assert "f(given[0])" in done


@pytest.mark.parametrize(
    "body",
    [
        "given = [x]; given.append(y); f(*given)",
        "given = [x]; g(given); f(*given)",
        "given = [x]; given = [y]; f(*given)",
        "given = [x]; given += [y]; f(*given)",
        "given = {'k': x}; given['k'] = y; f(**given)",
        "given = types.SimpleNamespace(k=x); given.k = y; f(given.k)",
        "other = given = [x]; f(*given)",
        "given = [*x]; f(*given)",
        "given = [x]; tf.gradients(*given)",
        "given = [x]; g(f)(*given)",
        "f(*given); given = [x]",
        "later = partial(f, x); later(**y)",
        "later = partial(f, k=1); later(k=2)",
        "later = partial(f, x); f = y; later()",
    ],
)
def test_what_may_be_something_else(body: str) -> None:
    text = f"{HEAD}import types\ndef run(x, y, f, g):\n    {body}\n"
    tree = ast.parse(text)
    spell_out_calls(tree, text)
    assert ast.unparse(tree) == ast.unparse(ast.parse(text))


@pytest.mark.parametrize(
    ("stmt", "plain"),
    [
        ("a, *rest = (x, y, z)", "(a, rest) = (x, [y, z])"),
        ("*rest, a = (x,)", "(rest, a) = ([], x)"),
        ("[a, *rest] = [x]", "[a, rest] = [x, []]"),
        ("b = Pair(x, y).y", "b = y"),
        ("b = Kept(x + 1).x", "b = x + 1"),
        ("b = types.SimpleNamespace(k=x).k", "b = x"),
        ("b = [x, y][0]; f(*c)", "b = x\nf(*c)"),
        ("b = {'k': x}['k']; f(*c)", "b = x\nf(*c)"),
        # Here something would be lost, or is not known.
        ("b = Pair(x, f(y)).x", "b = Pair(x, f(y)).x"),
        ("b = Pair(x, y).count", "b = Pair(x, y).count"),
        ("b = Kept(x).x; Kept = 3", "b = Kept(x).x\nKept = 3"),
        ("b = Kept(x).x; Kept.x = 3", "b = Kept(x).x\nKept.x = 3"),
        ("a, *rest = [*x]", "a, *rest = [*x]"),
        ("a, b, *rest = [x]", "a, b, *rest = [x]"),
    ],
)
def test_what_is_taken_at_once(stmt: str, plain: str) -> None:
    head = f"{HEAD}import types\nfrom collections import namedtuple\n{KEPT}"
    head += "Pair = namedtuple('Pair', 'x y')\n"
    tree = ast.parse(head + stmt)
    spell_out_calls(tree, head + stmt)
    before = len(ast.parse(head).body)
    assert [ast.unparse(each) for each in tree.body[before:]] == [
        ast.unparse(each) for each in ast.parse(plain).body
    ]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("y = x if True else None", "y = x"),
        ("f(None if False else x)", "f(x)"),
        ("y = x if flag else None", "y = x if flag else None"),
    ],
)
def test_what_is_chosen_in_the_text(text: str, plain: str) -> None:
    tree = ast.parse(text)
    settle_choices(tree, text)
    assert ast.unparse(tree) == plain


def test_nothing_is_kept_of_what_was_there() -> None:
    text = HEAD + "f = lambda x: x\ny = f(*[1]) if True else None\n"
    tree = plain_tree(SourceFile("a.py", text))
    kinds = {type(node) for node in walk(tree)}
    assert ast.FunctionDef in kinds
    assert not kinds & {ast.Lambda, ast.Starred, ast.IfExp}


def test_a_comment_of_many_parts_is_gone_through_once() -> None:
    """Each part could begin a comment of its own: told apart in all ways, there is no end."""
    comment = "# " * 200
    text = f"class A:\n    def __init__(self, x):\n        {comment}\n        self.x = [x]\n"
    assert not spell_out_calls(ast.parse(text), text)


OWN = (
    HEAD
    + """
class Net:
    def build(self, x): ...

def scaled(x): ...

"""
)


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("build = self.build\n    return build(x)", "return self.build(x)"),
        ("scale = scaled\n    return scale(x)", "return scaled(x)"),
        ("build = self.build\n    if x:\n        build = print\n    return build(x)", None),
        ("build = self.other\n    return build(x)", "return self.other(x)"),
        ("self.other = build = print\n    build = self.other\n    return build(x)", None),
        ("build = self.build\n    self.build = print\n    return build(x)", None),
        ("build = self.build\n    return map(build, x)", None),
    ],
)
def test_a_name_for_a_function_is_read_as_that(body: str, last: str | None) -> None:
    text = f"{OWN}def run(self, x):\n    {body}\n"
    tree = ast.parse(text)
    before = ast.unparse(tree.body[-1])
    spell_out_calls(tree, text)
    run = tree.body[-1]
    assert isinstance(run, ast.FunctionDef)
    assert ast.unparse(run.body[-1]) == (last or before.splitlines()[-1].strip())

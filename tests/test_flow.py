"""Definitions and uses: what reaches what, round loops, through containers and captured names."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import Def, Effect, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.effects import Effects
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward, origins


def appends(call: ast.Call) -> Effect:
    """``x.append(…)`` changes ``x``; nothing else changes anything."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        return Effect((call.func.value,))
    return Effect()


def flow_of(source: str) -> tuple[Flow, ast.FunctionDef]:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return Flow(function, appends), function


def returned(flow: Flow) -> frozenset[Use]:
    value = flow.returns[-1].value
    assert value is not None
    return flow.uses_in(value)


def rows(made: frozenset[Def]) -> set[int]:
    return {d.stmt.lineno for d in made if d.stmt is not None}


def behind(source: str) -> set[int]:
    """The rows of the definitions on which what is returned last depends."""
    flow, _ = flow_of(source)
    return rows(backward(returned(flow)).made)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n  y = x\n  y = 1\n  return y", {3}),
        ("def f(x):\n  z = 2\n  y = x\n  return y", {3}),
        ("def f(x, c):\n  y = 1\n  if c:\n    y = x\n  return y", {2, 4}),
        ("def f(x, c):\n  if c:\n    y = 1\n    return y\n  y = x\n  return y", {5}),
        ("def f(x):\n  self.a = x\n  self.b = 2\n  return self.b", {3}),
        ("def f(d):\n  d['a'] = 1\n  d['b'] = 2\n  return d['b']", {3}),
        ("def f(x):\n  a, b = x, 2\n  return b", {2}),
        ("def f(x):\n  y = [x for x in range(3)]\n  return x", set()),
        ("def f(x):\n  try:\n    y = 1\n  except E:\n    y = 2\n  return y", {3, 5}),
        ("def f(x):\n  y = 1\n  while True:\n    y = 2\n    break\n  return y", {4}),
        ("def f(x):\n  y = x\n  del y\n  y = 1\n  return y", {4}),
        ("def f(x):\n  y = []\n  z = y\n  y.append(x)\n  y.append(1)\n  return z", {2, 3, 4, 5}),
        ("def f(x):\n  y = []\n  z = y\n  y = []\n  y.append(x)\n  return z", {2, 3}),
    ],
)
def test_what_does_not_reach_is_left_out(source: str, expected: set[int]) -> None:
    assert behind(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n  h = x\n  for i in x:\n    h = h + i\n  return h", {2, 3, 4}),
        ("def f(x):\n  t = []\n  t.append(x)\n  return t", {2, 3}),
        ("def f(x):\n  t = []\n  u = t\n  u.append(x)\n  return t", {2, 3, 4}),
        ("def f(x):\n  def g():\n    return h\n  h = x\n  return g()", {2, 4}),
        ("def f(x):\n  g = lambda v: h + v\n  h = x\n  return g(1)", {2, 3}),
        ("def f(x):\n  k = lambda v, s=x: s\n  return k", {2}),
        ("def f(x):\n  if (y := x) > 1:\n    pass\n  return y", {2}),
        ("def f(self, x):\n  self.a = x\n  return self.m()", {2}),
        ("def f(x):\n  y = 1\n  y += x\n  return y", {2, 3}),
        ("def f(x):\n  with x as y:\n    z = y\n  return z", {2, 3}),
        (
            "def f(x):\n  match x:\n    case [a, *b]:\n      y = a\n"
            "    case _:\n      y = 1\n  return y",
            {2, 4, 6},
        ),
    ],
)
def test_what_reaches_is_found(source: str, expected: set[int]) -> None:
    assert behind(source) == expected


@pytest.mark.parametrize("count", [2, 29, 31, 40])
def test_what_is_put_into_an_object_is_there_by_all_its_names(count: int) -> None:
    lines = ["def f(x):", "  h0 = []"]
    lines += [f"  h{k} = {{'inner': h{k - 1}}}" for k in range(1, count)]
    lines += ["  other = {}", "  h0.append(x)", "  other['k'] = 2"]
    for name in (f"h{count - 1}", "h1"):
        assert count + 3 in behind("\n".join([*lines, f"  return {name}"]))
    assert count + 3 not in behind("\n".join([*lines, "  return other"]))


def test_a_value_carried_round_says_so() -> None:
    flow, function = flow_of("def f(x):\n  h = x\n  for i in x:\n    y = h\n    h = y\n  return y")
    loop = function.body[1]
    assert isinstance(loop, ast.For)
    assign = loop.body[0]
    assert isinstance(assign, ast.Assign)
    uses = flow.uses_in(assign.value)
    assert {(u.made.stmt.lineno, bool(u.carried)) for u in uses if u.made.stmt} == {
        (2, False),
        (5, True),
    }


def test_after_the_loop_nothing_is_carried() -> None:
    flow, _ = flow_of("def f(x):\n  h = x\n  for i in x:\n    h = h + i\n  return h")
    assert not any(u.carried for u in returned(flow))


def test_origins_see_through_changes_in_place() -> None:
    flow, _ = flow_of("def f(x):\n  t = [x]\n  t.append(1)\n  return t")
    assert {d.kind for d in origins(returned(flow))} == {Kind.ASSIGN}


def test_a_chain_of_calls_is_read_once() -> None:
    flow, _ = flow_of("def f(x):\n  return x" + ".m()" * 200)
    assert {u.made.kind for u in returned(flow)} >= {Kind.PARAM}


def test_the_common_block_of_statements() -> None:
    function = ast.parse("def f():\n  if a:\n    b = 1\n  else:\n    c = 2\n  d = 3").body[0]
    assert isinstance(function, ast.FunctionDef)
    branch, last = function.body
    assert isinstance(branch, ast.If)
    blocks = Blocks(function)
    block, indices = blocks.common([branch.body[0], branch.orelse[0]])
    assert block.body is function.body
    assert indices == {branch.body[0]: 0, branch.orelse[0]: 0}
    assert blocks.common([branch.body[0]])[0].body is branch.body
    assert blocks.common([branch.body[0], last])[1][last] == 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [("reads", False), ("writes", True), ("fills", True), ("calls_writes", True), ("unseen", True)],
)
def test_methods_that_change_their_object(name: str, changes: bool) -> None:
    tree = ast.parse(
        "class C:\n"
        "  def reads(self): return self.a\n"
        "  def writes(self): self.a = 1\n"
        "  def fills(self): self.a.append(1)\n"
        "  def calls_writes(self): return self.writes()\n"
    )
    effects = Effects(tree)
    cls = effects.class_named("C")
    assert cls is not None
    assert effects.writes_self(cls, name) is changes


def test_outer_names_that_a_function_changes() -> None:
    effects = Effects(
        ast.parse(
            "def rebinds():\n  global a\n  a = 1\n"
            "def fills():\n  LOG.append(1)\n"
            "def both():\n  rebinds()\n  fills()\n"
            "def neither(LOG):\n  LOG.append(1)\n  a = 1\n"
        )
    )
    assert effects.outside_names("both") == {"a", "LOG"}
    assert effects.outside_names("neither") == frozenset()
    assert effects.rebound_names("fills") == frozenset()


@pytest.mark.parametrize("text", ["x", "self.x", "d['k']", "a.b[0].c"])
def test_paths_read_as_they_are_written(text: str) -> None:
    path = path_of(ast.parse(text, mode="eval").body)
    assert path is not None
    assert text_of(path) == text


@pytest.mark.parametrize("text", ["f()", "x[i]", "x[1:]", "f().x", "-x"])
def test_more_than_a_path_is_none(text: str) -> None:
    assert path_of(ast.parse(text, mode="eval").body) is None

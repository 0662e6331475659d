"""Walking syntax trees: the same nodes as ``ast.walk``, whatever is kept."""

from __future__ import annotations

import ast
import copy
import sys
import tracemalloc
from pathlib import Path

import pytest

from tapemigrate.source.trees import children, copied, pack, walk, with_parents

SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
EVERYTHING = """
import a.b as c, d
from . import e as f, g
@deco(1, *a, k=2, **b)
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> int:
    async with a as b, c: pass
    async for x in y: await z
    return [x async for x in y if x]
class C(B, metaclass=M):
    x: int = 1
    x += 2
    del x
    global q
def h(*, a, b=1): nonlocal_ = {**x, 'a': 1, 1: 2}
for i in j: break
else: continue_ = None
while 1: pass
if a: ...
elif b: raise E from F
with a: assert b, c
try: x
except (A, B) as e: y
else: z
finally: w
match m:
    case {"a": 1, **rest}: pass
    case [1, *others] | C(2, k=None) if True: pass
    case None: pass
    case str() as s: pass
x = lambda a, *b: (yield a) or (yield from b) if not -a < b <= c else {d for d in e}
print(f"{x!r:>{w}}", a[1:2, ::3], {k: v for k, v in z}, (n := 3), a.b.c @ d)
"""


def programs() -> list[ast.Module]:
    folder = Path(ast.__file__).parent
    texts = [EVERYTHING, *((folder / n).read_text() for n in ("typing.py", "dataclasses.py"))]
    if sys.version_info >= (3, 11):
        texts.append("try: a\nexcept* B as c: d\n")
    if sys.version_info >= (3, 12):
        texts.append("type A[T: int, *U, **V] = dict[T, U]\ndef f[T](x: T) -> T: ...\n")
    return [ast.parse(text) for text in texts]


@pytest.mark.parametrize("tree", programs())
def test_the_nodes_and_their_order_are_those_of_ast(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        expected = [n for n in ast.walk(node) if not isinstance(n, SHARED)]
        if isinstance(node, SHARED):
            continue
        for _ in range(2):  # what is kept is the same again
            assert list(walk(node)) == expected
        below = [n for n in ast.iter_child_nodes(node) if not isinstance(n, SHARED)]
        assert children(node) == below


def test_nodes_made_by_hand_may_lack_fields() -> None:
    node = ast.Return()
    assert list(walk(node)) == [node]
    assert children(ast.Dict(keys=[None], values=[node])) == [node]


def test_what_is_kept_does_not_keep_the_tree_alive() -> None:
    import gc
    import weakref

    class Function(ast.FunctionDef):
        pass

    node = Function(name="f", body=[ast.Pass()])
    assert len(walk(node)) == 2
    gone = weakref.ref(node)
    gc.disable()
    try:
        del node
        assert gone() is None
    finally:
        gc.enable()


def test_a_copy_is_walked_anew() -> None:
    tree = ast.parse("a = 1")
    walk(tree)
    twin = copied(tree)
    twin.body = [ast.Pass()]
    assert list(walk(twin)) == [twin, *twin.body]
    assert len(walk(tree)) == 4


@pytest.mark.parametrize("tree", programs())
def test_parents_are_found_in_the_order_of_a_stack(tree: ast.Module) -> None:
    expected: dict[ast.AST, ast.AST] = {}
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for child in children(node):
            expected[child] = node
            stack.append(child)
    assert list(with_parents(tree).items()) == list(expected.items())


@pytest.mark.parametrize("tree", programs())
def test_a_packed_tree_is_the_same(tree: ast.Module) -> None:
    dumped, written = ast.dump(tree, include_attributes=True), ast.unparse(tree)
    nodes = list(walk(tree))
    pack(tree)
    assert ast.dump(tree, include_attributes=True) == dumped
    assert ast.unparse(tree) == written
    assert list(walk(tree)) == nodes
    assert ast.dump(copy.deepcopy(tree), include_attributes=True) == dumped
    node = tree.body[0]
    node.lineno, node.end_lineno = 7, 8
    assert (copied(node).lineno, node.end_lineno) == (7, 8)


def test_a_packed_tree_takes_less_memory() -> None:
    text = "\n" * 300 + "loss = self.net.loss(x, y)\n" * 2000
    sizes = []
    for packed in (False, True):
        tracemalloc.start()
        tree = ast.parse(text)
        if packed:
            pack(tree)
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert len(tree.body) == 2000
    assert sizes[1] < 0.8 * sizes[0]

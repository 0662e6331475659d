"""Sources that a tape could only watch together with what stands beside them, tensor or not.

``tape.watch`` takes lists, but nothing in them that is no tensor: it raises.
https://www.tensorflow.org/api_docs/python/tf/GradientTape#watch
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeAlias

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import children, kept, parts_of_target, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.placing.rounds import of_this_round
from tapemigrate.tape.recipes import SOURCE
from tapemigrate.tape.request import Refusal

#: Why the elements of a list that a test leaves are not watched with the list.
LEFT_OUT = (
    "elements of `{}` that `{}` leaves out need be no tensors, and a tape cannot watch the others "
    "by themselves"
)
#: Why what stands in one place of each of its elements is not watched with a list.
PART_OF_EACH = (
    "the source is a part of each element of `{}`, and a tape cannot watch the other parts that "
    "are no tensors"
)
_TAKEN = (Kind.LOOP, Kind.COMPREHENSION)
_Loop: TypeAlias = ast.For | ast.AsyncFor | ast.comprehension
# They give what they are handed, element by element.
_IN_ORDER = frozenset({"list", "tuple", "reversed", "sorted", "iter", "set"})


def asks_whole(test: ast.expr, name: str) -> bool:
    """Whether a test may be about what kind of thing an element is: ``x is not None``.

    It is not about what all of them have, ``x.name``, nor about which one it is, ``x in others``.
    """
    nodes = list(walk(test))
    known = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Compare) and not any(map(_is_none, node.comparators)):
            known |= {id(node.left), *map(id, node.comparators)}
    return any(isinstance(n, ast.Name) and n.id == name and id(n) not in known for n in nodes)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def held_with_others(leaf: Leaf, block: Block, blocks: Blocks, flow: Flow) -> Refusal | None:
    """Why what holds a source may hold what a tape cannot watch.

    ``for name, w in pairs``, where the names are texts; ``for x in xs: if x is not None``.
    """
    if leaf.watch is None or of_this_round(leaf, block, blocks) is not None:
        return None
    for made in leaf.defs:
        loop = _loop(made)
        if loop is None:
            continue
        target, holder = _unpacked(loop.target, loop.iter, made)
        if holder is None or not origins(flow.uses_in(holder)) & leaf.defs:
            continue
        whole = ast.unparse(holder)
        if isinstance(target, ast.Tuple | ast.List):
            return Refusal(PART_OF_EACH.format(whole), SOURCE)
        for test in kept(loop, _tests):
            if len(made.path) == 1 and asks_whole(test, made.path[0]):
                return Refusal(LEFT_OUT.format(whole, ast.unparse(test)), SOURCE)
    return None


def _loop(made: Def) -> _Loop | None:
    """What gives the elements one by one, where ``made`` is one of them or a part of one."""
    if made.stmt is None or made.kind not in _TAKEN:
        return None
    loops: Iterable[ast.AST] = [made.stmt]
    if made.kind is Kind.COMPREHENSION:
        parts = (part for part in children(made.stmt) if not isinstance(part, ast.stmt))
        loops = (node for part in parts for node in walk(part))
    for node in loops:
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            # Of ``enumerate(xs)`` and the like, ``xs`` may be the value.
            if any(n is made.value for n in walk(node.iter)) and _binds(node.target, made):
                return node
    return None


def _unpacked(target: ast.expr, over: ast.expr, made: Def) -> tuple[ast.expr, ast.expr | None]:
    """What is gone through for ``made`` and its like, and what each element of it is given to."""
    while isinstance(over, ast.Call):
        match over:
            case ast.Call(func=ast.Name(id="enumerate" | "zip" as name), args=args):
                starred = next((each for each in args if isinstance(each, ast.Starred)), None)
                if starred is not None:
                    return ast.Tuple([target], ast.Store()), starred.value  # ``zip(*pairs)``
                if not isinstance(target, ast.Tuple | ast.List):
                    return target, None
                number = next(i for i, each in enumerate(target.elts) if _binds(each, made))
                place = number - (name == "enumerate")
                if not 0 <= place < len(args):
                    return target, None
                target, over = target.elts[number], args[place]
            case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in _IN_ORDER:
                over = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]):
                if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                    return target, None
                target, over = target.elts[1], inner
            case ast.Call(func=ast.Attribute(value=inner, attr="values"), args=[]):
                over = inner
            case _:
                return target, None
    return target, over


def _binds(target: ast.expr, made: Def) -> bool:
    return any(path_of(each) == made.path for each in parts_of_target(target))


def _tests(loop: ast.AST) -> tuple[ast.expr, ...]:
    """What decides which of the elements are taken."""
    if isinstance(loop, ast.comprehension):
        return tuple(loop.ifs)
    return tuple(node.test for node in walk(loop) if isinstance(node, ast.If))

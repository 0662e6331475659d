"""Values that a statement gives several names, read as a statement for each of them.

``h, n = tf.sin(x), 3`` is ``h = tf.sin(x)`` and ``n = 3`` in all but the text, where no value reads
a name before it. Each stands where the one does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.source.apart import is_whole, stand_for
from tapemigrate.source.bound import Function, functions, own_blocks
from tapemigrate.source.trees import walk


def assign_singly(tree: ast.Module, _: str) -> bool:
    """Makes a statement of each; whether there are any."""
    done = False
    for function in functions(tree):
        shared: set[str] | None = None  # which takes long to find
        for block in own_blocks(function):
            for place in reversed(range(len(block))):
                pairs = _pairs(block[place])
                if not pairs:
                    continue
                shared = set(_shared(function)) if shared is None else shared
                each = _each(block[place], pairs, shared)
                if each:
                    stand_for(tree, block, place, *each)
                    done = True
    return done


def _pairs(stmt: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of a statement, and what each is given, where it is written out for each."""
    match stmt:
        case ast.Assign(
            targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)],
            value=ast.Tuple(elts=values) | ast.List(elts=values),
        ) if len(targets) == len(values) and not is_whole(stmt.value):
            return list(zip(targets, values, strict=True))
    return []


def _each(
    stmt: ast.stmt, pairs: list[tuple[ast.expr, ast.expr]], shared: set[str]
) -> list[ast.Assign]:
    """A statement for each of ``pairs``; none where one may have to do with another."""
    targets, values = [target for target, _ in pairs], [value for _, value in pairs]
    if any(isinstance(each, ast.Starred) for each in (*targets, *values)):
        return []
    if len({ast.dump(target) for target in targets}) < len(targets):
        return []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    if len(names) < len(targets):
        # What is set on an object may be read by what is computed.
        computed = [v for v in values if not isinstance(v, ast.Name | ast.Constant)]
        if len(computed) > 1 or any(_root(target) in {None, *names} for target in targets):
            return []
    given = set[str]()
    for target, value in pairs:
        if given & _names(value) or (_names(target) & shared):
            return []
        if isinstance(target, ast.Name):
            given.add(target.id)
    if not any(names & _names(value) for value in values):
        # What is computed stands next to what reads it.
        pairs.sort(key=lambda pair: not isinstance(pair[1], ast.Constant))
    return [ast.copy_location(ast.Assign([t], value), stmt) for t, value in pairs]


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}


def _root(target: ast.expr) -> str | None:
    """``self`` of ``self.net.h``, nothing of a name; None of what is no part of a name."""
    if isinstance(target, ast.Name):
        return ""
    while isinstance(target, ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _shared(function: Function) -> Iterator[str]:
    """The names which others may read meanwhile: the module, and functions inside."""
    for node in walk(function):
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if node is not function:
                yield from (n.id for n in walk(node) if isinstance(n, ast.Name))

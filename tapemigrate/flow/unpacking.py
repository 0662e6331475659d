"""Which part of a value each target of an assignment, or of a loop, is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import walk

#: What gives names, or parts of objects, a value.
GIVING: tuple[type[ast.AST], ...] = (ast.Assign, ast.AnnAssign, ast.NamedExpr)


def named_first(stmt: ast.Assign) -> list[ast.expr]:
    """The targets of an assignment, names before parts of objects, and those before lists."""
    if len(stmt.targets) == 1:
        return stmt.targets
    ranks = {ast.Name: 0, ast.Attribute: 1, ast.Subscript: 1}
    return sorted(stmt.targets, key=lambda target: ranks.get(type(target), 2))


def given_to_each(stmt: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, and what each is given.

    ``self.kept = parts = {}``: the first is given ``parts``, into which its name may put more.
    """
    first, *others = named_first(stmt)
    yield first, stmt.value
    again = first if isinstance(first, ast.Name) and is_made(stmt.value) else stmt.value
    yield from ((other, again) for other in others)


def is_made(value: ast.expr) -> bool:
    """Whether evaluating it again would give another object."""
    return not isinstance(value, ast.Constant) and path_of(value) is None


def pairs(target: ast.Tuple | ast.List, value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """What each element of a target gets of a value that is written out; None if that is not."""
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        return None
    if any(isinstance(e, ast.Starred) for e in [*target.elts, *value.elts]):
        return None
    return list(zip(target.elts, value.elts, strict=True))


def each_given(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment, or ``:=``, gives each of its targets, also in what is written out."""
    if node.__class__ not in GIVING:  # which is asked of all nodes
        return []
    pending: list[tuple[ast.expr, ast.expr]] = []
    match node:
        case ast.Assign() if node.targets:
            pending += given_to_each(node)
        case ast.AnnAssign(target=named, value=ast.expr() as value):
            pending.append((named, value))
        case ast.NamedExpr(target=named, value=value):
            pending.append((named, value))
    found: list[tuple[ast.expr, ast.expr]] = []
    for target, value in pending:  # which grows meanwhile
        parts = pairs(target, value) if isinstance(target, ast.Tuple | ast.List) else None
        if parts is None:
            found.append((target, value))
        else:
            pending += parts
    return found


def each_written(stmt: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """The same of the values as they are written, whichever other name they have."""
    return [(t, stmt.value if v in stmt.targets else v) for t, v in each_given(stmt)]


def all_given(root: ast.AST, *, loops: bool = False) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The same of all assignments in ``root``, and what the targets of ``loops`` are taken from."""
    for node in walk(root):
        if node.__class__ in GIVING:
            yield from each_given(node)
        elif loops and isinstance(node, ast.For):
            yield node.target, node.iter


def zipped(target: ast.expr, iterated: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """What each element of a loop's target is taken from: ``for i, (x, y) in zip(n, pairs)``."""
    if not isinstance(target, ast.Tuple | ast.List):
        return None
    if isinstance(iterated, ast.List | ast.Tuple):
        return _columns(target, iterated)
    if not isinstance(iterated, ast.Call):
        return None
    func, args = iterated.func, iterated.args
    if not isinstance(func, ast.Name) or any(
        isinstance(e, ast.Starred) for e in [*target.elts, *args]
    ):
        return None
    if func.id == "enumerate" and len(target.elts) == 2 and len(args) == 1:
        return [(target.elts[1], args[0]), (target.elts[0], ast.Constant(0))]
    if func.id == "zip" and len(args) == len(target.elts):
        return list(zip(target.elts, args, strict=True))
    return None


def _columns(
    target: ast.Tuple | ast.List, rows: ast.List | ast.Tuple
) -> list[tuple[ast.expr, ast.expr]] | None:
    """``for a, b in [(c, d), (e, f)]``: ``a`` is taken from ``[c, e]``."""
    parts = [pairs(target, row) for row in rows.elts]
    found: list[tuple[ast.expr, ast.expr]] = []
    for i, each in enumerate(target.elts):
        column = [part[i][1] for part in parts if part is not None]
        if len(column) < len(parts):
            return None
        found.append((each, ast.copy_location(ast.List(column, ast.Load()), rows)))
    return found

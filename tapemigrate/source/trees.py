"""Going through syntax trees: quicker than ``ast.walk``, and what is asked for again is kept.

Contexts and operators (``Load``, ``Add``) are left out: one object serves all places of all files,
so that it says nothing about any.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import TypeVar

_LEAVES = frozenset(
    {"id", "attr", "arg", "name", "asname", "module", "level", "rest", "kwd_attrs", "ctx", "op"}
    | {"ops", "kind", "simple", "conversion", "is_async", "type_comment", "lineno", "tag"}
)
# Lists in which None stands where nothing is.
_WITH_GAPS = (ast.Dict, ast.arguments)
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields that hold nodes, by class, in the order in which ``ast.walk`` visits them."""

    def __missing__(self, cls: type[ast.AST]) -> tuple[str, ...]:
        self[cls] = tuple(name for name in cls._fields if name not in _LEAVES)
        return self[cls]


_FIELDS = _Fields(
    {ast.Constant: (), ast.MatchSingleton: (), ast.Global: (), ast.Nonlocal: ()}
    # A class that Python 3.10 and 3.11 do not have, with a name that is a node.
    | ({ast.TypeAlias: ast.TypeAlias._fields} if hasattr(ast, "TypeAlias") else {})
)


def has_children(cls: type[ast.AST]) -> bool:
    """Whether nodes of a class may have nodes below them."""
    return bool(_FIELDS[cls])


def with_parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Every node below ``tree``, with the one that holds it."""
    parents: dict[ast.AST, ast.AST] = {}
    fields = _FIELDS
    stack = [tree]
    while stack:
        node = stack.pop()
        for name in fields[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for child in value:
                    if child is not None:
                        parents[child] = node
                        if fields[child.__class__]:
                            stack.append(child)
            elif value is not None:
                parents[value] = node
                if fields[value.__class__]:
                    stack.append(value)
    return parents


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below ``node``, in the order of the fields."""
    found: list[ast.AST] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if each is not None]
        elif value is not None:
            found.append(value)
    return found


def walk(node: ast.AST) -> Sequence[ast.AST]:
    """``node`` and all nodes below it, in the order of ``ast.walk``: level by level.

    What is below a scope is looked up once, and kept on its node: copy nodes with ``copied``.
    """
    if not isinstance(node, _SCOPES):
        return _walk(node)
    below: tuple[ast.AST, ...] | None = node.__dict__.get("_below")
    if below is None:
        # Without the node itself, so that no circle of references keeps the tree alive.
        below = node.__dict__["_below"] = tuple(_walk(node)[1:])
    return (node, *below)


class _Shapes(dict[type[ast.AST], type]):
    """A class for each class of nodes, whose objects share the names of their attributes."""

    def __missing__(self, cls: type[ast.AST]) -> type:
        self[cls] = type(cls.__name__, (), {})
        return self[cls]


_SHAPES = _Shapes()
_ROWS = ("lineno", "end_lineno")


def pack(tree: ast.AST) -> None:
    """Has a tree take up two thirds of its memory; it stays the same.

    The parser gives each node a table of names and values of its own, and each row twice. Here all
    nodes of a class share the names. It takes three quarters of the time that parsing does.
    """
    rows: dict[int, int] = {}
    pending = [tree]
    while pending:
        node = pending.pop()
        pending += children(node)
        shape = _SHAPES[node.__class__]()
        fields = node.__dict__
        for name in fields:
            setattr(shape, name, fields[name])
        if "lineno" in fields:
            for name in _ROWS:
                setattr(shape, name, rows.setdefault(fields[name], fields[name]))
        node.__dict__ = shape.__dict__


_Node = TypeVar("_Node", bound=ast.AST)


def copied(node: _Node) -> _Node:
    """A node of its own with the same fields, without what is kept on the other one."""
    new = copy.copy(node)
    new.__dict__.pop("_below", None)
    return new


def _walk(node: ast.AST) -> list[ast.AST]:
    found = [node]
    fields = _FIELDS
    for each in found:  # which grows meanwhile
        cls = each.__class__
        for name in fields[cls]:
            value = getattr(each, name, None)
            if value.__class__ is list:
                if cls in _WITH_GAPS:
                    value = [part for part in value if part is not None]
                found += value
            elif value is not None:
                found.append(value)
    return found

"""Going through syntax trees: quicker than ``ast.walk``, and what is asked for again is kept.

Contexts and operators (``Load``, ``Add``) are left out: one object serves all places of all files,
so that it says nothing about any.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")

_LEAVES = frozenset(
    {"id", "attr", "arg", "name", "asname", "module", "level", "rest", "kwd_attrs", "ctx", "op"}
    | {"ops", "kind", "simple", "conversion", "is_async", "type_comment", "lineno", "tag"}
)
# Lists in which None stands where nothing is.
_WITH_GAPS: frozenset[type[ast.AST]] = frozenset({ast.Dict, ast.arguments})
_SCOPES: frozenset[type[ast.AST]] = frozenset(
    {ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda}
)


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
    cls = node.__class__
    for name in _FIELDS[cls]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if each is not None] if cls in _WITH_GAPS else value
        elif value is not None:
            found.append(value)
    return found


class _Blocks(dict[type[ast.AST], tuple[str, ...]]):
    """The fields in which statements stand, or what holds some, by class; most have none."""

    def __missing__(self, cls: type[ast.AST]) -> tuple[str, ...]:
        inside = issubclass(cls, (ast.mod, ast.stmt, ast.excepthandler, ast.match_case))
        fields = ("body", "handlers", "cases", "orelse", "finalbody") if inside else ()
        self[cls] = tuple(field for field in cls._fields if field in fields)
        return self[cls]


_BLOCKS = _Blocks()


def blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right below a node, and what holds some."""
    for name in _BLOCKS[node.__class__]:
        yield from getattr(node, name, ())


def statements(tree: ast.AST) -> list[ast.AST]:
    """All statements below a scope, and what holds some, in the order in which ``walk`` does."""
    found: list[ast.AST] = [tree]
    blocks = _BLOCKS
    for each in found:  # which grows meanwhile
        for name in blocks[each.__class__]:
            found += getattr(each, name, ())
    return found


def top_level(tree: ast.AST) -> Sequence[ast.stmt]:
    """The statements that run as the module does: also those in its ``if`` and ``try`` blocks."""
    return kept(tree, _top_level)


def _top_level(tree: ast.AST) -> tuple[ast.stmt, ...]:
    found: list[ast.AST] = [tree]
    blocks = _BLOCKS
    for each in found:  # which grows meanwhile
        if each is tree or each.__class__ not in _SCOPES:
            for name in blocks[each.__class__]:
                found += getattr(each, name, ())
    return tuple(each for each in found if isinstance(each, ast.stmt))


def declarations(body: Sequence[ast.AST]) -> list[ast.Global | ast.Nonlocal]:
    """The ``global`` and ``nonlocal`` statements of the scope that has the body."""
    found: list[ast.Global | ast.Nonlocal] = []
    pending = list(body)
    blocks = _BLOCKS
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.append(node)
        elif node.__class__ not in _SCOPES:
            for name in blocks[node.__class__]:
                pending += getattr(node, name, ())
    return found


def walk(node: ast.AST) -> Sequence[ast.AST]:
    """``node`` and all nodes below it, in the order of ``ast.walk``: level by level.

    What is below a scope is looked up once, and kept on its node: copy nodes with ``copied``.
    """
    if node.__class__ not in _SCOPES:
        return _walk(node)
    # Without the node itself, so that no circle of references keeps the tree alive.
    return (node, *kept(node, _below))


def kept(node: ast.AST, make: Callable[[ast.AST], _T]) -> _T:
    """What ``make`` tells of a node and of what is below it: worked out once, and kept on it."""
    known: dict[Callable[[ast.AST], _T], _T] = node.__dict__.setdefault("_kept", {})
    if make not in known:
        known[make] = make(node)
    return known[make]


def forget(tree: ast.AST) -> None:
    """Lets go of what is kept on a node, and on those below it, which have been changed."""
    for node in _walk(tree):
        if node.__class__ in _SCOPES:
            node.__dict__.pop("_kept", None)


def put_for(parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Puts a node where another one stands below ``parent``."""
    for name, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, name, new)
        elif isinstance(value, list):
            value[:] = [new if each is old else each for each in value]


def parts_of_target(target: ast.expr) -> Iterator[ast.expr]:
    """What is given a value where ``target`` is: ``a``, and ``b.c``, of ``a, [b.c]``."""
    match target:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for each in elts:
                yield from parts_of_target(each)
        case ast.Starred(value=value):
            yield from parts_of_target(value)
        case _:
            yield target


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """Every value that a call passes, in the order in which they stand, keywords last."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def calls_in(scope: ast.AST) -> Sequence[ast.Call]:
    """The calls below a scope, in the order of ``walk``: looked for once, and kept on its node."""
    return kept(scope, _calls_in)


def _calls_in(scope: ast.AST) -> tuple[ast.Call, ...]:
    return tuple(node for node in walk(scope) if isinstance(node, ast.Call))


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
    new.__dict__.pop("_kept", None)
    return new


def _below(node: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(_walk(node)[1:])


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

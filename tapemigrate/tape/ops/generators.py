"""Generators that are gone through when the statement that makes them is long over."""

from __future__ import annotations

import ast

# What goes through all of a generator, or takes what it needs of one that has no name.
_EXHAUSTING = frozenset(
    {"list", "tuple", "set", "frozenset", "dict", "sorted", "sum", "any", "all", "max", "min"}
    | {"next", "deque", "OrderedDict"}
)
_EXHAUSTING_METHODS = frozenset({"extend", "update", "join", "apply_gradients"})
_PASSING = frozenset({"zip", "enumerate", "map", "filter", "iter"})


def is_kept_generator(node: ast.AST, stmt: ast.stmt, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether ``node`` runs in a generator that may be gone through after its statement."""
    first = False  # what a generator goes over is computed where it is made
    while node is not stmt:
        parent = parents.get(node)
        if parent is None:
            return False  # an inner function asks
        if isinstance(node, ast.GeneratorExp) and not first and _outlasts(node, parents):
            return True
        if isinstance(node, ast.comprehension) and isinstance(parent, ast.GeneratorExp):
            first = first and parent.generators[0] is node
        else:
            first = isinstance(parent, ast.comprehension) and parent.iter is node
        node = parent
    return False


def _outlasts(generator: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether nothing in its statement goes through all of a generator."""
    node, parent = generator, parents.get(generator)
    while parent is not None:
        match parent:
            case ast.Call(func=ast.Name(id=name)) if name in _EXHAUSTING:
                return False
            case ast.Call(func=ast.Attribute(attr=name)) if name in _EXHAUSTING_METHODS:
                return False
            case ast.Starred() | ast.For() | ast.Compare() | ast.YieldFrom():
                return False
            case ast.Assign(targets=[ast.Tuple() | ast.List(), *_]) if parent.value is node:
                return False
            case ast.comprehension():
                parent = parents[parent]
                if not isinstance(parent, ast.GeneratorExp):
                    return False
            case ast.Call(func=ast.Name(id=name)) if name in _PASSING:
                pass
            case ast.IfExp() | ast.BoolOp():
                pass
            case _:
                return True
        node, parent = parent, parents.get(parent)
    return True

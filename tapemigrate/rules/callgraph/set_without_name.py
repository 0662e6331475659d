"""Objects that are given attributes whose names do not stand there: ``setattr(net, name, w)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit

#: One of these stands in a file in which that is done.
SETTING = ("setattr", "__setattr__", "__dict__", "vars")


def set_without_name(unit: Unit) -> list[ast.expr]:
    """The objects that are given attributes whose names do not stand there."""
    return unit.once(_set_without_name)


def _set_without_name(unit: Unit) -> list[ast.expr]:
    return list(_without_name(unit))


def _without_name(unit: Unit) -> Iterator[ast.expr]:
    for call in unit.nodes(ast.Call):
        path = path_of(call.func) or ()
        if path == ("setattr",) and len(call.args) > 1:
            if not isinstance(call.args[1], ast.Constant):
                yield call.args[0]
        elif path[-1:] == (".__setattr__",) and len(call.args) > 2:
            yield call.args[0]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "update":
            yield from _whose_attributes(call.func.value)
    for part in unit.nodes(ast.Subscript):
        if not isinstance(part.ctx, ast.Load):
            yield from _whose_attributes(part.value)


def _whose_attributes(node: ast.expr) -> Iterator[ast.expr]:
    """The object whose attributes ``net.__dict__`` or ``vars(net)`` are."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        yield node.value
    elif isinstance(node, ast.Call) and path_of(node.func) == ("vars",):
        yield from node.args

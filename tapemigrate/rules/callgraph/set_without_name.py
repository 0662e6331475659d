"""Objects that are given attributes whose names do not stand there: ``setattr(net, name, w)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import assigned

#: One of these stands in a file in which that is done.
SETTING = ("setattr", "__setattr__", "__dict__", "vars")


def set_without_name(unit: Unit) -> list[ast.expr]:
    """The objects that are given attributes whose names do not stand there."""
    return unit.once(_set_without_name)


def _set_without_name(unit: Unit) -> list[ast.expr]:
    return list(_without_name(unit))


def _without_name(unit: Unit) -> Iterator[ast.expr]:
    known_as = {("setattr",)} | {
        path_of(target) for target, value in unit.once(assigned) if path_of(value) == ("setattr",)
    }
    for call in unit.nodes(ast.Call):
        path = path_of(call.func) or ()
        if path in known_as and len(call.args) > 1:
            if not isinstance(call.args[1], ast.Constant):
                yield call.args[0]
        elif len(call.args) > 1 and path_of(call.args[0]) == ("setattr",):
            # ``map(setattr, nets, …)``, ``partial(setattr, net)``
            yield call.args[1]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "__setattr__":
            # ``object.__setattr__(net, name, w)``, ``net.__setattr__(name, w)``
            bare = len(call.args) == 2
            if not bare or not isinstance(call.args[0], ast.Constant):
                yield call.func.value if bare else call.args[0]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "update":
            if not _is_taken_over(unit, call):
                yield from _whose_attributes(call.func.value)
    for part in unit.nodes(ast.Subscript):
        if not isinstance(part.ctx, ast.Load):
            yield from _whose_attributes(part.value)
    for attribute in unit.nodes(ast.Attribute):
        if attribute.attr == "__dict__" and not isinstance(attribute.ctx, ast.Load):
            yield attribute.value
    filled = set(_filled(unit))
    for target, value in unit.once(assigned):
        if path_of(target) in filled:  # ``table = vars(net)``
            yield from _whose_attributes(value)


def _is_taken_over(unit: Unit, call: ast.Call) -> bool:
    """``out = type(self)(…); self.__dict__.update(out.__dict__)``: what one of the class has.

    It has all of it under the names that its own constructor gave it.
    """
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=me), attr="__dict__")),
            args=[ast.Attribute(value=ast.Name(id=other), attr="__dict__")],
            keywords=[],
        ):
            made = [
                value
                for target, value in unit.once(assigned)
                if path_of(target) == (other,) and _scope_of(unit, target) is _scope_of(unit, call)
            ]
            return bool(made) and all(_makes_another(value, me) for value in made)
    return False


def _makes_another(value: ast.expr, me: str) -> bool:
    """``type(self)(…)``, ``self.__class__(…)``"""
    match value:
        case ast.Call(func=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=own)])):
            return own == me
        case ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr="__class__")):
            return own == me
    return False


def _scope_of(unit: Unit, node: ast.AST) -> ast.AST:
    while not isinstance(node, ast.Module | NamedFunction | ast.Lambda):
        node = unit.parents[node]
    return node


def _filled(unit: Unit) -> Iterator[Path | None]:
    """Into what the file puts something by a key: ``table[name] = w``, ``table.update(…)``."""
    for part in unit.nodes(ast.Subscript):
        if not isinstance(part.ctx, ast.Load):
            yield path_of(part.value)
    for call in unit.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGERS:
            yield path_of(call.func.value)


def _whose_attributes(node: ast.expr) -> Iterator[ast.expr]:
    """The object whose attributes ``net.__dict__`` or ``vars(net)`` are."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        yield node.value
    elif isinstance(node, ast.Call) and path_of(node.func) == ("vars",):
        yield from node.args

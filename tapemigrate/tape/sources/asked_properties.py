"""Sources that a property gives: what else its object holds is none of them."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.effects import Effects
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.hooks import is_property
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.source.trees import walk


def read_by(flow: Flow, effects: Effects, node: ast.expr) -> frozenset[Use]:
    """What an expression reads: of a property, what it hands out, not all that its object holds."""
    path, uses = path_of(node), flow.uses_in(node)
    return uses if path is None else given(effects, uses, path)


def given(effects: Effects, uses: frozenset[Use], path: Path) -> frozenset[Use]:
    """Of ``uses``, which what reads a property finds, those that it may give.

    Where it hands out one attribute and nothing else, that attribute is what was read.
    """
    ways = {u.made.path for u in uses}
    own = any(u.made.path == path and u.made.kind is not Kind.ENTRY for u in uses)
    if own or not any(is_beside(way, path) for way in ways):
        return uses
    reads: set[str] = set()
    single = True
    name = path[-1].lstrip(".")
    for function in (getters := effects.functions(name)):
        if not any(map(is_property, function.decorator_list)):
            return uses
        named = _read(function)
        if named is None:
            return uses
        reads |= named
        single &= _hands_out(function)
    if not getters or effects.kept(name):
        return uses
    parts = {(*path[:-1], f".{name}") for name in reads}
    if single and len(parts) == 1 and ways & parts:
        return frozenset(u for u in uses if u.made.path in parts)
    return frozenset(
        u for u in uses if not is_beside(u.made.path, path) or u.made.path[: len(path)] in parts
    )


def is_beside(other: Path, path: Path) -> bool:
    """Whether neither is a part of the other."""
    shared = min(len(other), len(path))
    return other[:shared] != path[:shared]


def _read(getter: NamedFunction) -> set[str] | None:
    """The attributes of its object that it reads; None where it hands its object on, or calls a
    method of it.
    """
    me = next((a.arg for a in parameters(getter.args)), None)
    names = [n for n in walk(getter) if isinstance(n, ast.Name) and n.id == me]
    parts = [n for n in walk(getter) if isinstance(n, ast.Attribute) and n.value in names]
    called = {n.func for n in walk(getter) if isinstance(n, ast.Call)}
    if len(parts) < len(names) or any(part in called for part in parts):
        return None
    return {part.attr for part in parts}


def _hands_out(getter: NamedFunction) -> bool:
    """Whether it does nothing but give an attribute of its object."""
    match [stmt for stmt in getter.body if not _says_nothing(stmt)]:
        case [ast.Return(value=ast.Attribute(value=ast.Name()))]:
            return True
        # What has a name only to be returned is read as what is returned.
        case [
            ast.Assign(targets=[ast.Name()], value=ast.Attribute(value=ast.Name(), attr=given)),
            ast.Return(value=ast.Attribute(value=ast.Name(), attr=attr)),
        ]:
            return given == attr
    return False


def _says_nothing(stmt: ast.stmt) -> bool:
    """Whether it is a docstring, or gives a constant to a name."""
    match stmt:
        case ast.Expr(value=ast.Constant()) | ast.Assign([ast.Name()], ast.Constant()):
            return True
    return False

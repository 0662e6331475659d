"""Lists and dicts that are kept as attributes: whether all that is put into them can be seen."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.tape.symbols import short

_ASKING = frozenset({"keys", "values", "items", "get"})
_READERS = frozenset({"len", "zip", "enumerate", "list", "tuple", "sorted", "reversed"})


def is_filled_in_sight(project: Project, name: str) -> bool:
    """Whether attributes of that name are nowhere given another name, nor handed on."""
    return all(
        node.attr != name or isinstance(node.ctx, ast.Store) or _is_used_at_once(unit, node)
        for unit in project.units.having(name)
        for node in unit.nodes(ast.Attribute)
    )


def _is_used_at_once(unit: Unit, node: ast.Attribute) -> bool:
    parent = unit.parents[node]
    own = isinstance(node.value, ast.Name) and node.value.id == "self"
    match parent:
        case ast.Subscript(ctx=ast.Load()):
            return parent.value is node
        case ast.Subscript():  # what is assigned so, ``attributes.contents`` tells
            return own and isinstance(unit.parents[parent], ast.Assign)
        case ast.For() | ast.comprehension():
            return parent.iter is node
        case ast.Attribute():
            return parent.attr in _ASKING or (own and parent.attr == "append")
        case ast.Call(func=ast.Name(id=function)) if function in _READERS:
            return True
        case ast.Call():
            return short(unit.names.qualified(parent.func)) is not None
    return False

"""Objects that are used as a whole: an operator, a loop or a call runs a method of theirs."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project

# What runs none of them, whatever object it is given.
_ASKING = ("super", "isinstance", "issubclass", "type", "id", "hasattr", "getattr", "setattr")
# What an operator does not run.
_OTHERS = frozenset({"__init__", "__new__", "__del__", "__repr__", "__str__", "__setattr__"})


def is_whole(node: ast.AST, name: str | None, unit: Unit) -> bool:
    """Whether ``node`` uses the object of that name itself: ``net * 2``, ``net[0]``, ``sum(net)``.

    A part of it, ``net.x``, is none, and neither is giving it back.
    """
    if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load):
        return False
    match unit.parents.get(node):
        case ast.Attribute() | ast.Return() | ast.Assign():
            return False
        case ast.Compare(ops=ops):
            return not all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
        case ast.Call(func=ast.Name(id=called)) if called in _ASKING:
            return False
    return True


def operators(project: Project, cls: ast.ClassDef) -> list[tuple[Unit, NamedFunction]]:
    """The methods that then may run, on all objects that may be of ``cls``."""
    return [
        (unit, member)
        for unit, each in of_one_object(project, cls)
        for member in each.body
        if isinstance(member, NamedFunction) and is_operator(member.name)
    ]


def is_operator(name: str) -> bool:
    """Whether a method of that name runs where no call names it."""
    return name.startswith("__") and name.endswith("__") and name not in _OTHERS

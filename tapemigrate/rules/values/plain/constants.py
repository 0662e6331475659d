"""What stays as the body of a class has it: written out values, and functions without ``self``."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short

_MAKERS = frozenset({"dict", "list", "set", "tuple", "frozenset"})


def is_constant_of_class(project: Project, unit: Unit, path: Path) -> bool:
    """Whether the path is a value of one, ``Model.defaults``: set in its body, and nowhere else."""
    name = path[1].lstrip(".") if len(path) > 1 else ""
    cls = _class_that_keeps(project, unit, path[0], name)
    if cls is None:
        return False
    values = [
        stmt.value
        for stmt in cls.body
        if isinstance(stmt, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in stmt.targets)
    ]
    if not values or not all(map(_is_written_out, values)):
        return False
    return all(map(_stays, values)) or _is_only_looked_up(project, name)


def function_of_class(project: Project, unit: Unit, path: Path) -> NamedFunction | None:
    """The ``@staticmethod`` of a class of the file that is called by its name, ``Model.layer``."""
    if len(path) != 2:
        return None
    name = path[1].lstrip(".")
    cls = _class_that_keeps(project, unit, path[0], name)
    found = [s for s in cls.body if getattr(s, "name", None) == name] if cls is not None else []
    match found:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as function]:
            own = [path_of(decorator) for decorator in function.decorator_list]
            return function if own == [("staticmethod",)] else None
    return None


def _class_that_keeps(
    project: Project, unit: Unit, name: str, attribute: str
) -> ast.ClassDef | None:
    """The one class of the name, if its attribute is set in no place outside of its body."""
    classes = [c for c in unit.nodes(ast.ClassDef) if c.name == name]
    if len(classes) != 1 or any(
        n.attr == attribute and not isinstance(n.ctx, ast.Load) for n in unit.nodes(ast.Attribute)
    ):
        return None
    return None if project.foreign_stores(unit, classes[0], attribute) else classes[0]


def _stays(value: ast.expr) -> bool:
    """Whether nothing can be put into the value."""
    return not any(
        isinstance(n, ast.List | ast.Dict | ast.Set | ast.Call | ast.ListComp) for n in walk(value)
    )


def _is_only_looked_up(project: Project, name: str) -> bool:
    """Whether all that is done with attributes of that name is ``Model.defaults["rate"]``."""
    for unit in project.units.having(name):
        for node in unit.nodes(ast.Attribute):
            parent = unit.parents[node]
            looked_up = isinstance(parent, ast.Subscript) and parent.value is node
            if node.attr == name and not (looked_up and _is_read(unit, parent)):
                return False
    return True


def _is_read(unit: Unit, node: ast.AST) -> bool:
    """Whether an element, or an element of it, is read as an operand, and is not changed."""
    while isinstance(node, ast.Subscript):
        if not isinstance(node.ctx, ast.Load):
            return False
        node = unit.parents[node]
    return isinstance(node, ast.BinOp | ast.Compare | ast.keyword | ast.UnaryOp) or (
        isinstance(node, ast.Call) and short(unit.names.qualified(node.func)) is not None
    )


def _is_written_out(value: ast.expr) -> bool:
    for node in walk(value):
        match node:
            case ast.Name() if node.id not in _MAKERS:
                return False
            case ast.Call() if not isinstance(node.func, ast.Name):
                return False
            case ast.Attribute() | ast.Lambda():
                return False
    return True

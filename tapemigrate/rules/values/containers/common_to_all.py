"""The lists and dicts that all objects of a class have in common."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction, named_defaults
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import walk

_MAKING = frozenset(
    {"dict", "list", "set", "OrderedDict", "defaultdict", "deque", "ChainMap", "copy"}
)


def common_to_all(cls: ast.ClassDef) -> Iterator[str]:
    """The attributes that hold one list or dict for all objects: set in the body of the class.

    Or the default of a parameter, which is made once: ``def __init__(self, kept=[])``.
    """
    for stmt in cls.body:
        if isinstance(stmt, ast.Assign | ast.AnnAssign) and is_container(stmt.value):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            yield from (t.id for t in targets if isinstance(t, ast.Name))
        elif isinstance(stmt, NamedFunction):
            given = named_defaults(stmt.args).items()
            kept = {name for name, value in given if is_container(value)}
            for node in walk(stmt) if kept else ():
                if isinstance(node, ast.Assign) and _names(node.value) & kept:
                    yield from (t.attr for t in node.targets if isinstance(t, ast.Attribute))


def is_container(value: ast.expr | None) -> bool:
    """Whether it is a list, dict or set that is made there."""
    if isinstance(value, ast.Call):
        return (path_of(value.func) or ("",))[-1].lstrip(".") in _MAKING
    return isinstance(
        value, ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    )


def _names(value: ast.expr) -> set[str]:
    """The names of what a value is: of a choice, of both."""
    match value:
        case ast.Name():
            return {value.id}
        case ast.IfExp():
            return _names(value.body) | _names(value.orelse)
        case ast.BoolOp():
            return set().union(*map(_names, value.values))
    return set()

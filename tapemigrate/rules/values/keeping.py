"""Methods that keep something on their object for others to find, or for the next call of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.effects import CHANGERS
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, effects_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Kinds, Make

_HARMLESS = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES)


def keeps(project: Project, method: str) -> bool:
    """Whether a method of that name may keep what it makes of its arguments, in any file."""
    return any(method in unit.once(keeping) for unit in project.units.defining(method))


def keeping(unit: Unit) -> frozenset[str]:
    """The methods of a file that set parts of their object which it reads elsewhere, or before.

    Constructors are not among them: whoever makes an object knows what it is handed.
    """
    effects, kinds = effects_of(unit), Kinds(unit.names, effects_of(unit))
    found: set[str] = set()
    for cls in unit.nodes(ast.ClassDef):
        methods = [m for each in effects.lineage(cls) for m in each.body]
        own = [m for m in methods if isinstance(m, ast.FunctionDef) and m.args.args]
        for method in own:
            if method.name == "__init__" or method.name in found:
                continue
            set_here = dict(_set(method, kinds))
            if any(_is_read(each, method, set_here) for each in own if set_here):
                found.add(method.name)
    return frozenset(found)


def _set(method: ast.FunctionDef, kinds: Kinds) -> Iterator[tuple[str, int]]:
    """The parts of its object that it sets to what may be a tensor, and the first line it does."""
    me = method.args.args[0].arg
    found: list[tuple[str, int]] = []
    for node in walk(method):
        owner: ast.expr | None = None
        values: list[ast.expr] = []
        match node:
            case ast.Assign(targets=targets, value=value):
                owner, values = targets[0], [value]
            case ast.AugAssign(target=target, value=value):
                owner, values = target, [value]
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in CHANGERS:
                owner, values = value, [*node.args, *(k.value for k in node.keywords)]
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        path = path_of(owner) if owner is not None else None
        if path is None or len(path) < 2 or path[0] != me or owner is None:
            continue
        if not all(kinds.make(value) in _HARMLESS for value in values):
            found.append((path[1].lstrip("."), owner.lineno))
    return iter(sorted(found, key=lambda each: -each[1]))


def _is_read(each: ast.FunctionDef, method: ast.FunctionDef, set_here: dict[str, int]) -> bool:
    me = each.args.args[0].arg
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and path_of(node.value) == (me,)
        and node.attr in set_here
        and (each is not method or node.lineno <= set_here[node.attr])
        for node in walk(each)
    )

"""Methods that keep something on their object for others to find, or for the next call of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TypeGuard

from tapemigrate.flow.changers import changed_by_handed, put_into
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, kinds_of
from tapemigrate.rules.project import Project
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import arguments_of, parts_of_target, walk
from tapemigrate.tape.ops.kinds import INDEPENDENT, Kinds


def keeps(project: Project, method: str) -> bool:
    """Whether a method of that name may keep what it makes of its arguments, in any file.

    What is kept is read elsewhere, or before: by whatever has the object.
    """
    known = project.once(_known)
    if method not in known:
        known[method] = _keeps(project, method)
    return known[method]


def _known(_: Project) -> dict[str, bool]:
    return {}


def _keeps(project: Project, method: str) -> bool:
    for unit in project.units.defining(method):
        if method in unit.once(keeping):
            return True
        for name in _sets(unit).get(method, ()):
            if any(
                name in u.once(_read_parts) for u in project.units.having(name) if u is not unit
            ):
                return True
    return False


def keeping(unit: Unit) -> frozenset[str]:
    """The methods of a file that set parts of their object which it reads elsewhere, or before.

    Constructors are not among them: whoever makes an object knows what it is handed.
    """
    return _KEEPING.of(unit) or frozenset()


def _keeping(unit: Unit) -> frozenset[str]:
    read, kinds = unit.once(_read_parts), unit.once(kinds_of)
    found: set[str] = set()
    for method in _methods(unit):
        set_here = dict([*_set_by_others(unit, method, kinds), *_set(method, kinds)])
        own = Counter(n.attr for n in walk(method) if _is_load(n)) if set_here else Counter()
        if any(read[name] > own[name] for name in set_here) or (
            set_here and _is_read_before(method, set_here)
        ):
            found.add(method.name)
    return frozenset(found)


_KEEPING = ByText(_keeping)


def set_by_methods(unit: Unit) -> frozenset[str]:
    """The parts of their objects that methods of a file set, other than constructors."""
    return frozenset().union(*_sets(unit).values())


def _sets(unit: Unit) -> dict[str, set[str]]:
    """By the names of methods: what they set."""
    return _ALL_SET.of(unit) or {}


def _all_set(unit: Unit) -> dict[str, set[str]]:
    kinds = unit.once(kinds_of)
    found: dict[str, set[str]] = {}
    for method in _methods(unit):
        set_here = (*_set(method, kinds), *_set_by_others(unit, method, kinds))
        found.setdefault(method.name, set()).update(name for name, _ in set_here)
    return found


_ALL_SET = ByText(_all_set)


def _methods(unit: Unit) -> list[ast.FunctionDef]:
    return [
        m
        for cls in unit.nodes(ast.ClassDef)
        for m in cls.body
        if isinstance(m, ast.FunctionDef) and m.args.args and m.name != "__init__"
    ]


def _read_parts(unit: Unit) -> Counter[str]:
    """How often parts of objects are read, by their names."""
    return Counter(n.attr for n in unit.nodes(ast.Attribute) if _is_load(n))


def _is_load(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)


def _set_by_others(
    unit: Unit, method: ast.FunctionDef, kinds: Kinds
) -> Iterator[tuple[str, Point]]:
    """The same of functions of the file that a method hands its object: ``encode(self, x)``."""
    me = method.args.args[0].arg
    for call in (n for n in walk(method) if isinstance(n, ast.Call)):
        if not any(isinstance(each, ast.Name) and each.id == me for each in arguments_of(call)):
            continue
        if isinstance(call.func, ast.Name):
            for function in effects_of(unit).functions(call.func.id):
                for own in parameters(function.args):
                    yield from ((name, end(call)) for name, _ in _set(function, kinds, own.arg))


def _set(function: NamedFunction, kinds: Kinds, me: str = "") -> Iterator[tuple[str, Point]]:
    """The parts of its object that it sets to what may be a tensor, and where it first has.

    ``me``: the parameter that is the object; else the first one.
    """
    me = me or function.args.args[0].arg
    found: list[tuple[str, Point]] = []
    for node in walk(function):
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Call):
            continue
        owners: list[ast.expr] = []
        match node:
            case ast.Assign(targets=targets, value=value):
                owners, values = [p for t in targets for p in parts_of_target(t)], [value]
            case ast.AugAssign(target=target, value=value):
                owners, values = [target], [value]
            case ast.Call():
                changed = [*put_into(node), *changed_by_handed(node)]
                owners, values = changed[:1], arguments_of(node)
        if all(kinds.make(value) in INDEPENDENT for value in values):
            continue
        for owner in owners:
            path = path_of(_whole(owner))
            if path is not None and len(path) > 1 and path[0] == me:
                # What it is given is read first.
                found.append((path[1].lstrip("."), end(node)))
    return iter(sorted(found, key=lambda each: each[1], reverse=True))


def _whole(part: ast.expr) -> ast.expr:
    while isinstance(part, ast.Subscript):
        part = part.value
    return part


def _is_read_before(method: ast.FunctionDef, set_here: dict[str, Point]) -> bool:
    me = method.args.args[0].arg
    return any(
        _is_load(node)
        and path_of(node.value) == (me,)
        and node.attr in set_here
        and begin(node) < set_here[node.attr]
        for node in walk(method)
    )

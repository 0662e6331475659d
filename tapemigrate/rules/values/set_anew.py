"""Whether methods that are called in between give an attribute of ``self`` another value."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk


def may_be_set_anew(
    project: Project, view: View, attribute: str, calls: Iterable[ast.AST | None]
) -> bool:
    """Whether one of ``calls``, which the scope makes, may set ``self.attribute``.

    A method other than the scope, and no constructor, has to do so at all.
    """
    if view.cls is None:
        return False
    methods: dict[str, list[NamedFunction]] = {}
    for _, cls in of_one_object(project, view.cls):
        for each in cls.body:
            if isinstance(each, NamedFunction):
                methods.setdefault(each.name, []).append(each)
    setters = {
        each
        for name, found in methods.items()
        for each in found
        if name != "__init__" and each is not view.scope and _sets(each, attribute)
    }
    if not setters:
        return False
    called: set[str] = set()
    for call in calls:
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or path_of(func.value) != (view.kinds.self_name,):
            return True
        called.add(func.attr)
    return _reach(called, methods, setters)


def _reach(
    called: set[str], methods: dict[str, list[NamedFunction]], setters: set[NamedFunction]
) -> bool:
    """Whether methods of these names run one of ``setters``, or what cannot be seen."""
    pending = list(called)
    while pending:
        found = methods.get(pending.pop(), [])
        if not found or not setters.isdisjoint(found):
            return True
        for each in found:
            named = _named(each)
            if named is None:
                return True
            # What is only read is a method, or what a method has set.
            more = {name for name, calls in named if calls or name in methods} - called
            pending += more
            called |= more
    return False


def _sets(method: ast.AST, attribute: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.ctx, ast.Store)
        for node in walk(method)
    )


def _named(method: NamedFunction) -> set[tuple[str, bool]] | None:
    """What it reads of its object, and whether it calls that; None: it hands the object on.

    Or it is there for others to write.
    """
    if not method.args.args or isinstance(method.body[-1], ast.Raise):
        return None
    me = method.args.args[0].arg
    nodes = list(walk(method))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    found: set[tuple[str, bool]] = set()
    held: set[ast.AST] = set()
    for node in nodes:
        if not isinstance(node, ast.Attribute):
            continue
        if path_of(node.value) == (me,):
            held.add(node.value)
        elif isinstance(node.value, ast.Call) and path_of(node.value.func) == ("super",):
            held |= set(walk(node.value))
        else:
            continue
        found.add((node.attr, node in called))
    names = (n for n in nodes if isinstance(n, ast.Name) and n not in held)
    return None if any(n.id in (me, "super", "setattr") for n in names) else found

"""Who sets an attribute of an object, where that is run from, and how often."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.meaning import named_mentions
from tapemigrate.rules.callgraph.names_in_texts import named_in_text
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View

# By one of these a method may be called whose name stands as a text.
_LOOKING_UP = ("getattr", "methodcaller", "__dict__")
# Through how many methods one is followed to the constructor.
_DEPTH = 4


def of_one_object(project: Project, cls: ast.ClassDef) -> list[tuple[Unit, ast.ClassDef]]:
    """The classes whose methods an object may have that is one of ``cls``: mixins too."""
    known = classes(project)
    below = known.extending(cls.name)
    names = below.union(known.above(cls.name), *(known.above(name) for name in below))
    others = [each for name in sorted(names - {cls.name}) for each in known.named(name)]
    return [*(each for each in known.named(cls.name) if each[1] is cls), *others]


def may_be_of_object(project: Project, unit: Unit, node: ast.AST, cls: ast.ClassDef) -> bool:
    """Whether what stands in a class may be of objects of ``cls``: it may be in none, too."""
    above = unit.parents[node]
    if not isinstance(above, ast.ClassDef) or above is cls:
        return True
    return any(above is each for _, each in of_one_object(project, cls))


def runs_of_setters(
    project: Project,
    home: Unit,
    cls: ast.ClassDef,
    names: Iterable[str],
    drivers: Collection[Scope],
    *,
    computed: bool = False,
) -> list[tuple[Unit, ast.AST]] | str:
    """Where ``drivers`` set one of the attributes, or call what does; or what else may set one.

    Methods that others of the object call in turn are followed to where these are called.
    ``computed`` leaves out what gives a constant: ``self.delta = None``.
    """
    family = {each for _, each in of_one_object(project, cls)}
    found: list[tuple[Unit, ast.AST]] = []
    pending: list[tuple[Unit, Scope]] = []
    for name in names:
        for unit, node in project.stores(name):
            stmt = unit.parents.get(node)
            if computed and isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant):
                continue
            scope = project.scope_of(unit, node)
            if scope in drivers:
                found.append((unit, node))
            elif project.class_of(unit, scope) in family:
                pending.append((unit, scope))
    seen: set[Scope] = set()
    while pending:
        unit, scope = pending.pop()
        if scope in seen:
            continue
        seen.add(scope)
        if not isinstance(scope, ast.FunctionDef) or unit.parents.get(scope) not in family:
            return "an inner function sets a part of the object"
        if scope.name == "__init__":
            found.append((unit, scope))
            continue
        what = f"`{scope.name}`, which sets a part of the object,"
        mentions = named_mentions(project, unit, scope)
        for user, other in mentions.others:
            return f"{what} is used as a value in {place_of(home, user, other)}"
        for site in mentions.calls:
            caller = project.scope_of(site.unit, site.call)
            if caller in drivers:
                found.append((site.unit, site.call))
            elif project.class_of(site.unit, caller) in family and _is_own(site.call.func):
                pending.append((site.unit, caller))
            else:
                return f"{what} is called in {place_of(home, site.unit, site.call)}"
        for user in project.units.having(scope.name):
            if any(word in user.text for word in _LOOKING_UP):
                for why in named_in_text(home, user, scope.name):
                    return why
    return found


def runs_once(project: Project, view: View, scope: ast.FunctionDef, depth: int = _DEPTH) -> bool:
    """Whether the method runs once for each object: from its constructor, and in no loop."""
    if scope.name == "__init__":
        return True
    mentions = project.mentions(scope.name)
    if depth == 0 or mentions.others or len(mentions.calls) != 1:
        return False
    (site,) = mentions.calls
    caller = project.scope_of(site.unit, site.call)
    if site.unit is not view.unit or not isinstance(caller, ast.FunctionDef):
        return False
    there = project.view(site.unit, caller)
    if there.cls is None or there.cls not in project.family(view.unit, view.cls or there.cls):
        return False
    node: ast.AST = site.call
    while node is not caller:
        node = site.unit.parents[node]
        if isinstance(node, ast.For | ast.While | ast.comprehension | ast.Lambda | ast.ListComp):
            return False
    return runs_once(project, there, caller, depth - 1)


def _is_own(func: ast.expr) -> bool:
    """``self.build`` and ``super().build``"""
    owner = func.value if isinstance(func, ast.Attribute) else None
    return owner is not None and (is_super(owner) or path_of(owner) == ("self",))

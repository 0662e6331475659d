"""Parts of an object of which none was made of another: the placeholders that its class makes."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.instances import instances_at
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.kinds import Make

_MADE_OF_NONE = (Make.LEAF, Make.VARIABLE, Make.FROZEN)


def parts_apart(project: Project, view: View, path: Path, source: Path) -> bool:
    """Whether what stands at ``path`` is made anew by a class, of nothing, and so is ``source``."""
    if min(len(path), len(source)) < 2:
        return False
    known = project.once(_known)
    for each in (path, source):
        if (view.scope, each) not in known:
            known[view.scope, each] = _made_as(project, view, each)
    there, own = known[view.scope, path], known[view.scope, source]
    return bool(there and own) and there.isdisjoint(own)


def _known(_: Project) -> dict[tuple[ast.AST, Path], frozenset[ast.expr]]:
    return {}


def is_new_part(project: Project, view: View, node: ast.expr) -> bool:
    """Whether it is a part of an object that its class has ops make: nothing that was handed in."""
    if not isinstance(node, ast.Attribute) or path_of(node) is None:
        return False
    given = _assigned(project, view, node)
    return bool(given) and all(
        home.kinds.is_op(value) or (isinstance(value, ast.Call) and home.kinds.gives_tensors(value))
        for home, value in given
    )


def _made_as(project: Project, view: View, path: Path) -> frozenset[ast.expr]:
    """What classes give the attribute; empty where it may be more than is made of nothing."""
    found = frozenset[ast.expr]()
    for node in filter(_is_read, project.uses_of(view.unit, view.scope, path)):
        assert isinstance(node, ast.Attribute)
        given = _assigned(project, view, node)
        if not given or any(home.kinds.make(value) not in _MADE_OF_NONE for home, value in given):
            return frozenset()
        found |= {value for _, value in given}
    return found


def _assigned(project: Project, view: View, node: ast.Attribute) -> list[tuple[View, ast.expr]]:
    """What the classes of the object assign to the attribute; empty where that is not all."""
    made = instances_at(project, view, node)
    if made.unseen or made.stray or made.other:
        return []
    found: list[tuple[View, ast.expr]] = []
    for unit, cls in made.classes:
        values = _given(project, unit, cls, node.attr)
        if not values:
            return []
        found += [(project.view(unit, project.scope_of(unit, value)), value) for value in values]
    return found


def _is_read(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)


def _given(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> list[ast.expr]:
    """What the class and its family assign to the attribute; empty where others may."""
    if classes(project).has_unseen_bases(unit, cls) or project.foreign_stores(unit, cls, name):
        return []
    family = project.family(unit, cls)
    if set_by_text(project, unit, name) or any(_defines(each, name) for each in family):
        return []
    return [value for each in family for value in assigned_in(unit, each).get(name, ())]


def _defines(cls: ast.ClassDef, name: str) -> bool:
    """Whether the class has a method or a value of its own by that name, or computes attributes."""
    own = {name, "__getattr__", "__getattribute__", "__setattr__"}
    names = {getattr(stmt, "name", "") for stmt in cls.body}
    given = (stmt.targets for stmt in cls.body if isinstance(stmt, ast.Assign))
    names |= {t.id for targets in given for t in targets if isinstance(t, ast.Name)}
    return bool(own & names) or bool(cls.decorator_list)

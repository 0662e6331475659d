"""Parts of which none was made of another: placeholders that a class makes, or a dict lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.assigned import assigned_in, given_in_body
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.instances import instances_at
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.module_variables import is_only_looked_up, may_be_set_unseen
from tapemigrate.tape.ops.kinds import Make

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
    if path[-1].startswith("["):
        return _listed_as(project, view, path)
    found = frozenset[ast.expr]()
    for node in filter(_is_read, project.uses_of(view.unit, view.scope, path)):
        assert isinstance(node, ast.Attribute)
        given = _assigned(project, view, node)
        if not given or any(home.kinds.make(value) not in _MADE_OF_NONE for home, value in given):
            return frozenset()
        found |= {value for _, value in given}
    return found


def _listed_as(project: Project, view: View, path: Path) -> frozenset[ast.expr]:
    """What stands in a dict or a list that nothing changes, ``{"x": x, "t": t}["x"]``, the same."""
    home, name = view, path[0]
    if name not in view.flow.own_names and not isinstance(view.scope, ast.Module):
        if outer_definitions(project, view, path) is not None:
            return frozenset()
        if not is_only_looked_up(project, view.unit, name):
            return frozenset()
        if may_be_set_unseen(project, view.unit, name):
            return frozenset()
        home = project.view(view.unit, view.unit.tree)
    given = [d for d in home.flow.given(name) if _is_on_way(d.path, path[:-1])]
    given = [d for d in given if d.kind is not Kind.PARAM]
    if len(given) != 1 or given[0].path != path[:-1] or given[0].kind is not Kind.ASSIGN:
        return frozenset()
    elements = _elements(given[0].value)
    found = [value for key, value in elements if f"[{key!r}]" == path[-1]]
    made = all(home.kinds.make(each) in _MADE_OF_NONE for each in found)
    return frozenset(found) if made else frozenset()


def _is_on_way(made: Path, whole: Path) -> bool:
    """Whether what is given is the whole, a part of it, or what it is a part of."""
    return all(one == other for one, other in zip(made, whole, strict=False))


def _elements(value: ast.expr | None) -> Iterator[tuple[object, ast.expr]]:
    match value:
        case ast.Dict(keys=keys, values=values):
            for key, each in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield key.value, each
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            yield from enumerate(elts)


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
    return bool(own & names or given_in_body(cls, name) or cls.decorator_list)

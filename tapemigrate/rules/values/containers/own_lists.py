"""Lists that an object keeps, and that nothing but one of its methods, and its helpers, fills."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.names_in_texts import replaced
from tapemigrate.rules.callgraph.setters import may_be_of_object, of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.unnamed import sets_without_name
from tapemigrate.source.trees import walk
from tapemigrate.tape.sources.filled_lists import added

# Functions that read the list they are handed, and keep none of it.
_READING = frozenset({"zip", "len", "enumerate", "list", "tuple", "sorted", "print", "map"})
# So do these methods of optimizers and sessions.
_OF_OPTIMIZERS = frozenset({"minimize", "compute_gradients", "apply_gradients"})
# A class that has one of these may keep something else than what it is given.
_CUSTOM = frozenset({"__setattr__", "__getattribute__", "__getattr__"})
# What gives attributes whose names are not written there.
_LOOKING_UP = frozenset({"vars", "__dict__", "getattr", "attrgetter"})


def is_filled_here(project: Project, view: View, path: Path) -> bool:
    """Whether all that the list at ``path``, an attribute, can hold is put in by the scope.

    By itself, or by methods that it hands the list to. Nothing else in any file gives the list
    another name or puts something into it.
    """
    cls = view.cls
    if cls is None or len(path) != 2 or path[0] != view.kinds.self_name:
        return False
    name = path[1].lstrip(".")
    homes = list(of_one_object(project, cls))
    family = {each for _, each in homes} | {cls}
    if any(True for _ in classes(project).unseen_bases(view.unit, cls)):
        return False  # TensorFlow's own wrap lists
    if _is_reached_by_text(project, name, [view.unit, *(unit for unit, _ in homes)]):
        return False
    if sets_without_name(project, view):
        return False
    if any(_sets_up(each, name) for each in family):
        return False
    return all(
        _is_harmless(project, unit, node, view)
        for unit in project.units.having(name)
        for node in unit.nodes(ast.Attribute)
        if node.attr == name and not _is_of_another(project, unit, node, family)
    )


def _is_reached_by_text(project: Project, name: str, homes: list[Unit]) -> bool:
    """Whether the attribute is named in a text, or objects of ``homes`` are asked for any."""
    texts = (n for unit in project.units.having(name) for n in unit.nodes(ast.Constant))
    if any(node.value == name for node in texts):
        return True
    names = (n for unit in homes for n in (*unit.nodes(ast.Name), *unit.nodes(ast.Attribute)))
    return any(getattr(n, "id", getattr(n, "attr", "")) in _LOOKING_UP for n in names)


def _sets_up(cls: ast.ClassDef, name: str) -> bool:
    """Whether the body of a class gives the attribute a meaning, or may do so with any."""
    targets = [t for stmt in cls.body if isinstance(stmt, ast.Assign) for t in stmt.targets]
    given = {n.id for target in targets for n in walk(target) if isinstance(n, ast.Name)}
    given |= {getattr(stmt, "name", "") for stmt in cls.body}
    given |= {path[0] for s in cls.body if (path := path_of(getattr(s, "target", None)))}
    return not given.isdisjoint({*_CUSTOM, name})


def _is_of_another(
    project: Project, unit: Unit, node: ast.Attribute, family: set[ast.ClassDef]
) -> bool:
    """Whether it is an attribute of an object of another class: ``self.x`` in a method of that."""
    there = project.view(unit, project.scope_of(unit, node))
    own = path_of(node.value) == (there.kinds.self_name,)
    return own and there.cls is not None and there.cls not in family


def _is_harmless(project: Project, unit: Unit, node: ast.Attribute, view: View) -> bool:
    """Whether the list is only read there, or filled by the scope of ``view`` in plain sight."""
    own = project.scope_of(unit, node) is view.scope and path_of(node.value) == (
        view.kinds.self_name,
    )
    if not isinstance(node.ctx, ast.Load):
        return own and isinstance(unit.parents[node], ast.Assign)
    if own and _is_added_to(unit, node):
        return True
    above = unit.parents[node]
    call = unit.parents[above] if isinstance(above, ast.keyword) else above
    if own and isinstance(call, ast.Call) and node is not call.func:
        func = call.func
        if isinstance(func, ast.Attribute) and path_of(func.value) == (view.kinds.self_name,):
            return _only_adds(project, view, call, node)
    return _is_read(unit, node)


def _is_added_to(unit: Unit, node: ast.expr) -> bool:
    method = unit.parents[node]
    call = unit.parents.get(method)
    return isinstance(call, ast.Call) and call.func is method and added(call) is not None


def _is_read(unit: Unit, node: ast.expr) -> bool:
    """Whether the list stands where it is read, and gets no other name."""
    above = unit.parents[node]
    match above:
        case ast.For() | ast.comprehension():
            return above.iter is node
        case ast.Subscript():
            return above.value is node and isinstance(above.ctx, ast.Load)
        case ast.BinOp():
            return True
    call = unit.parents[above] if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or node is call.func:
        return False
    path = unit.names.qualified(call.func)
    if path is not None:
        return is_of_library(path)
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _OF_OPTIMIZERS
    return isinstance(call.func, ast.Name) and call.func.id in _READING


def _only_adds(project: Project, view: View, call: ast.Call, node: ast.expr) -> bool:
    """Whether the method of ``self`` that is handed the list just adds to it, whichever it is."""
    assert isinstance(call.func, ast.Attribute)
    assert view.cls is not None
    name = call.func.attr
    if project.effects(view.unit).method(view.cls, name) is None:
        return False
    if replaced(project, view.unit, name, method=True):
        return False
    functions = list(_called(project, view.cls, name))
    if any(isinstance(each, ast.Name) for _, each in functions):
        return False
    return all(
        isinstance(each, ast.FunctionDef)
        and not each.decorator_list
        and (own := _parameter(each, call, node)) is not None
        and all(
            _is_added_to(unit, use)
            for use in walk(each)
            if isinstance(use, ast.Name) and use.id == own
        )
        for unit, each in functions
    )


def _called(
    project: Project, cls: ast.ClassDef, name: str
) -> Iterator[tuple[Unit, ast.FunctionDef | ast.Name]]:
    """The functions of a name that objects of ``cls`` may have, and where else it is given."""
    for unit in project.units.having(name):
        functions = (f for f in unit.nodes(ast.FunctionDef) if f.name == name)
        yield from ((unit, f) for f in functions if may_be_of_object(project, unit, f, cls))
        names = (n for n in unit.nodes(ast.Name) if n.id == name)
        yield from ((unit, n) for n in names if isinstance(n.ctx, ast.Store))


def _parameter(function: ast.FunctionDef, call: ast.Call, node: ast.expr) -> str | None:
    """The parameter by which a method is handed ``node``."""
    own = [a.arg for a in parameters(function.args)][1:]
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    places = [own[i] for i, a in enumerate(call.args) if a is node and i < len(own)]
    places += [k.arg for k in call.keywords if k.value is node and k.arg in own]
    return places[0] if len(places) == 1 else None

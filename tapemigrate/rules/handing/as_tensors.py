"""Whether what is kept is a tensor: of an object, a tape has recorded no more than its making.

``self.layers = Layers(x)``: what ``self.layers.total()`` adds up may have been put there since.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import Path, is_super, path_of
from tapemigrate.flow.slices import backward
from tapemigrate.flow.touched import assigned_attributes
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import assigned_in, attribute_values
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.kept import Kept
from tapemigrate.rules.handing.shared_lists import filled_elsewhere
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.one_object import names_outside
from tapemigrate.rules.values.containers.containers import is_filled_in_sight
from tapemigrate.rules.values.containers.list_signs import may_be_container
from tapemigrate.rules.values.objects.unnamed import is_set_without_name
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.request import Request

_TENSORS = (Make.TENSOR, Make.LEAF)
# What a tensor tells of itself.
_STATIC = frozenset({"shape", "dtype", "name", "get_shape", "set_shape", "device", "op", "graph"})
_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Compare)
_DEPTH = 3


def may_be_object(
    project: Project, view: View, request: Request, recorded: Iterable[Path], place: Kept
) -> Path | None:
    """One of the ``recorded`` attributes that may be more than a tensor, by how it is used."""
    behind = backward(view.flow.uses_in(request.target)).made
    roots = [request.target, *(d.value for d in behind if d.value is not None)]
    nodes = [n for root in roots for n in walk(root) if isinstance(n, ast.Name | ast.Attribute)]
    for path in sorted(recorded):
        values = attribute_values(project, place.view, path[-1].lstrip("."))
        used = [n for n in nodes if path_of(n) == path or names_outside(view, n) == {path}]
        # What only gives it another name reads no part; the target itself is all of it.
        parts = _parts_read(nodes, set(used) - set(roots[1:]))
        if values and all(_is_settled(project, place.view, value, parts) for value in values):
            continue
        verdicts = {_is_tensor(view, node, _DEPTH) for node in used}
        if False in verdicts or (None in verdicts and not _counts(project, place, path)):
            return path
    return None


def _parts_read(nodes: list[ast.Name | ast.Attribute], owners: Set[ast.expr]) -> set[str] | None:
    """The attributes that are read of an object; None where it is used as a whole."""
    parts = [n for n in nodes if isinstance(n, ast.Attribute) and n.value in owners]
    return {n.attr for n in parts} if len(parts) == len(owners) else None


def _is_settled(project: Project, view: View, value: ast.expr, parts: set[str] | None) -> bool:
    """Whether it is a tensor, or an object of which ``parts`` stay as they were made."""
    if isinstance(value, ast.Lambda | ast.Constant) or view.kinds.make(value) in _TENSORS:
        return True
    if not isinstance(value, ast.Call):
        return False
    if view.kinds.tensorflow(value.func) is not None:
        return True
    path = path_of(value.func) or ("",)
    found = classes(project).named(path[-1].lstrip("."))
    if len(found) != 1:
        return False
    lines = [found[0], *_above_elsewhere(project, *found[0])]
    if any(_changes(project, *each) for each in lines):
        return False
    return not is_set_without_name(project, found[0][1]) and not _holds(project, lines, parts)


def _above_elsewhere(
    project: Project, unit: Unit, cls: ast.ClassDef
) -> list[tuple[Unit, ast.ClassDef]]:
    """The classes that it extends, but for those that its own file shows."""
    known = classes(project)
    lineage = set(project.effects(unit).lineage(cls))
    above = (each for name in sorted(known.above(cls.name)) for each in known.named(name))
    return [each for each in above if each[1] not in lineage]


def _changes(project: Project, unit: Unit, cls: ast.ClassDef) -> bool:
    """Whether objects of the class may get other attributes, or elements in them, once made."""
    effects = project.effects(unit)
    if cls.decorator_list or classes(project).has_unseen_bases(unit, cls):
        return True
    lineage = list(effects.lineage(cls))
    members = [m for each in lineage for m in each.body if isinstance(m, ast.FunctionDef)]
    if any(effects.writes_self(cls, m.name) for m in members if m.name != "__init__"):
        return True
    return any(
        project.foreign_stores(unit, cls, name) or filled_elsewhere(project, name)
        for name in assigned_attributes(iter(lineage))
    )


def _holds(
    project: Project, lines: list[tuple[Unit, ast.ClassDef]], parts: set[str] | None
) -> bool:
    """Whether one of the parts is a list or dict, into which others may put more by another name.

    Of a method, or a property, so are those that it reads.
    """
    family = [(unit, each) for unit, cls in lines for each in project.effects(unit).lineage(cls)]
    given = [(u, *each) for u, cls in family for each in assigned_in(u, cls).items()]
    read = parts and _read_by_methods([cls for _, cls in family], parts)
    if read is not None and not read <= {name for _, name, _ in given}:
        read = None  # what is no attribute that is set there may read any
    return any(
        _is_shared(project, project.view(unit, project.scope_of(unit, value)), name, value)
        for unit, name, values in given
        if read is None or name in read
        for value in values
    )


def _read_by_methods(family: list[ast.ClassDef], parts: Set[str]) -> set[str] | None:
    """The parts, and for methods among them what they read; None where that is the object."""
    code = [m for cls in family for m in cls.body if isinstance(m, ast.FunctionDef)]
    found = set(parts)
    pending = list(parts)
    while pending:
        name = pending.pop()
        for method in (m for m in code if m.name == name):
            me = next((a.arg for a in parameters(method.args)), "")
            owners = {n.value for n in walk(method) if isinstance(n, ast.Attribute)}
            for node in walk(method):
                if isinstance(node, ast.Call) and is_super(node):
                    return None
                if isinstance(node, ast.Name) and node.id == me and node not in owners:
                    return None
                if isinstance(node, ast.Attribute) and path_of(node.value) == (me,):
                    if node.attr not in found:
                        found.add(node.attr)
                        pending.append(node.attr)
    return found - {m.name for m in code}


def _is_shared(project: Project, view: View, name: str, value: ast.expr) -> bool:
    """Whether it is a list or dict that others than its object may have, by another name."""
    if not may_be_container(project, view, value):
        return False
    own = isinstance(value, ast.List | ast.Tuple) and not any(
        may_be_container(project, view, each) for each in value.elts
    )
    return not own or not is_filled_in_sight(project, name)


def _is_tensor(view: View, node: ast.expr, depth: int) -> bool | None:
    """Whether the name can only mean a tensor, or a list of them, here; None if it is passed on."""
    parent = view.unit.parents.get(node)
    if parent is None:  # what a method that is called here differentiates of its object
        return None
    if isinstance(parent, ast.Attribute):
        return parent.attr in _STATIC
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _is_tensor(view, parent, depth)
    child: ast.AST = node
    while isinstance(parent, ast.IfExp) and child is not parent.test:
        child, parent = parent, view.unit.parents[parent]
    # What another name of it is used for is looked at by itself.
    named = isinstance(parent, ast.Assign) and parent.value is child
    while isinstance(parent, ast.List | ast.Tuple | ast.keyword | ast.Starred):
        parent = view.unit.parents[parent]
    if not isinstance(parent, ast.Call):
        return isinstance(parent, _OPERATORS) or named or None
    if parent.func is node:
        return False
    if view.kinds.tensorflow(parent.func) is not None:
        return True
    function = view.kinds.called(parent)
    if function is None or depth == 0 or isinstance(function, ast.AsyncFunctionDef):
        return None
    method = isinstance(view.unit.parents.get(function), ast.ClassDef)
    names = {a.arg for a in parameters(function.args)}
    passed = {n for n in names if argument_for(parent, function, n, method) is node}
    inside = [n for n in walk(function) if isinstance(n, ast.Name) and n.id in passed]
    found = {_is_tensor(view, n, depth - 1) for n in inside}
    return False if False in found else (None if None in found or not passed else True)


def _counts(project: Project, place: Kept, path: Path) -> bool:
    """Whether its class computes with it, as with a tensor."""
    view = place.view
    assert view.cls is not None
    for cls in project.family(view.unit, view.cls):
        for node in walk(cls):
            if isinstance(node, ast.Attribute) and f".{node.attr}" == path[-1]:
                parent = view.unit.parents[node]
                if isinstance(parent, _OPERATORS):
                    return True
                if isinstance(parent, ast.Call) and parent.func is not node:
                    if view.kinds.tensorflow(parent.func) is not None:
                        return True
    return False

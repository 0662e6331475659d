"""What of expressions and attributes are variables, or hold nothing else."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.containers import is_filled_in_sight
from tapemigrate.rules.values.objects.attributes import contents, inherited_values, set_below
from tapemigrate.rules.values.objects.unnamed import sets_without_name
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

#: What holds no values that came out of variables.
PLAIN = (Make.PYTHON, Make.LEAF)
#: What is a variable, or several.
VARIABLE = (Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES)


def holds_variables(project: Project, view: View, name: str) -> bool:
    """Whether ``self.name`` is a variable, or a list or dict of such, and nothing else."""
    if view.cls is None or project.foreign_stores(view.unit, view.cls, name):
        return False
    if set_below(project, view, name) or is_set_by_text(project, view, name):
        return False
    given = [(view.unit, value) for value in attribute_values(project, view, name)]
    given += inherited_values(project, view, name)
    given += contents(project, view, name)
    alone = all(view.kinds.make(v) in (Make.VARIABLE, Make.FROZEN) for _, v in given)
    if not alone and not is_filled_in_sight(project, name):
        return False
    return bool(given) and all(
        not isinstance(unit.parents[value], ast.AugAssign)
        and is_variable(project.view(unit, project.scope_of(unit, part)), part)
        for unit, value in given
        for part in parts(value)
    )


def is_set_by_text(project: Project, view: View, name: str) -> bool:
    """Whether the attribute may be given a value without standing there: by ``setattr``."""
    if sets_without_name(project, view):
        return True
    return bool(set_by_text(project, view.unit, name))


def parts(value: ast.expr) -> list[ast.expr]:
    """The elements of a list or dict that is written out; else the value."""
    match value:
        case ast.List() | ast.Tuple():
            return value.elts
        case ast.Dict():
            return value.values
        case ast.ListComp():
            return [value.elt]
    return [value]


def is_variable(view: View, value: ast.expr) -> bool:
    """Whether the value is a new variable: by its own text, or by what the function gives."""
    made = origins(view.flow.uses_in(value)) if path_of(value) is not None else frozenset()
    values = [d.value for d in made] if made else [value]
    for each in values:
        if each is None:
            return False
        function = view.kinds.runs_only(each) if isinstance(each, ast.Call) else None
        ends = [n.value for n in walk(function) if isinstance(n, ast.Return)] if function else []
        if view.kinds.make(each) in (*VARIABLE, *PLAIN):
            continue
        if function is not None and function.decorator_list:
            return False
        if not ends or not all(e is not None and view.kinds.make(e) in VARIABLE for e in ends):
            return False
    return True


def root_of(node: ast.expr) -> str | None:
    """``rng`` of ``rng.randn(3).astype(…)``."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
            node = node.func
        else:
            return None
    return node.id

"""Parts of objects out of sight that are called after variables: ``model.params``."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.leaf import Trainable
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.syntax import PARAMETERS_BY_NAME

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_VARIABLES = (Make.VARIABLE, Make.VARIABLES, Make.ANY_VARIABLES)


def named_variables(project: Project, view: View, node: ast.Attribute) -> Trainable | None:
    """``node`` as variables, if it has a name of such and no code at hand gives it anything else.

    What a method's own object keeps under such a name, its class tells. The object is none that is
    made here, and may have used them by then.
    """
    path = path_of(node.value)
    if path in (None, (view.kinds.self_name,)) or not PARAMETERS_BY_NAME.search(node.attr):
        return None
    if any(d.kind not in _OUTSIDE for d in origins(view.flow.uses_in(node))):
        return None
    for unit in project.units.with_text([node.attr]):
        for stmt in unit.nodes(ast.Assign):
            if any(isinstance(t, ast.Attribute) and t.attr == node.attr for t in stmt.targets):
                given = project.view(unit, project.scope_of(unit, stmt))
                if not _may_be_variables(given, stmt.value):
                    return None
    return Trainable(sure=False, listed=False, single=None)


def _may_be_variables(view: View, value: ast.expr) -> bool:
    match value:
        case ast.Constant():
            return value.value is None
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return all(_may_be_variables(view, each) for each in elts)
        case ast.ListComp(elt=elt):
            return _may_be_variables(view, elt)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return True
        case ast.Call():
            return view.kinds.make(value) in (*_VARIABLES, Make.UNKNOWN)
        case ast.BinOp(op=ast.Add()):
            return all(_may_be_variables(view, each) for each in (value.left, value.right))
    return False

"""What subclasses give attributes of an object: ``self.losses.append(x)``, by methods that they
write in place of others.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.variable_lists import are_new_variables
from tapemigrate.source.trees import arguments_of, calls_in, walk
from tapemigrate.tape.ops.kinds import Make

_CONTAINERS = frozenset(
    {"list", "dict", "set", "deque", "OrderedDict", ".OrderedDict", "defaultdict", ".defaultdict"}
)


def filled_below(project: Project, view: View, name: str) -> bool:
    """Whether subclasses may put more into ``self.name``, a list or a dict: by whatever name.

    Those of other files, and what of subclasses runs where the class hands it to a method.
    """
    if view.cls is None or not any(map(_is_container, attribute_values(project, view, name))):
        return False
    known, below = project.family(view.unit, view.cls), beside(project, view.cls)
    if any(cls not in known and _may_fill(unit, cls, name) for unit, cls in below):
        return True
    members = {
        stmt.name for _, cls in below for stmt in cls.body if isinstance(stmt, NamedFunction)
    }
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr in members
        and any(getattr(each, "attr", "") == name for each in arguments_of(call))
        for cls in known
        for call in calls_in(cls)
    )


def given_below(project: Project, view: View, name: str) -> bool:
    """Whether methods of subclasses elsewhere may give ``self.name``: ``self.s = self.scale(x)``.

    Or what other code sets in place of a method. What gives a number changes nothing.
    """
    if view.cls is None:
        return False
    known = project.family(view.unit, view.cls)
    below = [(unit, cls) for unit, cls in beside(project, view.cls) if cls not in known]
    for value in attribute_values(project, view, name):
        for call in calls_in(value):
            path = path_of(call.func)
            if path is not None and len(path) == 1 and _is_patched(project, view.unit, path[0]):
                return True
            inner = project.view(view.unit, project.scope_of(view.unit, value))
            if path is None or len(path) != 2 or path[0] != inner.kinds.self_name:
                continue
            method = path[1].lstrip(".")
            if any(_gives_more(project, unit, cls, method) for unit, cls in below):
                return True
            if any(True for _ in project.stores(method)):
                return True
    return False


def _is_patched(project: Project, unit: Unit, name: str) -> bool:
    """Whether other code sets a function of the module anew: ``nets.scale = tf.square``."""
    own = bool(project.effects(unit).functions(name))
    return own and any(user.names.qualified(n.value) for user, n in project.stores(name))


def _gives_more(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
    """Whether the class has the method, and that gives more than variables and Python values."""
    methods = (s for s in cls.body if isinstance(s, NamedFunction) and s.name == name)
    views = (project.view(unit, method) for method in methods)
    ends = ((inner, end.value) for inner in views for end in inner.flow.returns)
    return any(
        end is not None
        and at.kinds.make(end) is not Make.PYTHON
        and not are_new_variables(project, at, end)
        for at, end in ends
    )


def _is_container(value: ast.expr) -> bool:
    called = (path_of(value.func) or ("",))[-1] if isinstance(value, ast.Call) else ""
    return called in _CONTAINERS or isinstance(
        value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp
    )


def _may_fill(unit: Unit, cls: ast.ClassDef, name: str) -> bool:
    """Whether the class does more with what has the name than to read what is in it."""
    nodes = (n for n in walk(cls) if isinstance(n, ast.Attribute) and n.attr == name)
    return any(not _is_read(unit.parents[node], node) for node in nodes)


def _is_read(parent: ast.AST, node: ast.Attribute) -> bool:
    match parent:
        case ast.Subscript(value=owner, ctx=ast.Load()):
            return owner is node
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
            return iterated is node
        case ast.Call(func=ast.Name(id="len" | "sum" | "zip" | "enumerate")) | ast.BinOp():
            return True
    return False

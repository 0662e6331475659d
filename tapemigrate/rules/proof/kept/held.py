"""Functions that an object keeps, and calls: what state of their module they read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.shared_state import shared_state
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED

# Through how many callers a function is followed.
_DEPTH = 4


def reads_state(project: Project, view: View, name: str) -> bool:
    """Whether what ``self.name`` is, as far as it is seen, reads what code outside of it sets."""
    values = attribute_values(project, view, name)
    return any(_reads(project, view.unit, value, _DEPTH) for value in values)


def own_methods(project: Project, view: View, nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """The methods of the class that run where ``nodes`` do, through each other too."""
    found: dict[ast.AST, None] = {}
    pending = list(nodes) if view.cls is not None else []
    while pending:
        for node in walk(pending.pop()):
            meant = _methods_meant(project, view, node)
            new = [m for m in meant if m not in found and m is not view.scope]
            found |= dict.fromkeys(new)
            pending += new
    return list(found)


def _methods_meant(project: Project, view: View, node: ast.AST) -> Iterator[ast.AST]:
    """The methods that ``self.forward``, ``super().forward``, or a call ``self(x)``, means."""
    assert view.cls is not None
    effects = project.effects(view.unit)
    owner, names = None, tuple[str, ...]()
    if isinstance(node, ast.Attribute):
        owner, names = node.value, (node.attr,)
        if means_above(view, node):
            yield from effects.methods_above(view.cls, node.attr)
    elif isinstance(node, ast.Call):
        owner, names = node.func, RUN_WHEN_CALLED
    if isinstance(owner, ast.Name) and owner.id in ("self", "cls", view.kinds.self_name):
        methods = (effects.method(view.cls, name) for name in names)
        yield from (method for method in methods if method is not None)


def means_above(view: View, node: ast.Attribute) -> bool:
    """``super().build``, ``Base.build``: what a class above has."""
    if is_super(node.value):
        return True
    lineage = [] if view.cls is None else [*view.kinds.effects.lineage(view.cls)][1:]
    return path_of(node.value) in {(cls.name,) for cls in lineage}


def _reads(project: Project, unit: Unit, value: ast.expr, depth: int) -> bool:
    if shared_state(project).read_by(project, unit, [value]):
        return True
    functions = project.effects(unit).functions(value.id) if isinstance(value, ast.Name) else []
    filled = unit.once(filled_state)
    if any(isinstance(n, ast.Name) and n.id in filled for f in functions for n in walk(f)):
        return True
    view = project.view(unit, project.scope_of(unit, value))
    made = origins(view.flow.reads.get(value, frozenset()))
    passed = [d for d in made if d.kind is Kind.PARAM and len(d.path) == 1]
    return depth > 0 and any(_is_handed(project, view, d.path[0], depth) for d in passed)


def _is_handed(project: Project, view: View, name: str, depth: int) -> bool:
    """Whether a caller hands in such a function as the parameter."""
    function = view.scope
    if not isinstance(function, ast.FunctionDef):
        return False
    for site in callers(project, view.unit, function).calls:
        value = argument_for(site.call, function, name, view.cls is not None)
        given = arguments_of(site.call)
        if value is not None and any(value is each for each in given):
            if _reads(project, site.unit, value, depth - 1):
                return True
    return False

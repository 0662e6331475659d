"""What a caller handed to an object for the attribute that is a source."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import parameters
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.aliases import with_aliases
from tapemigrate.rules.proof.asked import attribute_of
from tapemigrate.rules.values.provenance import Tracer


def put_into_object(
    project: Project, tracer: Tracer, view: View, source: Def, caller: View
) -> frozenset[Def]:
    """What the caller handed to the object for the attribute that is the source."""
    name = attribute_of(source, view)
    if view.cls is None or name is None:
        return frozenset()
    made = tracer.attribute(view, name).defs
    passed = {d for d in made if d.kind is Kind.PARAM and d.path != (view.kinds.self_name,)}
    found: frozenset[Def] = frozenset()
    for method in _methods(project, view, passed) if passed else ():
        called = view.cls.name if method.name == "__init__" else method.name
        for site in project.mentions(called).calls:
            if project.scope_of(site.unit, site.call) is not caller.scope:
                continue
            for each in passed:
                given = argument_for(site.call, method, each.path[0], True)
                if given is not None:
                    found |= with_aliases(origins(caller.flow.uses_in(given)), caller)
    return found


def _methods(project: Project, view: View, passed: set[Def]) -> list[ast.FunctionDef]:
    """The other methods of the class that have one of the parameters."""
    assert view.cls is not None
    names = {d.path[0] for d in passed}
    found = [
        stmt
        for cls in project.effects(view.unit).lineage(view.cls)
        for stmt in cls.body
        if isinstance(stmt, ast.FunctionDef) and stmt is not view.scope
        if names & {a.arg for a in parameters(stmt.args)}
    ]
    return [
        method
        for method in found
        if passed & set(project.view(view.unit, method).flow.defs.values())
    ]

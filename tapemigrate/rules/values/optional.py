"""Optional parameters, ``var_list=None``: what the callers at hand give for them."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.shape_evidence import argument_for
from tapemigrate.tape.kinds import Make


def given_for(project: Project, view: View, name: str) -> frozenset[Make]:
    """The kinds of what all callers give; nothing but ``PYTHON``: all leave it None.

    Empty where not all of it is known.
    """
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef) or not _is_optional(scope, name):
        return frozenset()
    found = callers(project, view.unit, scope)
    named = {scope.name} if view.cls is None else {scope.name, view.cls.name} - {"__init__"}
    if found.problem or found.unseen or found.mates or not found.calls or project.unread(named):
        return frozenset()
    makes: set[Make] = set()
    for site in found.calls:
        value = argument_for(site.call, scope, name, view.cls is not None)
        if value is None:
            return frozenset()
        makes |= _makes(project, site, value)
    return frozenset() if Make.UNKNOWN in makes else frozenset(makes)


def _is_optional(scope: ast.FunctionDef, name: str) -> bool:
    """Whether the parameter is None unless a call gives it."""
    args = [*scope.args.posonlyargs, *scope.args.args]
    optional = dict(zip(reversed(args), reversed(scope.args.defaults), strict=False))
    return any(
        a.arg == name and isinstance(d, ast.Constant) and d.value is None
        for a, d in optional.items()
    )


def _makes(project: Project, site: CallSite, value: ast.expr) -> set[Make]:
    if isinstance(value, ast.Constant) and value.value is None:
        return {Make.PYTHON}
    caller = project.view(site.unit, project.scope_of(site.unit, site.call))
    if not isinstance(value, ast.Name):
        return {_only_variables(caller.kinds.make(value))}
    uses = caller.flow.reads.get(value, frozenset())
    made = origins(uses)
    if not made or any(d.kind is not Kind.ASSIGN or d.path != (value.id,) for d in made):
        return {Make.UNKNOWN}
    if any(u.made.kind is Kind.MUTATE for u in uses):
        return {Make.UNKNOWN}
    kinds = caller.kinds
    return {_only_variables(kinds.make(d.value)) if d.value else Make.UNKNOWN for d in made}


def _only_variables(make: Make) -> Make:
    return make if make is Make.VARIABLES else Make.UNKNOWN

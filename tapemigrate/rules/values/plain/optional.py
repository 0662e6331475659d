"""What the callers at hand give for a parameter: ``var_list=None``, ``depth=6``."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make


def given_for(project: Project, view: View, name: str) -> frozenset[Make]:
    """The kinds of what all callers give; nothing but ``PYTHON``: all leave it None.

    Empty where not all of it is known.
    """
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef) or not _is_optional(scope, name):
        return frozenset()
    makes: set[Make] = set()
    for site, value in _given(project, view, scope, name):
        makes |= _makes(project, site, value)
    return frozenset() if Make.UNKNOWN in makes else frozenset(makes)


def is_no_function(project: Project, view: View, name: str) -> bool:
    """Whether every caller gives a tensor or a number: nothing that runs a forward pass."""
    if not isinstance(view.scope, ast.FunctionDef):
        return False
    default = default_of(view.scope, name)
    if isinstance(default, ast.Constant) and default.value is not None:
        return True
    if any(_is_reckoned_with(view, node, name) for node in walk(view.scope)):
        return True
    found = _given(project, view, view.scope, name)
    return bool(found) and all(_is_value(project, site, value) for site, value in found)


def _is_reckoned_with(view: View, node: ast.AST, name: str) -> bool:
    """Whether arithmetic is done with the parameter, before the name means anything else."""
    match node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.UnaryOp(operand=operand):
            operands = [operand] if not isinstance(node.op, ast.Not) else []
        case _:
            return False
    return any(
        isinstance(each, ast.Name)
        and each.id == name
        and {u.made.kind for u in view.flow.reads.get(each, ())} == {Kind.PARAM}
        for each in operands
    )


def _is_value(project: Project, site: CallSite, value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return True
    caller = project.view(site.unit, project.scope_of(site.unit, site.call))
    made: list[ast.expr | None] = [value]
    if isinstance(value, ast.Name):
        defs = origins(caller.flow.reads.get(value, frozenset()))
        if not defs or any(d.kind is not Kind.ASSIGN or d.path != (value.id,) for d in defs):
            return False
        made = [d.value for d in defs]
    return all(
        isinstance(each, ast.Constant)
        or (each is not None and caller.kinds.make(each) in (Make.LEAF, Make.TENSOR))
        for each in made
    )


def _given(
    project: Project, view: View, function: ast.FunctionDef, name: str
) -> list[tuple[CallSite, ast.expr]]:
    """What each call gives; empty where not all of it is known."""
    found = callers(project, view.unit, function)
    named = {function.name} if view.cls is None else {function.name, view.cls.name} - {"__init__"}
    if found.problem or found.unseen or found.mates or project.unread(named):
        return []
    given: list[tuple[CallSite, ast.expr]] = []
    for site in found.calls:
        value = argument_for(site.call, function, name, view.cls is not None)
        if value is None:
            return []
        given.append((site, value))
    return given


def _is_optional(scope: ast.FunctionDef, name: str) -> bool:
    """Whether the parameter is None unless a call gives it."""
    default = default_of(scope, name)
    return isinstance(default, ast.Constant) and default.value is None


def default_of(scope: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """What the parameter is where a call does not give it; None where each call has to."""
    args = [*scope.args.posonlyargs, *scope.args.args]
    optional = list(zip(reversed(args), reversed(scope.args.defaults), strict=False))
    named = zip(scope.args.kwonlyargs, scope.args.kw_defaults, strict=True)
    optional += [(arg, value) for arg, value in named if value is not None]
    return next((value for arg, value in optional if arg.arg == name), None)


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

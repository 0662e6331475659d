"""Seeds (``grad_ys``) that callers pass: a None among them means ones, and no tape takes one."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.enclosing import enclosing, outer_definitions
from tapemigrate.rules.callgraph.handed_unseen import may_be_handed_unseen
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.plain.nones import Nones, is_none
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources.arguments import NONE_AMONG_SEEDS, lists_none, may_list_none


def none_among(project: Project, view: View, request: Request) -> list[str] | Refusal:
    """What is assumed of the seeds of a call, or that one of these may be None."""
    search = Nones(project)
    if _is_one(search, view, request):
        return NONE_AMONG_SEEDS
    view, name = _passed(project, view, request)
    scope = view.scope
    found = [f"`{each}` is no None" for each in search.unseen]
    if not name or not isinstance(scope, ast.FunctionDef):
        return found
    if may_be_handed_unseen(project, view.unit, scope, name, libraries=False):
        found = [f"`{name}` holds no None"]
    for site in mentions_of(project, view.unit, scope).within(enclosing(view)).calls:
        given = argument_for(site.call, scope, name, view.cls is not None)
        if given is None:
            continue
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        made = [d.value for d in origins(caller.flow.reads.get(given, frozenset()))]
        for value in [given, *(v for v in made if v is not None)]:
            if lists_none(value):
                return NONE_AMONG_SEEDS
            if may_list_none(value, caller.kinds) or _is_gradients(value, caller):
                found = [f"`{name}` holds no None"]
    return found


def _is_one(search: Nones, view: View, request: Request) -> bool:
    """Whether an element of the seeds is a name, or a choice, that may be None."""
    given = request.output_gradients
    if given is None:
        return False
    # What is written in the call itself is written anew.
    elements = given.elts if isinstance(given, ast.List | ast.Tuple) else [ast.Starred(given)]
    return any(
        search.among(view, e.value) if isinstance(e, ast.Starred) else search.is_one(view, e)
        for e in elements
        if not is_none(e)
    )


def _passed(project: Project, view: View, request: Request) -> tuple[View, str]:
    """The parameter that is the call's seeds, or none, with the function that it is passed to."""
    given = request.output_gradients
    path = path_of(given) if given is not None else None
    if given is None or path is None or len(path) > 1:
        return view, ""
    made = [u.made for u in view.flow.reads.get(given, frozenset())]
    if any(d.kind is Kind.ENTRY for d in made):
        found = outer_definitions(project, view, path)
        view, made = found if found is not None else (view, [])
    return view, path[0] if any(d.kind is Kind.PARAM for d in made) else ""


def _is_gradients(value: ast.expr, view: View) -> bool:
    """Whether it is all that ``tf.gradients`` gives, which is None for what is not connected."""
    return isinstance(value, ast.Call) and short(view.kinds.name(value.func)) == "gradients"

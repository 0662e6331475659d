"""Seeds (``grad_ys``) that callers pass: a None among them means ones, and no tape takes one."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.enclosing import enclosing
from tapemigrate.rules.callgraph.handed_unseen import may_be_handed_unseen
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.nones import Nones, is_none
from tapemigrate.tape.arguments import NONE_AMONG_SEEDS, lists_none, may_list_none
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.symbols import short


def none_among(project: Project, view: View, request: Request) -> list[str] | Refusal:
    """What is assumed of the seeds of a call, or that one of these may be None."""
    name, scope = _passed(view, request), view.scope
    search = Nones(project)
    if _is_one(search, view, request):
        return NONE_AMONG_SEEDS
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


def _passed(view: View, request: Request) -> str:
    """The parameter that is the call's seeds, or none."""
    given = request.output_gradients
    path = path_of(given) if given is not None else None
    if given is None or path is None or len(path) > 1:
        return ""
    uses = view.flow.reads.get(given, frozenset())
    return path[0] if any(u.made.kind is Kind.PARAM for u in uses) else ""


def _is_gradients(value: ast.expr, view: View) -> bool:
    """Whether it is all that ``tf.gradients`` gives, which is None for what is not connected."""
    return isinstance(value, ast.Call) and short(view.kinds.name(value.func)) == "gradients"

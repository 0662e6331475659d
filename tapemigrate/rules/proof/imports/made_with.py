"""What functions computed before they are called: ``def f(h=w * x)``, or in a decorator.

Their bodies run while a tape records; their defaults and decorators ran where they were made, and
so did the bodies of classes.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.state.globals_read import run_in
from tapemigrate.rules.proof.verdicts import names_of, wrong
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.rules.values.variables.variable_values import PLAIN
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal


def made_with(
    project: Project,
    tracer: Tracer,
    ancestry: Ancestry,
    region: Region,
    view: View,
    leaves: list[Leaf],
) -> str | Refusal | None:
    """Whether functions that the region runs hold what was computed of ``leaves`` before."""
    nodes, _ = run_in(project, region, view)
    found = None
    for node in nodes:
        function = _made_around(view, node)
        if function is None or not isinstance(node, ast.expr):
            continue
        scope = project.scope_of(view.unit, function)
        holder = project.view(view.unit, scope)
        decorates = isinstance(function, NamedFunction) and node in function.decorator_list
        values = _by_decorator(project, holder, node) if decorates else [(holder, node)]
        traced = Provenance()
        for place, value in values:
            if place.kinds.make(value) not in PLAIN and path_of(value) is None:
                traced.add(tracer.value(place, value))
                # Of what stands in the body of a class, no flow tells.
                traced.globals.update(n.id for n in walk(value) if isinstance(n, ast.Name))
        name = getattr(function, "name", "the lambda")
        unsure = f"`{name}` was not made of what was computed from {names_of(leaves)}"
        sources = [d for x in leaves for d in x.defs]
        given = {name for name in traced.globals if holder.flow.given(name)}
        if _leads_from(tracer, holder, traced, leaves) or ancestry.comes_of(view, given, sources):
            if _sees(view, scope):
                return wrong(name, "made of values that were computed before", names_of(leaves))
            found = unsure
        # What calls give in the body of a class is a setting, or another function.
        is_default = not decorates and not isinstance(function, ast.ClassDef)
        if is_default and (traced.calls or traced.blind):
            found = unsure
    return found


def _made_around(view: View, node: ast.AST) -> ast.AST | None:
    """The function of which ``node`` is a default or a decorator, if it was made further out.

    Or the class in whose body it stands.
    """
    above = view.unit.parents.get(node)
    made = view.unit.parents.get(above) if isinstance(above, ast.arguments) else above
    while isinstance(made, ast.stmt) and not isinstance(made, NamedFunction | ast.ClassDef):
        made = view.unit.parents.get(made)
    if not isinstance(made, NamedFunction | ast.Lambda | ast.ClassDef):
        return None
    if isinstance(above, ast.stmt) and above is not made and isinstance(made, NamedFunction):
        return None  # a statement of its body
    around = view.unit.parents.get(made)
    while around is not None and around is not view.scope:
        around = view.unit.parents.get(around)
    return made if around is None else None


def _sees(view: View, scope: ast.AST) -> bool:
    """Whether what ``scope`` makes is seen by its name: functions of others may have that name."""
    around: ast.AST | None = view.scope
    while around is not None and around is not scope:
        around = view.unit.parents.get(around)
    return around is not None


def _by_decorator(project: Project, holder: View, node: ast.expr) -> list[tuple[View, ast.expr]]:
    """What applying the decorator computes: what it is given, and what its own body does."""
    found: list[tuple[View, ast.expr]] = []
    func = node
    if isinstance(node, ast.Call):
        found += [(holder, value) for value in arguments_of(node)]
        func = node.func
    pending, seen = [func], set[ast.AST]()
    while pending:
        name = (path_of(pending.pop()) or ("",))[-1].lstrip(".")
        for function in project.effects(holder.unit).functions(name):
            if function in seen:
                continue
            seen.add(function)
            decorator = project.view(holder.unit, function)
            made = [d for d in decorator.flow.defs.values() if d.kind is Kind.ASSIGN and d.value]
            found += [(decorator, d.value) for d in made if d.value]
            # Another one may do its work: ``def scaled(f): return times(f)``
            ends = [end.value for end in decorator.flow.returns]
            pending += [end.func for end in ends if isinstance(end, ast.Call)]
    return found


def _leads_from(tracer: Tracer, holder: View, traced: Provenance, leaves: list[Leaf]) -> bool:
    sources = {d.path[0] for x in leaves for d in x.defs}
    read = traced.globals | {d.path[0] for d in traced.defs}
    if read & sources:
        return True
    if not any(x.variables for x in leaves):
        return False
    return traced.network or any(tracer.global_name(holder, n).network for n in traced.globals)

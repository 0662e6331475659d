"""TM101–TM104: ``tf.gradients``, ``tf.hessians``, and pfor's ``jacobian`` and ``batch_jacobian``.

What each does under TensorFlow 2:
https://www.tensorflow.org/api_docs/python/tf/gradients,
https://www.tensorflow.org/api_docs/python/tf/GradientTape.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tapemigrate.flow.functions import Scope, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.model import Handed, Links
from tapemigrate.rules.callgraph import callbacks
from tapemigrate.rules.callgraph.callers import anchors, is_called_by_python, name_outside
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.library_methods import LIBRARY_METHODS
from tapemigrate.rules.calls import Calls, collect, refused
from tapemigrate.rules.catalog import lookup
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.handing.class_links import class_links
from tapemigrate.rules.handing.closures import adopt
from tapemigrate.rules.handing.givers import givers
from tapemigrate.rules.handing.lending import makers
from tapemigrate.rules.handing.object_links import object_links
from tapemigrate.rules.lambdas import Lambdas, bound_to
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import elements_of
from tapemigrate.rules.references import handed_on
from tapemigrate.rules.tapes import Tapes
from tapemigrate.rules.unseen.elsewhere import imported
from tapemigrate.rules.values.estimators import builder_of, input_makers
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, top_level, walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request

# Through how many functions of one file a tape is followed.
_MOST_HANDS = 3
_LAMBDA = Refusal(
    "it stands in a lambda, which has no room for a `with`",
    "Make the lambda a function: `def grad(x):` with a tape round the forward pass.",
)


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of the calls in ``unit``, and the rewrites that mend them."""
    if project.keeps_graphs and unit.graph:
        return []
    tapes = project.once(_tapes)
    calls = tapes.calls(unit)
    functions = Lambdas(project, unit, calls.by_scope)
    found = list(tapes.findings.get(unit.filename, ()))
    for scope, requests in calls.by_scope.items():
        if isinstance(scope, ast.Lambda):
            found += _lambda_findings(functions, unit, scope, requests, calls)
    return found


def _tapes(project: Project) -> Tapes:
    """The tapes of all files that ``project`` is asked about, laid once."""
    units = [project.units[name] for name in project.asked if name not in project.idle]
    return Tapes(project).solve([u for u in units if not (project.keeps_graphs and u.graph)])


def readings(project: Project, unit: Unit) -> list[tuple[View, Request, Region | Refusal]]:
    """Every call of ``unit`` that can be read, with its scope and its region, in order."""
    tapes = project.once(_tapes)
    found: list[tuple[View, Request, Region | Refusal]] = []
    for placed in tapes.placed.values():
        if placed.view.unit is unit:
            found += [(placed.view, r, placed.found[r]) for r in placed.requests]
    return sorted(found, key=lambda each: begin(each[1].call))


def handed_by(project: Project, scope: Scope) -> list[tuple[View, Request, Region]]:
    """The places at which a tape is opened, or passed on, for the function ``scope``."""
    found: list[tuple[View, Request, Region]] = []
    for placed in _tapes(project).placed.values():
        for request, target in placed.handed.items():
            region = placed.found.get(request)
            if target is scope and isinstance(region, Region):
                found.append((placed.view, request, region))
    return sorted(found, key=lambda each: (each[0].unit.filename, begin(each[1].stmt)))


def _made_at_top(unit: Unit) -> set[str]:
    """The names of the module that other files may have for gradient functions of tfe."""
    found: set[str] = set()
    for stmt in top_level(unit.tree):
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call):
            symbol = lookup(unit.names.qualified(stmt.value.func) or "")
            if symbol is not None and symbol.rule.startswith("TM11"):
                found |= {each.id for each in stmt.targets if isinstance(each, ast.Name)}
    return found


def links(project: Project, unit: Unit) -> Links:
    """The functions of ``unit`` that hold gradient calls; a constructor goes by its class."""
    names: set[str] = set()
    handed: set[Handed] = set()
    objects: set[Handed] = set()
    sources: set[str] = set()
    others = imported(unit)
    names |= handed_on(project, unit) | _made_at_top(unit)
    calls = collect(project, unit)
    adopt(project, unit, calls)
    for scope, requests in calls.by_scope.items():
        if others and not isinstance(scope, ast.Lambda):
            sources |= givers(project.view(unit, scope), requests)
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            if is_called_by_python(scope):
                continue
            passed = any(_is_passed_in(r.target, scope) for r in requests)
            own = any(_is_of_object(r.target, scope) for r in requests)
            each = _handed(project, unit, scope, passed or own)
            names |= {each.name, name_outside(project, unit, scope)} - {""}
            if (cls := project.class_of(unit, scope)) is not None:
                # Who makes its objects hands in what its methods read.
                names |= {cls.name, *classes(project).extending(cls.name)}
            held = object_links(scope, requests)
            sought = [each for r in requests for each in elements_of(r.sources)]
            # Who hands in a source may hand in what it made of it as well.
            passed |= any(_is_passed_in(each, scope) for each in sought)
            if scope.name != "__init__" or passed or held:
                handed.add(each)
            for maker in makers(project, unit, scope, requests):
                names.add(maker.name)
                handed.add(_handed(project, unit, maker, passed=False))
            objects |= held
        elif isinstance(scope, ast.Lambda):
            names |= bound_to(unit, scope)
    for _ in range(_MOST_HANDS if handed else 0):
        more = handing_on(project, unit, frozenset(h.name for h in handed)) - handed
        if not more:
            break
        handed |= more
        names |= {h.name for h in more if not h.followed}
    if others:
        sources |= class_links(project, unit, calls.by_scope)
    imports = others if names or calls.by_scope else frozenset()
    return Links(frozenset(names), frozenset(handed | objects), imports, frozenset(sources))


def handing_on(project: Project, unit: Unit, names: frozenset[str]) -> frozenset[Handed]:
    """The functions of ``unit`` that call functions of these names; what these are handed to."""
    sites = [site.call for name in names for site in project.mentions(name).calls]
    found: set[Handed] = set()
    for call in sites:
        scope = project.scope_of(unit, call)
        if not isinstance(scope, ast.FunctionDef) or is_called_by_python(scope):
            continue
        if (builder := builder_of(project, unit, scope)) is not None:
            found.add(_handed(project, unit, builder, passed=False))
        if scope.args.args:
            values = arguments_of(call)
            passed = any(_is_passed_in(value, scope) for value in values)
            each = _handed(project, unit, scope, passed)
            found.add(each)
            if private := name_outside(project, unit, scope):
                found.add(replace(each, name=private, shared=False))
    if sites:
        makers_of_data = input_makers(unit)
        found |= {Handed(each, frozenset(), shared=True) for each in makers_of_data}
    return frozenset(found | callbacks.receivers(project, unit, names))


def _is_passed_in(value: ast.expr, scope: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the value is a parameter, or a part of one. Most constructors make their own.

    Where a method takes nothing but its object, callers decide about nothing.
    """
    path = path_of(value)
    names = [a.arg for a in parameters(scope.args)]
    return path is not None and path[0] in names and names != ["self"]


def _is_of_object(target: ast.expr, scope: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the target may be made of what other methods put on the object."""
    names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    values = [target]
    for stmt in walk(scope) if "self" not in names else ():
        if isinstance(stmt, ast.Assign):
            if any(isinstance(t, ast.Name) and t.id in names for t in stmt.targets):
                values.append(stmt.value)
    return any(path_of(n) == ("self",) for value in values for n in ast.walk(value))


def _handed(
    project: Project, unit: Unit, scope: ast.FunctionDef | ast.AsyncFunctionDef, passed: bool
) -> Handed:
    """By what a file calls the function: a constructor goes by its class.

    A method that is ``passed`` what it differentiates, or is so by its object, may be called by who
    does not name its class.
    """
    cls = project.class_of(unit, scope)
    name = cls.name if cls is not None and scope.name == "__init__" else scope.name
    shared = passed and cls is not None and name not in LIBRARY_METHODS | {cls.name}
    return Handed(name, anchors(project, unit, scope), shared=shared)


def _lambda_findings(
    functions: Lambdas, unit: Unit, scope: ast.Lambda, requests: list[Request], calls: Calls
) -> list[Finding]:
    named = functions.named(scope)
    if named is not None:
        there = Tapes(named.project).solve([named.unit], only=named.function)
        back = functions.back(named, there.findings.get(unit.filename, []))
        if back is not None:
            return back
    return [refused(unit, r.call, calls.rules[r], _LAMBDA) for r in requests]

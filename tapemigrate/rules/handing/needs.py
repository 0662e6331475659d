"""What a function that is handed a tape needs of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import Scope, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.handing.ahead import is_product
from tapemigrate.rules.handing.asked_tapes import ASKS
from tapemigrate.rules.handing.finding_regions import kept_values
from tapemigrate.rules.handing.own_parts import unfit
from tapemigrate.rules.handing.placed import Helper, Placed
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.placing.handed import own_attribute
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request

#: What makes a call wait for a tape has gone by then: its own reason is all that there is to tell.
NO_NEED = "nothing in it needs a tape from outside"


def helper_of(project: Project, placed: Placed, helpers: Mapping[Scope, Helper]) -> Helper | str:
    """The function with what a tape that is handed to it has to have recorded, or why none can be.

    ``helpers`` are the functions known so far, to which it may hand the tape on.
    """
    scope = placed.view.scope
    assert isinstance(scope, ast.FunctionDef)
    if placed.view.flow.yields:
        return "it is a generator"
    own = _own_tape(scope)
    if own is not None:
        return f"it takes a tape already, as `{own}`; callers without one can hand in theirs"
    helper = Helper(placed, scope)
    targets: set[str] = set()
    sources: set[str] = set()
    standing: set[str] = set()
    own_targets: set[str] = set()
    own_sources: set[str] = set()
    count = 0
    for request, region in placed.found.items():
        if isinstance(region, Refusal):
            if region.threads:
                return region.reason
            continue
        if region.given != placed.tape:
            continue
        given = placed.places.judge.given(region)
        if isinstance(given, Refusal):
            return given.reason
        count += 1
        targets |= given.parameters
        own_targets |= given.attributes
        joins = placed.places.joins(region)
        if len(given.parameters | given.attributes) == 1 and not joins:
            helper.alone |= given.parameters | given.attributes
        records = placed.places.records(region)
        helper.records |= records
        vector = request.ahead is not None or len(given.parameters) > 1
        helper.computes |= records and not (vector and is_product(placed.view, region))
        helper.joins &= joins
        helper.often |= request.often or placed.repeats(request)
        further = helpers.get(placed.handed.get(request, scope))
        helper.late |= request.late or (further is not None and further.late)
        new = [a for a in given.assumptions if a not in helper.assumptions]
        helper.assumptions += new
        me = placed.view.kinds.self_name
        parts = {x: name for x in region.sources.leaves if (name := own_attribute(x, me))}
        asked = (given.attributes, parts.values())
        if problem := unfit(project, placed.view, request, *asked):
            return problem
        helper.whole |= _taken_whole(request, region)
        for leaf in region.sources.leaves:
            if leaf in parts:
                path = next(iter(leaf.defs)).path
                variable = kept_values(project, placed.view, path) == {Make.VARIABLE}
                helper.variables |= variable
                own_sources |= set() if variable else {parts[leaf]}
                continue
            sources |= {d.path[0] for d in leaf.defs if d.kind is Kind.PARAM}
            if leaf.watch is not None:
                standing |= {d.path[0] for d in leaf.defs if d.kind is Kind.ENTRY}
            helper.variables |= leaf.watch is None
    if not count:
        return NO_NEED
    helper.often |= count > 1
    helper.targets = tuple(sorted(targets))
    helper.sources = tuple(sorted(sources))
    helper.standing = tuple(sorted(standing))
    helper.own_targets = tuple(sorted(own_targets))
    helper.own_sources = tuple(sorted(own_sources))
    return helper


def _taken_whole(request: Request, region: Region) -> frozenset[str]:
    """The names, of sources that are passed in or read outside, under which there may be several.

    Of ``[x, t]`` each is one tensor.
    """
    if region.sources.single is True and path_of(request.sources) is not None:
        return frozenset()
    single = request.sources.elts if isinstance(request.sources, ast.List | ast.Tuple) else []
    named = {path_of(each) for each in single} - {path_of(each) for each in request.whole}
    found = {d.path for leaf in region.sources.leaves for d in leaf.defs}
    return frozenset(path[-1].lstrip(".") for path in found - named)


def _own_tape(function: ast.FunctionDef) -> str | None:
    """The parameter by which the function takes a tape as it stands."""
    names = {a.arg for a in parameters(function.args)}
    for node in walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if node.func.attr in ASKS and isinstance(owner, ast.Name) and owner.id in names:
                return owner.id
    return None

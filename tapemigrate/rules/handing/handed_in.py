"""What callers have to record for a function that they hand a tape."""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.handing.own_parts import read_of_object
from tapemigrate.rules.handing.placed import Helper
from tapemigrate.rules.handing.standing import read_by_caller
from tapemigrate.rules.project import CallSite, Project
from tapemigrate.rules.reading import statement_of
from tapemigrate.source.trees import arguments_of
from tapemigrate.tape.request import Request


def request_at(project: Project, helpers: list[Helper], site: CallSite) -> Request | str:
    """The call of one of ``helpers`` as a request for a tape in its caller, or why it is none."""
    targets: list[ast.expr] = []
    sources: list[ast.expr] = []
    alone: list[ast.expr] = []
    whole: list[ast.expr] = []
    for helper in helpers:
        method = helper.placed.view.cls is not None
        for names, values in ((helper.targets, targets), (helper.sources, sources)):
            more = _arguments(helper.function, names, site, method)
            if isinstance(more, str):
                return more
            told, found = (helper.alone, alone) if values is targets else (helper.whole, whole)
            chosen = tuple(name for name in names if name in told)
            passed = _arguments(helper.function, chosen, site, method)
            found += [] if isinstance(passed, str) else passed
            values += [each for each in more if each not in values]
        for name in helper.standing:
            unit = helper.placed.view.unit
            read = read_by_caller(project, unit, helper.function, name, site)
            if isinstance(read, str):
                return read
            sources.append(read)
            whole += [read] if name in helper.whole else []
        for names, values in (
            (helper.own_targets, targets),
            (helper.own_sources, sources),
        ):
            for name in names:
                part = read_of_object(project, site, name)
                if isinstance(part, str):
                    return part
                values.append(part)
                told, found = (helper.alone, alone) if values is targets else (helper.whole, whole)
                found += [part] if name in told else []
    variables = any(h.variables for h in helpers)
    if not targets or not (sources or variables):
        return "it is not told what to differentiate"
    return Request(
        site.call,
        site.call,
        statement_of(site.unit, site.call),
        "threaded",
        targets[0] if len(targets) == 1 else ast.List(targets, ast.Load()),
        ast.List(sources, ast.Load()),
        parameter=helpers[0].placed.tape,
        often=any(h.often for h in helpers),
        records=any(h.records for h in helpers),
        joins=all(h.joins for h in helpers),
        variables=variables,
        alone=tuple(alone),
        whole=tuple(whole),
    )


def _arguments(
    function: ast.FunctionDef, names: tuple[str, ...], site: CallSite, method: bool
) -> list[ast.expr] | str:
    found: list[ast.expr] = []
    passed = arguments_of(site.call)
    for name in names:
        value = argument_for(site.call, function, name, method)
        if value is None:
            return f"`{name}` cannot be told"
        if isinstance(value, ast.Constant):
            continue
        if not any(value is each for each in passed):
            return f"`{name}` is a default that is no constant"
        found.append(value)
    return found

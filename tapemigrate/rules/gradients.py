"""TM101–TM104: ``tf.gradients``, ``tf.hessians``, and pfor's ``jacobian`` and ``batch_jacobian``.

What each does under TensorFlow 2:
https://www.tensorflow.org/api_docs/python/tf/gradients,
https://www.tensorflow.org/api_docs/python/tf/GradientTape.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeGuard

from tapemigrate.flow.defuse import Scope
from tapemigrate.flow.paths import Path
from tapemigrate.rules import arguments, catalog
from tapemigrate.rules.assumptions import Judge
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.hazards import Hazards, hazards
from tapemigrate.rules.lambdas import Lambdas, bound_to
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.provenance import Tracer
from tapemigrate.rules.reading import Reading, read
from tapemigrate.rules.shape_evidence import ShapeEvidence
from tapemigrate.tape.emit import Emitter, Surroundings, several
from tapemigrate.tape.plan import Insert
from tapemigrate.tape.planner import Layout, Tape, lay_out
from tapemigrate.tape.region import Region, RegionFinder
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources import SourceReader

APIS = frozenset({"gradients", "hessians", "jacobian", "batch_jacobian"})
_LAMBDA = Refusal(
    "it stands in a lambda, which has no room for a `with`",
    "Make the lambda a function: `def grad(x):` with a tape round the forward pass.",
)
# Tapes are laid out against each other; beyond this many that takes too long to be of use.
_MOST_CALLS = 1000
_TOO_MANY = Refusal(
    f"more than {_MOST_CALLS} gradient calls stand in one function",
    "Split the function; each part is then read on its own.",
)
_CLASS = Refusal(
    "it stands in the body of a class",
    "Compute the gradient in a function, under a tape round its forward pass.",
)


@dataclass(slots=True)
class _Calls:
    """The gradient calls of one file that can be read, with what each one's arguments lose."""

    readings: dict[Request, Reading] = field(default_factory=dict)
    rules: dict[Request, str] = field(default_factory=dict)
    by_scope: dict[Scope, list[Request]] = field(default_factory=dict)


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of the calls in ``unit``, and the rewrites that mend them."""
    found: list[Finding] = []
    if project.keeps_graphs and unit.graph:
        return found
    calls = _collect(project, unit, found)
    danger = hazards(unit)
    functions = Lambdas(project, unit, calls.by_scope)
    for scope, requests in calls.by_scope.items():
        if isinstance(scope, ast.Lambda):
            found += _lambda_findings(functions, unit, scope, requests, calls)
        else:
            found += _scope_findings(project, unit, scope, requests, calls, danger)
    return found


def _lambda_findings(
    functions: Lambdas, unit: Unit, scope: ast.Lambda, requests: list[Request], calls: _Calls
) -> list[Finding]:
    named = functions.named(scope)
    if named is not None:
        there = _collect(named.project, named.unit, [])
        found = _scope_findings(
            named.project,
            named.unit,
            named.function,
            there.by_scope[named.function],
            there,
            hazards(named.unit),
        )
        back = functions.back(named, found)
        if back is not None:
            return back
    return [_refused(unit, r.call, calls.rules[r], _LAMBDA) for r in requests]


def _collect(project: Project, unit: Unit, found: list[Finding]) -> _Calls:
    calls = _Calls()
    for expr, path in unit.names.references():
        symbol = catalog.lookup(path, project.aliases)
        if symbol is None or symbol.api not in APIS:
            continue
        parent = unit.parents.get(expr)
        kind = unit.names.reference_kind(expr)
        bare = isinstance(expr, ast.Name) and kind == "star"
        if kind in ("getattr", "uncertain") or bare or not _is_called(parent, expr):
            found += arguments.reference(unit, expr, symbol, kind)
            continue
        reading = read(unit, parent, symbol.api, symbol.version)
        if reading.ambiguous is not None:
            found.append(arguments.ambiguous(unit, parent, reading))
        if reading.request is None:
            rule = "TM904" if reading.starred else symbol.rule
            found.append(_refused(unit, parent, rule, Refusal(reading.problem, _READ_RECIPE)))
            continue
        calls.readings[reading.request] = reading
        calls.rules[reading.request] = symbol.rule
        scope = project.scope_of(unit, parent)
        calls.by_scope.setdefault(scope, []).append(reading.request)
    return calls


def readings(project: Project, unit: Unit) -> list[tuple[View, Request, Region | Refusal]]:
    """Every call of ``unit`` that can be read, with its scope and its region, in order."""
    calls = _collect(project, unit, [])
    danger = hazards(unit)
    found: list[tuple[View, Request, Region | Refusal]] = []
    for scope, requests in calls.by_scope.items():
        if isinstance(scope, ast.Lambda):
            continue
        view = project.view(unit, scope)
        dropped = {r: calls.readings[r].dropped for r in requests}
        regions = _regions(project, view, requests, danger, dropped)
        found += [(view, r, regions[r]) for r in requests]
    return sorted(found, key=lambda each: each[1].call.lineno)


def _is_called(parent: ast.AST | None, expr: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(parent, ast.Call) and parent.func is expr


def functions_with_calls(project: Project, unit: Unit) -> frozenset[str]:
    """The functions of ``unit`` that hold gradient calls; a constructor goes by its class."""
    found: set[str] = set()
    for scope in _collect(project, unit, []).by_scope:
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            cls = project.class_of(unit, scope)
            found.add(cls.name if cls is not None and scope.name == "__init__" else scope.name)
        elif isinstance(scope, ast.Lambda):
            found |= bound_to(unit, scope)
    return frozenset(found)


_READ_RECIPE = "Write its arguments out by keyword; then it can be read, and rewritten."


def _scope_findings(
    project: Project,
    unit: Unit,
    scope: Scope,
    requests: list[Request],
    calls: _Calls,
    danger: Hazards,
) -> list[Finding]:
    if len(requests) > _MOST_CALLS:
        return [_refused(unit, r.call, calls.rules[r], _TOO_MANY) for r in requests]
    view = project.view(unit, scope)
    dropped = {r: calls.readings[r].dropped for r in requests}
    found = _regions(project, view, requests, danger, dropped)
    layout = lay_out(found, view.blocks, unit.parents)
    result: list[Finding] = []
    for request, refusal in layout.refused.items():
        if request in calls.rules:
            rule = calls.rules[request]
            result.append(_refused(unit, request.call, rule, refusal))
    taken = unit.names.bound_names(scope) | _nested_names(scope)
    for cluster in _clusters(layout):
        result += _cluster_findings(unit, view, cluster, calls, danger, taken)
    return result


def _regions(
    project: Project,
    view: View,
    requests: list[Request],
    danger: Hazards,
    dropped: dict[Request, dict[str, ast.expr]],
) -> dict[Request, Region | Refusal]:
    unit = view.unit
    evidence = ShapeEvidence(project, view)
    tracer = Tracer(project)
    reader = SourceReader(
        view.flow,
        view.kinds,
        lambda n: unit.lines.segment(unit.lines.span(n)),
        evidence,
        lambda path: _holds_variables(tracer, view, path),
    )
    finder = RegionFinder(view.flow, view.blocks, view.kinds, reader, unit.parents)
    judge = Judge(project, tracer, view)
    found: dict[Request, Region | Refusal] = {}
    for request in requests:
        refusal = danger.refuse(request) or danger.looked_up("name" in dropped.get(request, ()))
        if refusal is None and not view.blocks.holds(request.stmt):
            refusal = _CLASS
        if refusal is not None:
            found[request] = refusal
            continue
        inner = _first_order(request) if request.api == "hessians" else request
        region = finder.find(inner, requests)
        if isinstance(region, Region):
            region = danger.unseen(_run_by(region, view)) or region
        if isinstance(region, Region):
            if inner is not request:
                inner.first = not several(region)
            verdict = judge.judge(region)
            if isinstance(verdict, Refusal):
                region = verdict
            else:
                region.assumptions = verdict
        found[inner] = region
        if inner is not request:
            found[request] = (
                finder.second(request, region) if isinstance(region, Region) else region
            )
    return found


def _holds_variables(tracer: Tracer, view: View, path: Path) -> bool:
    """Whether an attribute of ``self`` is made of variables that the class makes."""
    if view.cls is None or len(path) != 2 or path[0] != view.kinds.self_name:
        return False
    return tracer.attribute(view, path[1].lstrip(".")).network


def _run_by(region: Region, view: View) -> list[ast.AST]:
    """What the region runs, and what the sources and the target were taken from."""
    body = region.block.body
    found: list[ast.AST] = list(body[region.first : min(region.last, region.call - 1) + 1])
    found += [region.request.target, region.request.sources]
    uses = view.flow.uses_in(region.request.target) | view.flow.uses_in(region.request.sources)
    found += [u.made.value for u in uses if u.made.value is not None]
    return found


def _first_order(request: Request) -> Request:
    """The gradient of which a Hessian is the jacobian."""
    stand_in = ast.copy_location(ast.Name("gradients", ast.Load()), request.call)
    return Request(
        request.call, stand_in, request.stmt, "gradients", request.target, request.sources
    )


def _clusters(layout: Layout) -> list[Layout]:
    """The tapes that belong together: nested, or one asked for what the other recorded."""
    clusters: list[tuple[list[Tape], int, int]] = []
    for tape in sorted(layout.tapes, key=_life):
        start, end = _life(tape)
        if clusters and start <= clusters[-1][2]:
            tapes, first, last = clusters[-1]
            clusters[-1] = ([*tapes, tape], first, max(last, end))
        else:
            clusters.append(([tape], start, end))
    found = []
    for tapes, _, _ in clusters:
        ordered = [t for t in layout.tapes if t in tapes]
        regions = {g for t in tapes for g in t.regions}
        hoisted = {key: [g for g in queue if g in regions] for key, queue in layout.hoisted.items()}
        found.append(Layout(ordered, {}, {k: q for k, q in hoisted.items() if q}))
    return found


def _life(tape: Tape) -> tuple[int, int]:
    body = tape.block.body
    start = body[min(tape.start[0], len(body) - 1)].lineno
    last = body[min(max(tape.last_real, tape.first_real), len(body) - 1)].end_lineno or 0
    return start, max(last, *(g.request.stmt.end_lineno or 0 for g in tape.regions))


def _cluster_findings(
    unit: Unit,
    view: View,
    layout: Layout,
    calls: _Calls,
    danger: Hazards,
    taken: frozenset[str],
) -> list[Finding]:
    around = Surroundings(
        unit.lines,
        view.blocks,
        unit.parents,
        taken,
        lambda node: unit.names.tensorflow_alias(getattr(node, "func", node)) or "tf",
    )
    ops = Emitter(layout, around).ops()
    regions = [g for t in layout.tapes for g in t.regions]
    assumptions: list[str] = []
    for region in regions:
        assumptions += [a for a in region.assumptions if a not in assumptions]
    applicability = "unsafe" if assumptions else "safe"
    rewrite = Rewrite(
        "unsafe" if assumptions else "safe",
        _fix_message(layout, assumptions),
        {unit.filename: (*ops, *danger.ops(), *_imports(unit, regions))},
    )
    found: list[Finding] = []
    for region in regions:
        request = region.request
        if request not in calls.rules:
            continue
        trouble = _trouble(unit, request.call, calls.rules[request])
        message = f"{trouble}; {_where(region)}"
        if applicability == "unsafe" and region.assumptions:
            message += f"; right if {' and '.join(region.assumptions)}"
        found.append(
            Finding(
                calls.rules[request],
                unit.filename,
                unit.lines.span(request.call),
                message,
                "",
                rewrite,
            )
        )
        found += arguments.dropped(unit, request, calls.readings[request], rewrite)
    return found


def _imports(unit: Unit, regions: list[Region]) -> list[Insert]:
    """``import tensorflow as tf`` where the file reaches TensorFlow by no name of its own."""
    for region in regions:
        if unit.names.tensorflow_alias(region.request.call.func) is None:
            anchor = next(
                (
                    s
                    for s in unit.tree.body
                    if isinstance(s, ast.Import | ast.ImportFrom)
                    and getattr(s, "module", "") != "__future__"
                ),
                None,
            )
            if anchor is not None:
                return [Insert(unit.lines.span(anchor), "before", "import tensorflow as tf")]
    return []


def _nested_names(scope: Scope) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(scope) if isinstance(n, ast.Name))


def _where(region: Region) -> str:
    request = region.request
    body = region.block.body
    if region.last < region.first:
        return f"a tape round its target in line {request.call.lineno} gives the same"
    first, last = body[region.first].lineno, body[region.last].end_lineno
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"a tape round {lines} gives the same"


def _fix_message(layout: Layout, assumptions: list[str]) -> str:
    count = len(layout.tapes)
    message = "Record the forward pass on a tape" if count == 1 else f"Record on {count} tapes"
    return message + (f"; right if {' and '.join(assumptions)}" if assumptions else "")


def _name_of(unit: Unit, call: ast.Call) -> str:
    return unit.lines.segment(unit.lines.span(call.func))


def _refused(unit: Unit, call: ast.Call, rule: str, refusal: Refusal) -> Finding:
    return Finding(
        rule,
        unit.filename,
        unit.lines.span(call),
        f"{_trouble(unit, call, rule)}, and is left as it is: {refusal.reason}",
        refusal.recipe,
    )


def _trouble(unit: Unit, call: ast.Call, rule: str) -> str:
    """What is wrong with the call under TensorFlow 2, as measured on 2.21."""
    what = {"TM103": "silently gives None", "TM104": "fails"}.get(rule, "raises")
    return f"`{_name_of(unit, call)}` {what} in eager execution"

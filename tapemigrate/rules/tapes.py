"""The tapes of all files at hand, and the rewrites that put them there.

Tapes that nest, and tapes that one function hands to another, land together or not at all.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.functions import Scope
from tapemigrate.model import OLD_CALL_STAYS
from tapemigrate.rules import arguments
from tapemigrate.rules.branches import runs_branches
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.callgraph.stars import words_beside_stars
from tapemigrate.rules.calls import Calls, collect, refused, trouble
from tapemigrate.rules.conditions import right_if
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.handing.closures import adopt
from tapemigrate.rules.handing.lending import tell
from tapemigrate.rules.handing.placed import Helper, Placed
from tapemigrate.rules.handing.placing import Places
from tapemigrate.rules.handing.threads import Threads
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.tensorflow_name import TensorFlowName
from tapemigrate.rules.unseen.dangers import dangers
from tapemigrate.rules.unseen.put_out import put_out
from tapemigrate.rules.unseen.turned_off import turned_on_elsewhere
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.points import Point
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.plan import AddParameter, Op
from tapemigrate.tape.planner import Layout, Tape, life
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.writing.emit import Emitter
from tapemigrate.tape.writing.surroundings import Surroundings

# Tapes are laid out against each other; beyond this many that takes too long to be of use.
_MOST_CALLS = 1000
_CONTROL_FLOW = "enable_control_flow_v2"
# What an inner function asks is asked until the outer one is forgotten.
_TOO_MANY = Refusal(
    f"more than {_MOST_CALLS} gradient calls stand in one function",
    "Split the function; each part is then read on its own.",
)


@dataclass(eq=False, slots=True)
class _Part:
    """Tapes of one scope that belong together; ``hands`` are the functions they are handed to."""

    placed: Placed
    layout: Layout
    hands: set[Scope]

    @property
    def regions(self) -> list[Region]:
        return [g for t in self.layout.tapes for g in t.regions]


@dataclass(eq=False, slots=True)
class Tapes:
    """The findings of each file, and what was found out about each scope."""

    project: Project
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    placed: dict[Scope, Placed] = field(default_factory=dict)
    _calls: dict[str, Calls] = field(default_factory=dict)
    _names: dict[Scope, frozenset[str]] = field(default_factory=dict)
    _tracer: Tracer = field(init=False)

    def __post_init__(self) -> None:
        self._tracer = Tracer(self.project)

    def calls(self, unit: Unit) -> Calls:
        """The gradient calls of ``unit``."""
        if unit.filename not in self._calls:
            calls = self._calls[unit.filename] = collect(self.project, unit)
            adopt(self.project, unit, calls)
        return self._calls[unit.filename]

    def solve(self, units: list[Unit], only: Scope | None = None) -> Tapes:
        """Lays the tapes for all calls in ``units``, or for those in one scope, by itself."""
        scopes: list[Placed] = []
        for unit in units:
            calls = self.calls(unit)
            if only is None:
                self._add(unit, *calls.others)
            for scope, requests in calls.by_scope.items():
                if only is not None and scope is not only:
                    continue
                if len(requests) > _MOST_CALLS:
                    each = [refused(unit, r.call, calls.rules[r], _TOO_MANY) for r in requests]
                    self._add(unit, *each)
                elif not isinstance(scope, ast.Lambda):
                    scopes.append(self._place(unit, scope))
        threads = Threads(self.project, self._placed_for)
        layouts = threads.solve(scopes, alone=only is not None)
        parts: list[_Part] = []
        for scope, layout in layouts.items():
            placed = self.placed[scope]
            unit, rules = placed.view.unit, placed.calls.rules
            for request, refusal in layout.refused.items():
                if request in rules:
                    self._add(unit, refused(unit, request.call, rules[request], refusal))
            parts += [_part(placed, each) for each in _clusters(layout, placed.view.blocks)]
        for part in parts:
            part.hands |= {f for g in part.regions for f in threads.lendings.functions(g)}
            for helper in [threads.helpers[s] for s in part.hands if s in threads.helpers]:
                part.hands |= helper.circle.functions if helper.circle is not None else set()
        for joined in _joined(parts):
            self._write(joined, threads)
        threads.let_go()
        return self

    def _add(self, unit: Unit, *found: Finding) -> None:
        self.findings.setdefault(unit.filename, []).extend(found)

    def _place(self, unit: Unit, scope: Scope) -> Placed:
        if scope not in self.placed:
            calls = self.calls(unit)
            view = self.project.view(unit, scope)
            places = Places(self.project, view, self._tracer)
            requests = calls.by_scope.get(scope, [])
            self.placed[scope] = Placed(view, calls, places, requests)
        return self.placed[scope]

    def _placed_for(self, site: CallSite, scope: Scope | None) -> Placed | None:
        scope = scope or self.project.scope_of(site.unit, site.call)
        if isinstance(scope, ast.Lambda):
            return None
        placed = self._place(site.unit, scope)
        return placed if len(placed.requests) <= _MOST_CALLS else None

    # -- writing --------------------------------------------------------------------------------

    def _write(self, parts: list[_Part], threads: Threads) -> None:
        """One rewrite for all of ``parts``, and the findings that it mends."""
        helpers = threads.helpers
        noted: dict[str, None] = {}
        origins: dict[str, tuple[View, ast.stmt]] = {}
        ops: dict[str, list[Op]] = {}
        for part in parts:
            unit = part.placed.view.unit
            here = ops.setdefault(unit.filename, [])
            helper = helpers.get(part.placed.view.scope)
            given = [t for t in part.layout.tapes if t.name == part.placed.tape and t.given]
            for tape in given:
                tape.optional = helper is not None and bool(helper.without)
            here += self._ops(part)
            switches = [(unit, op) for op in dangers(self.project, unit).ops()]
            switches += turned_on_elsewhere(self.project, unit)
            for home, switch in switches:
                ops.setdefault(home.filename, []).append(switch)
                if _CONTROL_FLOW in switch.code:
                    noted |= dict.fromkeys(put_out(home))
            for region in part.regions:
                for home, op in threads.lendings.ops(region):
                    ops.setdefault(home.filename, []).append(op)
                noted |= dict.fromkeys(region.assumptions)
                for each in region.assumptions:
                    origins.setdefault(each, (part.placed.view, region.request.stmt))
            if helper is not None and given:
                span = unit.lines.span(helper.function)
                here.append(AddParameter(span, part.placed.tape, bool(helper.without)))
                noted |= dict.fromkeys(helper.assumptions)
                for other, member in helper.circle.members if helper.circle is not None else ():
                    if member not in helpers:
                        op = AddParameter(other.lines.span(member), part.placed.tape, optional=True)
                        ops.setdefault(other.filename, []).append(op)
        assumptions = list(noted)
        rewrite = Rewrite(
            "unsafe" if assumptions else "safe",
            _fix_message(parts, assumptions),
            {name: tuple(dict.fromkeys(each)) for name, each in ops.items()},
        )
        callers = _handed_by(parts)
        for part in parts:
            helper = helpers.get(part.placed.view.scope)
            without = helper.without if helper is not None else []
            told = {a: _told(part.placed.view, a, origins.get(a)) for a in assumptions}
            asked = _asked_of_callers(part.placed.view.scope, callers, helpers)
            for region in part.regions:
                own = [*region.assumptions, *(told[a] for a in asked if region.given)]
                own = list(dict.fromkeys(own)) if region.assumptions else list(told.values())
                self._tell(part, region, rewrite, own, without if region.given else [])

    def _ops(self, part: _Part) -> list[Op]:
        view = part.placed.view
        unit = view.unit
        tensorflow = TensorFlowName(unit, view.scope)
        around = Surroundings(
            unit.lines,
            view.blocks,
            unit.parents,
            self._taken(view),
            tensorflow.at,
            tensorflow.v1_at,
            lambda row: 0 if unit.notebook is None else unit.notebook.cell_of(row),
            runs_branches(self.project, unit),
        )
        ops = Emitter(part.layout, around).ops()
        return [*ops, *tensorflow.imports]

    def _taken(self, view: View) -> frozenset[str]:
        """The names that a new one in the scope must not take, found once."""
        names = self._names.get(view.scope)
        if names is None:
            names = view.unit.names.bound_names(view.scope) | _nested_names(view.scope)
            if isinstance(view.scope, ast.Module):
                names |= words_beside_stars(self.project, view.unit)
            self._names[view.scope] = names
        return names

    def _tell(
        self,
        part: _Part,
        region: Region,
        rewrite: Rewrite,
        assumptions: list[str],
        without: list[str],
    ) -> None:
        request, calls, unit = region.request, part.placed.calls, part.placed.view.unit
        if request not in calls.rules:
            return
        message = f"{trouble(unit, request.call, calls.rules[request])}; {_where(region)}"
        if without:
            more = f", and {len(without) - 1} more" if len(without) > 1 else ""
            message += f", and {OLD_CALL_STAYS}: {without[0]}{more}"
        if assumptions:
            message += right_if(assumptions)
        span = unit.lines.span(request.call)
        self._add(
            unit,
            Finding(calls.rules[request], unit.filename, span, message, "", rewrite),
            *arguments.dropped(unit, request, calls.readings[request], rewrite),
        )


def _handed_by(parts: list[_Part]) -> dict[Scope, list[tuple[Region, Scope]]]:
    """By functions: the regions that hand them a tape, and in which functions these are."""
    found: dict[Scope, list[tuple[Region, Scope]]] = {}
    for part in parts:
        for region in part.regions:
            function = part.placed.handed.get(region.request)
            if function is not None:
                found.setdefault(function, []).append((region, part.placed.view.scope))
    return found


def _asked_of_callers(
    scope: Scope,
    callers: Mapping[Scope, list[tuple[Region, Scope]]],
    helpers: Mapping[Scope, Helper],
) -> list[str]:
    """The assumptions on which it rests that a function is handed a tape, and the right one."""
    found: dict[str, None] = {}
    pending, met = [scope], {scope}
    for each in pending:  # which grows meanwhile
        found |= dict.fromkeys(helpers[each].assumptions if each in helpers else ())
        for region, above in callers.get(each, ()):
            found |= dict.fromkeys(region.assumptions)
            if region.given and above not in met:
                met.add(above)
                pending.append(above)
    return list(found)


def _told(home: View, assumption: str, origin: tuple[View, ast.stmt] | None) -> str:
    """The assumption, with its place if that is another function than the one it is told in."""
    if origin is None or origin[0].scope is home.scope:
        return assumption
    return f"{assumption} ({place_of(home.unit, origin[0].unit, origin[1])})"


def _part(placed: Placed, layout: Layout) -> _Part:
    hands = {
        placed.handed[g.request]
        for t in layout.tapes
        for g in t.regions
        if g.request in placed.handed
    }
    if any(t.given or t.resumes for t in layout.tapes):
        hands.add(placed.view.scope)
    return _Part(placed, layout, hands)


def _joined(parts: list[_Part]) -> list[list[_Part]]:
    """The parts by the functions that they hand tapes to, or are handed tapes in."""
    groups: dict[int, tuple[set[Scope], list[_Part]]] = {}
    group_of: dict[Scope, int] = {}
    for number, part in enumerate(parts):
        hands, members = set(part.hands), [part]
        for other in sorted({group_of[f] for f in hands if f in group_of}):
            further, before = groups.pop(other)
            hands |= further
            members = [*before, *members]
        groups[number] = hands, members
        group_of |= dict.fromkeys(hands, number)
    return [members for _, members in groups.values()]


def _clusters(layout: Layout, blocks: Blocks) -> list[Layout]:
    """The tapes that belong together: nested, or one asked for what the other recorded."""
    clusters: list[tuple[list[Tape], Point, Point]] = []
    for tape in sorted(layout.tapes, key=lambda t: life(t, blocks)):
        start, end = life(tape, blocks)
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


def _nested_names(scope: Scope) -> frozenset[str]:
    return frozenset(n.id for n in walk(scope) if isinstance(n, ast.Name))


def _where(region: Region) -> str:
    request = region.request
    if "." in region.given:
        return f"a tape kept as `{region.given}` where the target is computed gives the same"
    if region.given:
        return "a tape that its callers hand in gives the same"
    body = region.block.body
    if region.resumes:
        return f"a tape kept as `{region.resumes}`, which goes on here, gives the same"
    if region.last < region.first:
        return f"a tape round its target in line {request.call.lineno} gives the same"
    first, last = body[region.first].lineno, body[region.last].end_lineno
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"a tape round {lines}{tell(region)} gives the same"


def _fix_message(parts: list[_Part], assumptions: list[str]) -> str:
    count = sum(not t.given for p in parts for t in p.layout.tapes)
    message = "Record the forward pass on a tape" if count < 2 else f"Record on {count} tapes"
    if any(t.given for p in parts for t in p.layout.tapes):
        message = "Hand the tape on to where the gradient is asked for"
    return message + right_if(assumptions)

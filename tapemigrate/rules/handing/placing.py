"""Where the tapes of one scope have to record, and what that rests on."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules import cells
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.asked_of_passed import is_passed_on_from_outside
from tapemigrate.rules.handing.asked_tapes import asks_a_tape_from_outside
from tapemigrate.rules.handing.finding_regions import finder_of
from tapemigrate.rules.handing.higher import HIGHER, is_elsewhere, on_kept_tape
from tapemigrate.rules.handing.rewiring import rewired
from tapemigrate.rules.handing.run import run_by
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.assumptions import Judge, is_linear
from tapemigrate.rules.proof.callers.seeds import none_among
from tapemigrate.rules.proof.objects.one_object import names_outside
from tapemigrate.rules.proof.sources.differentiated import Differentiated
from tapemigrate.rules.proof.state.found_aside import reads_aside
from tapemigrate.rules.proof.state.unset import unset
from tapemigrate.rules.unseen import caches, imported
from tapemigrate.rules.unseen.branches import runs_branches
from tapemigrate.rules.unseen.collected import collected_by
from tapemigrate.rules.unseen.converted import not_converted
from tapemigrate.rules.unseen.dangers import dangers
from tapemigrate.rules.unseen.hazards import Hazards
from tapemigrate.rules.unseen.opened import may_be_open
from tapemigrate.rules.unseen.other_code import runs_other_code
from tapemigrate.rules.unseen.turned_off import told_of_turning_on, turned_off
from tapemigrate.rules.unseen.variable_settings import set_elsewhere
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.names.handed_back import handed_back
from tapemigrate.tape.names.outputs import sibling_outputs
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.syntax import PARAMETERS_BY_NAME, elements_of, is_named_after_variables
from tapemigrate.tape.placing.handed import own_attribute
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.placing.regions import RegionFinder
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.writing.asking import several

_CLASS = Refusal(
    "it stands in the body of a class",
    "Compute the gradient in a function, under a tape round its forward pass.",
)


@dataclass(frozen=True, slots=True)
class Keeping:
    """A tape that another method keeps: where it is, and the attributes that it has recorded.

    ``assumptions``: that it is there, and has. ``single``: its source is one tensor. ``several``:
    what it has recorded is no tensor, but holds tensors.
    """

    tape: str
    recorded: frozenset[Path]
    assumptions: tuple[str, ...] = ()
    single: bool = False
    several: bool = False

    def take(self, region: Region) -> None:
        """Adds what the place of the tape tells to a region that is differentiated on it."""
        region.assumptions += [a for a in self.assumptions if a not in region.assumptions]
        if self.single and region.sources.single is None:
            region.sources.single = True


class Places:
    """Finds the regions of one scope, on tapes of its own or on one that is handed in."""

    def __init__(self, project: Project, view: View, tracer: Tracer) -> None:
        self._project = project
        self._view = view
        self._finder = finder_of(project, view, tracer)
        self._tracer = tracer
        self._by_name: RegionFinder | None = None
        self._differentiated = Differentiated(view)
        self.judge = Judge(project, tracer, view)
        self._regions: dict[
            tuple[Request, Keeping | None, frozenset[Request]], Region | Refusal
        ] = {}

    @cached_property
    def _danger(self) -> Hazards:
        """Asked late: for it many files are read, and where a tape is turned off, for nothing."""
        return dangers(self._project, self._view.unit)

    def find(
        self,
        requests: Sequence[Request],
        named: Callable[[Request], bool],
        tape: str,
        kept: Mapping[Request, Keeping],
        own: bool = False,
    ) -> dict[Request, Region | Refusal]:
        """The regions of ``requests``; ``named`` tells which of them give their ops a name.

        ``tape`` is the name of a parameter that may hold the tape of the callers; ``own``: also
        where other methods put on ``self`` what is differentiated. ``kept`` are the tapes that
        other methods keep.
        """
        self._differentiated.add(requests)
        found: dict[Request, Region | Refusal] = {}
        seeded: dict[Request, list[str]] = defaultdict(list)
        for request in requests:
            refusal = turned_off(self._project, self._view.unit)
            refusal = refusal or set_elsewhere(self._project, self._view.unit)
            refusal = refusal or self._danger.refuse(request)
            refusal = refusal or self._danger.looked_up(named(request))
            refusal = refusal or imported.refuse(self._danger, self._view, request)
            refusal = refusal or _left_for_others(request, self._project, self._view)
            refusal = refusal or rewired(self._project, self._view, request.stmt, request in kept)
            if refusal is None and not self._view.blocks.holds(request.stmt):
                refusal = _CLASS
            seeds = none_among(self._project, self._view, request) if refusal is None else refusal
            if isinstance(seeds, Refusal):
                found[request] = seeds
                continue
            opened = may_be_open(self._project, self._view.unit, request.call)
            seeded[request] = [*seeds, opened] if opened else [*seeds]
            seeded[request] += told_of_turning_on(self._project, self._view.unit)
            inner = _first_order(request) if request.api == "hessians" else request
            if request.received and tape:
                region = self._given(request, requests, tape)
            else:
                region = self._region(inner, requests, kept.get(request))
            if request in kept and kept[request].several:
                if holds_target(self._view, request, kept[request]):
                    region = self._kept(request, kept[request])
            elif isinstance(region, Region) and inner is not request:
                inner.first = not several(region)
            elif isinstance(region, Refusal) and request in kept:
                if _is_recorded(self._view, request, kept[request].recorded):
                    region = self._kept(request, kept[request])
            elif isinstance(region, Refusal) and region.threads and tape and inner is request:
                begins = region.begins
                region = self._given(request, requests, tape)
                if isinstance(region, Region):
                    region.begins |= begins
            elif isinstance(region, Refusal) and region.own and own and tape and inner is request:
                given = self._given(request, requests, tape)
                region = given if isinstance(given, Region) else region
            found[inner] = region
            if inner is not request:
                found[request] = (
                    self._finder.second(request, region) if isinstance(region, Region) else region
                )
        for request, region in found.items():
            if isinstance(region, Region) and request.api == "hessians":
                run = run_by(region, self._view)
                region.by_rows = runs_branches(run, self._view.unit, self._project)
            if isinstance(region, Region) and not region.given:
                found[request] = region = self._over(region, found, requests, tape, kept)
            if isinstance(region, Region):
                seeds = seeded[request]
                if request.ahead is not None and request.ahead.assumption:
                    seeds = [*seeds, request.ahead.assumption]
                region.assumptions += [s for s in seeds if s not in region.assumptions]
        return found

    def _over(
        self,
        region: Region,
        found: Mapping[Request, Region | Refusal],
        requests: Sequence[Request],
        tape: str,
        kept: Mapping[Request, Keeping],
    ) -> Region | Refusal:
        """``region``, if its tape has to see no more of the gradients below than their calls."""
        outside = [found[q] for q in region.lower if q in found and is_elsewhere(found[q])]
        if not outside or is_linear(region) or not any(x.outside for x in region.sources.leaves):
            return region
        if any(isinstance(g, Refusal) and g.threads for g in outside):
            return replace(HIGHER, threads=True)
        if any(isinstance(g, Region) and g.given and "." not in g.given for g in outside):
            return self._given(region.request, requests, tape)
        return on_kept_tape(region, outside, kept, self._view.kinds.self_name)

    def _given(self, request: Request, requests: Sequence[Request], tape: str) -> Region | Refusal:
        made = backward(self._view.flow.uses_in(request.target)).made
        run = [d.value for d in made if d.value is not None]
        run += [request.target, request.sources]
        unseen = self._danger.unseen(run)
        if unseen is None and (what := self._danger.collected(run)):
            unseen = collected_by(what)
        if unseen is not None:
            return unseen
        region = self._finder.received.given(request, requests, tape)
        if isinstance(region, Refusal) and self._names_variables(request.sources):
            again = self._finder_by_name().received.given(request, requests, tape)
            return again if isinstance(again, Region) else region
        return region

    def forget(self, request: Request) -> None:
        """Drops what was found out about a request."""
        for key in [k for k in self._regions if k[0] is request]:
            del self._regions[key]
        self._finder.forget(request)

    def sources(self, request: Request) -> Sources | Refusal:
        """What ``request`` is differentiated by."""
        return self._finder.sources(request)

    def records(self, region: Region) -> bool:
        """Whether ops that run here lie between what was passed in and the target."""
        return self._finder.received.records(region)

    def joins(self, region: Region) -> bool:
        """Whether such ops lead from the sources that were passed in to the target."""
        return self._finder.received.joins(region)

    def _region(
        self, request: Request, requests: Sequence[Request], kept: Keeping | None
    ) -> Region | Refusal:
        """What stands beside a request matters to its region only where it is of lower order."""
        recorded = kept.recorded if kept is not None else frozenset()
        lower = self._finder.lower(request, requests, recorded)
        if lower is None or (request, kept, lower) not in self._regions:
            region = self._place(request, requests, kept)
            lower = self._finder.lower(request, requests, recorded)
            if lower is None:
                return region
            self._regions[request, kept, lower] = region
        found = self._regions[request, kept, lower]
        if isinstance(found, Refusal):
            return found
        return self._differentiated.refuse(found, recorded) or found

    def _place(
        self, request: Request, requests: Sequence[Request], kept: Keeping | None
    ) -> Region | Refusal:
        region = self._placed(request, requests, kept, self._finder)
        if not isinstance(region, Refusal) or kept is not None:
            return region
        if not self._names_variables(request.sources):
            return region
        again = self._placed(request, requests, kept, self._finder_by_name())
        return again if isinstance(again, Region) else region

    def _finder_by_name(self) -> RegionFinder:
        if self._by_name is None:
            self._by_name = finder_of(self._project, self._view, self._tracer, by_name=True)
        return self._by_name

    def _names_variables(self, sources: ast.expr) -> bool:
        """Whether the sources are, by their name, the variables of an object."""
        seen = set[Def]()
        pending = [sources]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Attribute) and PARAMETERS_BY_NAME.search(node.attr):
                return True
            if isinstance(node, ast.List | ast.Tuple):
                pending += node.elts
            elif path_of(node) is not None:
                made = origins(self._view.flow.uses_in(node)) - seen
                seen |= made
                pending += [d.value for d in made if d.value is not None]
        return False

    def _placed(
        self,
        request: Request,
        requests: Sequence[Request],
        kept: Keeping | None,
        finder: RegionFinder,
    ) -> Region | Refusal:
        recorded = kept.recorded if kept is not None else frozenset()
        region = finder.find(request, requests, recorded)
        if isinstance(region, Refusal) and not region.threads:
            # Who made the target's ops by hand tells more than that no path leads to it.
            made = backward(self._view.flow.uses_in(request.target)).made
            region = self._danger.by_hand(d.value for d in made if d.value) or region
        if isinstance(region, Region) and region.earlier and self._reads_aside(region):
            earlier = finder.find(request, requests, recorded, aside=True)
            outcome = self._settled(earlier, request, requests, kept)
            if isinstance(outcome, Region) or kept is not None:
                return outcome
            later = self._settled(region, request, requests, kept)
            if isinstance(later, Region):
                later.assumptions.append(_put_aside_before(self._view.unit, later))
                return later
            return outcome
        outcome = self._settled(region, request, requests, kept)
        if isinstance(outcome, Region) and outcome.again and self._reads_aside(outcome):
            outcome.assumptions.append(_put_aside_before(self._view.unit, outcome))
        return outcome

    def _settled(
        self,
        region: Region | Refusal,
        request: Request,
        requests: Sequence[Request],
        kept: Keeping | None,
    ) -> Region | Refusal:
        """The region, where nothing in any file speaks against it, with what it rests on."""
        recorded = kept.recorded if kept is not None else frozenset()
        if isinstance(region, Region):
            region = (
                cells.refuse(region, self._view.unit)
                or self._symbolic(region)
                or sibling_outputs(region, self._view.flow, self._view.kinds)
                or runs_other_code(self._view, region)
                or region
            )
        if isinstance(region, Region):
            run = run_by(region, self._view)
            region = (
                self._danger.unseen(run)
                or self._walked(region)
                or not_converted(region, self._project, self._view)
                or self._uncached(region, run)
            )
            if isinstance(region, Region) and (
                what := self._danger.collected([*run, *self._made_since(region)])
            ):
                region = self._before(region, requests, kept, what)
        if isinstance(region, Region) and (
            asks_a_tape_from_outside(region, self._view)
            or is_passed_on_from_outside(region, self._view)
        ):
            return HIGHER
        if isinstance(region, Region):
            verdict = self.judge.judge(region, recorded)
            if isinstance(verdict, Refusal):
                return verdict
            region.assumptions = verdict + handed_back(
                region, self._view.flow, self._view.kinds, self._functions
            )
            region.assumptions += unset(region, self._view)
            region.resumes = kept.tape if kept is not None else ""
            if kept is not None:
                kept.take(region)
                if any(self._computes_anew(region, path) for path in recorded):
                    again = not _is_recorded(self._view, request, recorded)
                    return _ANEW if again else self._kept(request, kept)
        return region

    def _reads_aside(self, region: Region) -> bool:
        """Whether what the region runs may find what calls before it put aside."""
        nodes = [*region.block.body[region.first : region.last + 1], region.request.target]
        # Models that are called have made variables for themselves when they were first called.
        tensors = not all(x.variables for x in region.sources.leaves)
        return reads_aside(self._project, self._view, nodes, tensors)

    def _symbolic(self, region: Region) -> Refusal | None:
        """Whether a source is an attribute that holds an input of Keras."""
        me = self._view.kinds.self_name
        names = [name for x in region.sources.leaves if (name := own_attribute(x, me))]
        values = [v for n in names for v in attribute_values(self._project, self._view, n)]
        return self._danger.symbolic(values)

    def _walked(self, region: Region) -> Refusal | None:
        """Whether the target is made of what was found in the graph, where the sources were."""
        return self._danger.walked(self._made_since(region)) if self._danger.walks_graph() else None

    def _made_since(self, region: Region) -> list[ast.expr]:
        """What the target is made of beside the sources, where these were made in the scope."""
        sources = frozenset(d for x in region.sources.leaves for d in x.defs)
        first = min((begin(d.stmt) for d in sources if d.stmt is not None), default=None)
        if first is None:
            return []
        made = backward(self._view.flow.uses_in(region.request.target), sources).made - sources
        return [
            d.value
            for d in made
            if d.value is not None
            and d.stmt is not None
            and not self._view.kinds.is_barren(d.value)
            and (begin(d.stmt) >= first or self._view.blocks.loops_around(d.stmt))
        ]

    def _functions(self, name: str) -> Iterator[tuple[Kinds, NamedFunction]]:
        """The functions of a name in all files, each with what is known in its file."""
        for unit in self._project.units.defining(name):
            for function in self._project.effects(unit).functions(name):
                yield self._project.view(unit, function).kinds, function

    def _uncached(self, region: Region, run: Sequence[ast.AST]) -> Region | Refusal:
        return caches.settle(region, run, self._view, self._project)

    def _before(
        self, region: Region, requests: Sequence[Request], kept: Keeping | None, what: str
    ) -> Region | Refusal:
        """The region that begins before anything of this function may have filled a collection."""
        wider = self._finder.find(region.request, requests, early=True)
        if kept is not None or isinstance(wider, Refusal) or self._hides_a_source(wider):
            return collected_by(what)
        first = wider.block.body[wider.first].lineno
        run = run_by(wider, self._view)
        refusal = self._danger.unseen(run) or cells.refuse(wider, self._view.unit)
        if refusal is not None or isinstance(self._uncached(wider, run), Refusal):
            return refusal or collected_by(what)
        wider.assumptions.append(
            f"nothing that {what} was computed, not even in part, before line {first}"
        )
        return wider

    def _hides_a_source(self, region: Region) -> bool:
        """Whether something made of a source may have been put aside where no tape saw it."""
        made = [d for leaf in region.sources.leaves for d in leaf.defs]
        if any(leaf.outside and leaf.watch is not None for leaf in region.sources.leaves):
            return True
        if self._danger.collected([region.request.sources, *(d.value for d in made if d.value)]):
            return True
        return any(
            isinstance(d.value, ast.Call)
            and self._view.kinds.make(d.value) is Make.UNKNOWN
            and not is_named_after_variables(d)
            for d in made
        )

    def _kept(self, request: Request, kept: Keeping) -> Region:
        region = self._finder.received.kept(request, kept.tape)
        kept.take(region)
        return region

    def _computes_anew(self, region: Region, recorded: Path) -> bool:
        """Whether the region runs the very method that opens the tape, and keeps it."""
        if recorded[:-1] != (self._view.kinds.self_name,):
            return False
        attribute = recorded[-1].lstrip(".")
        cls, unit = self._view.cls, self._view.unit
        family = self._project.family(unit, cls) if cls is not None else []
        members = [m for each in family for m in each.body if isinstance(m, ast.FunctionDef)]
        stack: list[ast.AST] = list(region.block.body[region.first : region.last + 1])
        seen: set[ast.AST] = set()
        while stack and members:
            for node in walk(stack.pop()):
                if not isinstance(node, ast.Attribute):
                    continue
                if isinstance(node.ctx, ast.Store) and node.attr == attribute:
                    return True
                # ``super().build()`` runs what a class overrides.
                found = [m for m in members if m.name == node.attr and m not in seen]
                seen.update(found)
                stack += found
        return False


_ANEW = Refusal(
    "the target is computed anew here, by the method that keeps the tape of its forward pass",
    "Compute what is differentiated in that method as well, or open a tape of your own round both.",
)


def _left_for_others(request: Request, project: Project, view: View) -> Refusal | None:
    """``tape.gradient(…) if tape is not None else tf.gradients(…)``: for those without one."""
    node: ast.AST | None = request.node
    while node is not None and not isinstance(node, ast.stmt):
        node = view.unit.parents.get(node)
        match node:
            case ast.IfExp(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()]), body=body
            ) if any(path_of(n) == (name, ".gradient") for n in walk(body)):
                places = _calls_without(project, view, name)[:2]
                where = f", as in {' and in '.join(places)}" if places else ""
                return Refusal(
                    f"it is for callers that hand in no `{name}`{where}",
                    f"Open the tape round the forward pass of each, and pass `{name}=`.",
                )
    return None


def _calls_without(project: Project, view: View, name: str) -> list[str]:
    """Where the function is called without the parameter."""
    if not isinstance(view.scope, ast.FunctionDef):
        return []
    sites = callers(project, view.unit, view.scope).calls
    return [
        f"line {s.call.lineno}" + ("" if s.unit is view.unit else f" of {s.unit.filename}")
        for s in sites
        if name not in {k.arg for k in s.call.keywords}
    ]


def _is_recorded(view: View, request: Request, recorded: frozenset[Path]) -> bool:
    """Whether the target is what a tape has ``recorded``, and nothing is made of that here."""
    names = names_outside(view, request.target)
    return bool(names) and names <= recorded


def holds_target(view: View, request: Request, kept: Keeping) -> bool:
    """Whether the target is what the tape has recorded, or was merely taken out of it."""
    if _is_recorded(view, request, kept.recorded):
        return True
    target = request.target
    made = [u.made for u in view.flow.reads.get(target, frozenset())]
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
        owner: ast.expr | None = target.value
    else:
        owner = elements_of(made[0]) if len(made) == 1 else None
    path = path_of(owner) if owner is not None else None
    if not kept.several or owner is None or path not in kept.recorded:
        return False
    uses = view.flow.uses_in(owner) | view.flow.uses_in(target)
    return all(u.made.kind is Kind.ENTRY for u in uses if u.made.path[: len(path)] == path)


def _first_order(request: Request) -> Request:
    """The gradient of which a Hessian is the jacobian."""
    stand_in = ast.copy_location(ast.Name("gradients", ast.Load()), request.call)
    return Request(
        request.call, stand_in, request.stmt, "gradients", request.target, request.sources
    )


def _put_aside_before(unit: Unit, region: Region) -> str:
    """The assumption on what runs before a tape that could not begin there."""
    place = place_of(unit, unit, region.block.body[min(region.first, region.call)])
    made = sorted({x.watch for x in region.sources.leaves if x.watch})
    source = f"`{made[0]}`" if len(made) == 1 else "the variables" if not made else "the sources"
    return f"nothing that was computed from {source} was put aside before {place}"

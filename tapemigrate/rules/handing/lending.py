"""Tapes that are handed to the function that makes a source, and has used it when it returns.

``x, out = network()``: no caller can watch ``x`` before the network uses it. So the tape is opened
round that call and handed in; the function watches the source right after it has made it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Scope, parameters
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.meaning import meant_by
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.asked_tapes import ASKS
from tapemigrate.rules.handing.placed import Helper, Placed
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.objects.replacements import in_its_place
from tapemigrate.source.trees import calls_in, walk
from tapemigrate.tape.leaf import Leaf, Lent, Sources
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.returned import element, places_of
from tapemigrate.tape.ops.syntax import may_give_back
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.plan import AddParameter, Insert, Op
from tapemigrate.tape.planner import Layout
from tapemigrate.tape.request import Refusal, Request

PlacedFor = Callable[[CallSite, "Scope | None"], "Placed | None"]


@dataclass(eq=False, slots=True)
class _Maker:
    """A function that makes sources: what it watches, and which of its calls hand it a tape."""

    view: View
    function: ast.FunctionDef
    parameter: str
    calls: frozenset[ast.Call]
    unseen: bool
    watched: dict[ast.Call, set[tuple[ast.stmt, str]]] = field(default_factory=dict)

    @property
    def optional(self) -> bool:
        """Whether there may be calls that hand in none."""
        return self.unseen or not self.calls <= self.watched.keys()

    def ops(self) -> Iterator[Op]:
        """The parameter, and what it is told to watch."""
        lines = self.view.unit.lines
        yield AddParameter(lines.span(self.function), self.parameter, self.optional)
        told = {each for watched in self.watched.values() for each in watched}
        for stmt, text in sorted(told, key=lambda each: (each[0].lineno, each[1])):
            code = f"{self.parameter}.watch({text})"
            if self.optional:
                code = f"if {self.parameter} is not None:\n    {code}"
            yield Insert(lines.span(stmt), "after", code)


class Lendings:
    """Finds the functions to which tapes are handed so that they watch what they make."""

    def __init__(self, project: Project, placed: PlacedFor) -> None:
        self._project = project
        self._placed = placed
        self._makers: dict[Scope, _Maker] = {}
        self._by_call: dict[ast.Call, _Maker] = {}
        self._lent: dict[Request, Placed] = {}
        self._failed: dict[ast.Call, str] = {}

    def lend(self, placed: Placed, handed: bool) -> None:
        """Settles the requests of a scope whose sources a function makes that may be handed a tape.

        ``handed``: the scope itself takes a tape of its callers.
        """
        for request, outcome in placed.asked():
            if not isinstance(outcome, Refusal) or not outcome.lends or request in placed.kept:
                continue
            reason = self._failed.get(request.call) or self._try(placed, request, handed)
            if reason:
                self._failed[request.call] = reason
        self.explain(placed)

    def explain(self, placed: Placed) -> None:
        """Says of what is left why no tape can be handed to what makes the source."""
        for request, outcome in placed.found.items():
            reason = self._failed.get(request.call)
            if reason and isinstance(outcome, Refusal) and outcome.lends:
                more = f", and it can be handed no tape: {reason}"
                told = outcome.reason.removesuffix(more)
                placed.found[request] = replace(outcome, reason=f"{told}{more}")

    def _try(self, placed: Placed, request: Request, handed: bool) -> str:
        """Has a tape handed to the functions that make the sources, or says why it cannot be."""
        if reason := request.unfit_for_others():
            return reason
        sources = placed.places.sources(request)
        assert isinstance(sources, Sources)
        leaves: list[Leaf] = []
        told: list[tuple[ast.Call, _Maker, set[tuple[ast.stmt, str]]]] = []
        for leaf in sources.leaves:
            made = _unpacked(leaf)
            found = (leaf, None) if made is None else self._leaf(placed, request, leaf, made)
            if isinstance(found, str):
                return found
            leaves.append(found[0])
            if found[1] is not None and found[0].lent is not None:
                told.append((found[0].lent.call, *found[1]))
        if not told:
            return "which function makes it cannot be told"
        single = sources.single
        if single is None and len(leaves) == 1 and leaves[0].many is False:
            single = True
        request.known = Sources(leaves, single, None, sources.listed, sources.references)
        placed.settle(request, handed)
        outcome = placed.found[request]
        if isinstance(outcome, Refusal):
            request.known = None
            placed.settle(request, handed)
            return outcome.reason
        self._lent[request] = placed
        for call, maker, watched in told:
            self._by_call[call] = maker
            maker.watched.setdefault(call, set()).update(watched)
        return ""

    def _leaf(
        self, placed: Placed, request: Request, leaf: Leaf, made: Def
    ) -> tuple[Leaf, tuple[_Maker, set[tuple[ast.stmt, str]]]] | str:
        """The source as one that is watched where it is made, and where that is."""
        call, view = made.value, placed.view
        assert isinstance(call, ast.Call)
        if any(r.call is not call and r.call in walk(call) for r in placed.requests):
            return "a gradient stands among what it is called with"
        maker = self._maker(view, call)
        if isinstance(maker, str):
            return maker
        there = self._placed(CallSite(maker.view.unit, request.call), maker.function)
        returns = maker.view.flow.returns
        value = returns[0].value if len(returns) == 1 else None
        if there is None or maker.view.flow.yields or not isinstance(value, ast.Tuple | ast.List):
            return "it does not return what it makes in one place"
        behind = backward(view.flow.uses_in(request.target)).made
        own = places_of(made)
        places = {places_of(d) for d in behind if d.value is call and d.kind is Kind.ELEMENT}
        beside = [element(value, p) for p in places - {own} if p is not None]
        mine = element(value, own) if own is not None else None
        others = [each for each in beside if each is not None]
        if mine is None or not others or len(others) < len(places - {own}):
            return "what it returns cannot be told apart"
        inner = Request(
            request.call,
            request.node,
            returns[0],
            "kept",
            ast.List(others, ast.Load()),
            ast.List([mine], ast.Load()),
            often=True,
        )
        region = there.places.find([inner, *there.requests], lambda _: False, "", {})[inner]
        if isinstance(region, Refusal):
            return region.reason
        watched = _watched(region, maker.view)
        if isinstance(watched, str):
            return watched
        alone = there.places.sources(replace(inner, sources=mine))
        lent = Leaf(
            leaf.defs,
            None,
            outside=False,
            many=None if isinstance(alone, Refusal) or alone.single is None else not alone.single,
            fresh=True,
            assumption=" and ".join(region.assumptions) or None,
            lent=Lent(call, maker.parameter, maker.function.name),
        )
        return lent, (maker, watched)

    def _maker(self, view: View, call: ast.Call) -> _Maker | str:
        """The function of the files at hand that the call means, and no other."""
        function = view.kinds.called(call)
        if not isinstance(function, ast.FunctionDef):
            return "which function it is cannot be told"
        if function not in self._makers:
            unit = view.unit
            found = callers(self._project, unit, function)
            named = {function.name}
            problem = found.problem or found.overridden or _rebound(unit, function)
            cls = unit.parents.get(function)
            if not problem and isinstance(cls, ast.ClassDef):
                problem = in_its_place(self._project, unit, cls, function.name)
            if problem:
                return problem
            if found.mates or self._project.unread(named):
                return f"other code may mean another one by `{function.name}`"
            there = self._placed(CallSite(unit, call), function)
            if there is None:
                return f"`{function.name}` leaves no room for a tape"
            # It is left as it was while a gradient call stood there: a second run changes nothing.
            if any(view.kinds.tensorflow(c.func) == "GradientTape" for c in calls_in(function)):
                return f"`{function.name}` has a tape of its own"
            if _is_handed_one(function):
                return f"`{function.name}` is handed another one"
            calls = frozenset(site.call for site in found.calls)
            maker = _Maker(there.view, function, there.tape, calls, bool(found.unseen))
            self._makers[function] = maker
        maker = self._makers[function]
        if not meant_by(self._project, view.unit, function, CallSite(view.unit, call)):
            return "which function it is cannot be told"
        return maker

    # -- what the tapes turn out to be ----------------------------------------------------------

    def clash(self, layouts: dict[Scope, Layout], helpers: dict[Scope, Helper]) -> bool:
        """Whether a lending does not go with the tapes that were laid; it is given up then."""
        tapes: dict[ast.Call, list[object]] = {}
        requests: dict[ast.Call, list[Request]] = {}
        for layout in layouts.values():
            for tape in layout.tapes:
                for region in tape.regions:
                    for call in calls_of(region):
                        requests.setdefault(call, []).append(region.request)
                        if tape not in tapes.setdefault(call, []):
                            tapes[call].append(tape)
        members = {m for h in helpers.values() if h.circle for m in h.circle.functions}
        lost = False
        for call, maker in list(self._by_call.items()):
            reason = ""
            own = layouts.get(maker.function)
            if call not in tapes:
                self._forget(call)
                continue
            if len(tapes[call]) > 1:
                reason = "two tapes, one for each order, would have to watch it"
            elif maker.function in helpers or maker.function in members:
                reason = f"`{maker.function.name}` is handed another one"
            elif own is not None and own.tapes:
                reason = f"`{maker.function.name}` has a tape of its own"
            if reason:
                lost = True
                self._forget(call)
                for request in requests[call]:
                    self._failed[request.call] = reason
                    request.known = None
                    self._lent.pop(request).places.forget(request)
        return lost

    def _forget(self, call: ast.Call) -> None:
        self._by_call.pop(call).watched.pop(call, None)

    def functions(self, region: Region) -> set[Scope]:
        """The functions to which the tape of a region is handed to watch its sources."""
        return {self._by_call[c].function for c in calls_of(region) if c in self._by_call}

    def ops(self, region: Region) -> Iterator[tuple[Unit, Op]]:
        """What is done to these functions."""
        for call in calls_of(region):
            maker = self._by_call.get(call)
            if maker is not None:
                yield from ((maker.view.unit, op) for op in maker.ops())


def calls_of(region: Region) -> list[ast.Call]:
    """The calls to which the tape of a region is handed."""
    return [x.lent.call for x in region.sources.leaves if x.lent is not None]


def _unpacked(leaf: Leaf) -> Def | None:
    """The one definition of a source that was unpacked from a call, and is known by that name."""
    if len(leaf.defs) != 1 or leaf.watch is None:
        return None
    made = next(iter(leaf.defs))
    unpacked = made.kind is Kind.ELEMENT and isinstance(made.value, ast.Call)
    return made if unpacked and text_of(made.path) == leaf.watch else None


def _watched(region: Region, view: View) -> set[tuple[ast.stmt, str]] | str:
    """After which statements of the function it has made the source, and by what name."""
    leaves = region.sources.leaves
    leaf = leaves[0] if len(leaves) == 1 else None
    if leaf is None or region.lower or leaf.watch is None:
        return "it does not make the source by itself"
    if leaf.outside or leaf.found or leaf.variables or leaf.filled or leaf.looked_up:
        return f"`{leaf.watch}` may have been there before"
    found: set[tuple[ast.stmt, str]] = set()
    for made in leaf.defs:
        plain = isinstance(made.stmt, ast.Assign) and view.blocks.holds(made.stmt)
        named = text_of(made.path) == leaf.watch and leaf.watch.replace(".", "").isidentifier()
        if not plain or not named or made.kind is not Kind.ASSIGN or made.stmt is None:
            return f"there is no place to watch `{leaf.watch}`"
        value = made.value
        if value is None or may_give_back(value, view.kinds):
            return f"`{leaf.watch}` may have been there before"
        own = isinstance(value, ast.Call) and view.kinds.gives_tensors(value)
        if not own and view.kinds.make(value) not in (Make.TENSOR, Make.LEAF):
            return f"whether `{leaf.watch}` is made there cannot be told"
        found.add((made.stmt, leaf.watch))
    return found


def _is_handed_one(function: ast.FunctionDef) -> bool:
    """Whether a parameter is a tape, as an earlier run may have left it."""
    names = {a.arg for a in parameters(function.args)}
    asked = (c.func for c in calls_in(function) if isinstance(c.func, ast.Attribute))
    return any(
        isinstance(f.value, ast.Name) and f.value.id in names and f.attr in {*ASKS, "watch"}
        for f in asked
    )


def _rebound(unit: Unit, function: ast.FunctionDef) -> str:
    """Where the name of a function that is no method is given to something else."""
    if isinstance(unit.parents.get(function), ast.ClassDef):
        return ""
    for node in unit.nodes(ast.Name):
        if node.id == function.name and not isinstance(node.ctx, ast.Load):
            return f"`{function.name}` is set anew in line {node.lineno}"
    return ""


def tell(region: Region) -> str:
    """To what functions the tape is handed, for the message."""
    names = {f"`{x.lent.name}`" for x in region.sources.leaves if x.lent is not None}
    return f", handed to {' and '.join(sorted(names))}," if names else ""


def makers(
    project: Project, unit: Unit, scope: Scope, requests: list[Request]
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of ``unit`` of which ``scope`` unpacks sources, and may hand a tape to."""
    sources = {p for r in requests for n in walk(r.sources) if (p := path_of(n)) is not None}
    effects, cls = project.effects(unit), project.class_of(unit, scope)
    for stmt in walk(scope):
        if not isinstance(stmt, ast.Assign) or not isinstance(stmt.value, ast.Call):
            continue
        parts = (e for t in stmt.targets if isinstance(t, ast.Tuple | ast.List) for e in t.elts)
        called = path_of(stmt.value.func)
        if called is None or not sources & {path_of(each) for each in parts}:
            continue
        if len(called) == 1:
            yield from effects.functions(called[0])
        elif len(called) == 2 and cls is not None:
            method = effects.method(cls, called[1].lstrip("."))
            if method is not None:
                yield method

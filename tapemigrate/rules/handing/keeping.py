"""Tapes that are kept where the target is computed, for functions that ask them elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.rules.handing.as_tensors import may_be_object
from tapemigrate.rules.handing.kept import Kept, keep
from tapemigrate.rules.handing.kept_branches import keep_branches
from tapemigrate.rules.handing.kept_on_objects import Held, Producer, keep_on_object
from tapemigrate.rules.handing.made_here import MadeHere, made_here
from tapemigrate.rules.handing.outliving import left_behind
from tapemigrate.rules.handing.placed import Placed
from tapemigrate.rules.handing.placing import Keeping, holds_target
from tapemigrate.rules.handing.reentry import entered_twice
from tapemigrate.rules.project import CallSite, Project
from tapemigrate.tape.ops.syntax import base
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.planner import Layout
from tapemigrate.tape.request import Refusal, Request

PlacedFor = Callable[[CallSite, "Scope | None"], "Placed | None"]

_NO_ROOM = Refusal(
    "no tape can be opened where it is computed",
    "Compute the target in a method, under a tape that is kept beside it.",
)


class Keeper:
    """Has tapes kept. ``touched`` are the scopes that are read, by themselves."""

    def __init__(self, project: Project, placed: PlacedFor, touched: dict[Scope, Placed]) -> None:
        self._project = project
        self._placed = placed
        self._touched = touched
        self._failed: dict[Request, str] = {}
        self._of_objects: dict[Request, str] = {}
        self._made_here: list[tuple[Placed, Request, MadeHere]] = []
        self._shared: dict[object, list[tuple[Placed, Request, Held]]] = {}

    def restart(self) -> None:
        """Forgets what was opened, and keeps in mind what did not do."""
        self._shared.clear()
        self.let_go()

    def let_go(self) -> None:
        """Leaves the scopes as others are to read them."""
        for placed, request, here in self._made_here:
            here.read_as_before()
            placed.places.forget(request)
        self._made_here.clear()

    def keep(self, placed: Placed) -> None:
        """Has tapes kept for the requests whose targets are attributes, computed elsewhere."""
        requests = [*placed.requests, *placed.handed]
        # What another gradient is taken of comes first: it ends before that one does.
        for request in sorted(requests, key=lambda r: (r.call.end_lineno, r.call.end_col_offset)):
            outcome = placed.found[request]
            if isinstance(outcome, Refusal):
                if self._is_made_here(placed, request):
                    continue
                sources = placed.places.sources(request)
                if isinstance(sources, Refusal):
                    continue
                path = path_of(request.target) or ()
                # ``self.net.loss`` is the target of an object that ``self`` keeps.
                of_object = any(step.startswith(".") for step in path[2:])
                if outcome.keeps and not of_object:
                    self._on_self(placed, request, outcome)
                elif request not in self._of_objects:
                    self._on_object(placed, request)

    def explain(self, placed: Placed) -> None:
        """Says of what is left why the object that has the target keeps no tape."""
        for request, outcome in placed.found.items():
            reason = self._of_objects.get(request)
            if reason and isinstance(outcome, Refusal) and reason != outcome.reason:
                told = f"{outcome.reason}, and no tape can be kept on it: {reason}"
                placed.found[request] = Refusal(told, outcome.recipe, own=outcome.own)

    def _on_self(self, placed: Placed, request: Request, outcome: Refusal) -> None:
        if request in self._failed:
            reason = f"{outcome.reason}: {self._failed[request]}"
            placed.found[request] = Refusal(reason, outcome.recipe, own=outcome.own)
            return
        sources = placed.places.sources(request)
        if isinstance(sources, Refusal):
            return
        asked = (self._project, placed.view, request, outcome.keeps, sources)
        found = keep_branches(*asked) or keep(*asked)
        if isinstance(found, Refusal):
            # The attribute that an expression is made of may be none that the target is of.
            if path_of(base(request.target)) is not None:
                placed.found[request] = replace(found, own=outcome.own)
            return
        me = placed.view.kinds.self_name or "self"
        recorded = frozenset({(me, f".{outcome.keeps}")})
        keeping = Keeping(f"{me}.{found.tape}", recorded, several=found.several)
        # What is taken out of a list is a tensor, whatever else the list holds.
        taken = found.several and holds_target(placed.view, request, keeping)
        tensors = frozenset[Path]() if taken else recorded
        refusal = self._open(placed, request, found, tensors)
        if refusal is None and (other := self._round_the_same(found)):
            self._close(request)
            refusal = self._open(placed, request, replace(found, tape=other), tensors)
            keeping = replace(keeping, tape=f"{me}.{other}")
        if refusal is not None:
            self._failed[request] = refusal.reason
            reason = f"{outcome.reason}: {refusal.reason}"
            placed.found[request] = Refusal(reason, refusal.recipe, own=outcome.own)
        elif self._ask(placed, request, keeping) is not None:
            self._failed[request] = "a tape that is kept there does not record all of it"

    def _round_the_same(self, found: Kept) -> str:
        """The tape that the method keeps for another target already, round the same statements."""
        there = self._touched[found.view.scope]
        own = there.found[found.request]
        for request in there.handed:
            other = there.found[request]
            if request.api != "kept" or request is found.request or isinstance(other, Refusal):
                continue
            if isinstance(own, Region) and _rows(own) == _rows(other):
                return request.parameter.rpartition(".")[2]
        return ""

    def _is_made_here(self, placed: Placed, request: Request) -> bool:
        """Whether the request is about an object that its scope makes, and is asked of its tape."""
        if request in self._of_objects:
            return False
        others = [*placed.requests, *placed.handed]
        here = made_here(self._project, placed.view, request, others)
        if here is None:
            return False
        here.read_from_outside()
        self._made_here.append((placed, request, here))
        placed.settle(request, False)
        self._on_object(placed, request, here)
        if isinstance(placed.found[request], Region):
            return True
        self._made_here.pop()
        here.read_as_before()
        placed.settle(request, False)
        return False

    def _on_object(self, placed: Placed, request: Request, here: MadeHere | None = None) -> None:
        sources = placed.places.sources(request)
        if isinstance(sources, Refusal):
            return
        found = keep_on_object(self._project, placed.view, request, sources, here)
        if found is None or isinstance(found, str):
            self._of_objects[request] = found or ""
            return
        before = placed.found[request]
        for producer in found.producers:
            self._shared.setdefault(producer.key, []).append((placed, request, found))
        keeping = Keeping(found.tape, found.recorded, found.assumptions, found.single)
        refusal = self._open_shared(found) or self._ask(placed, request, keeping)
        if refusal is not None:
            self._of_objects[request] = refusal.reason
            placed.found[request] = before
            for producer in found.producers:
                self._shared[producer.key].pop()
            self._close(request)
            self._open_shared(found)

    def _open_shared(self, found: Held) -> Refusal | None:
        """Opens one tape per class for all requests that share it: of what each of them needs."""
        for producer in found.producers:
            sharing = self._shared[producer.key]
            names = frozenset(n for _, _, held in sharing for n in held.wanted(producer))
            for placed, request, held in sharing:
                self._close(request, producer)
                kept = producer.kept(names, request)
                if isinstance(kept, str):
                    return Refusal(kept, "")
                refusal = self._open(placed, request, kept, held.recorded)
                if refusal is not None:
                    return refusal
        return None

    def _open(
        self, placed: Placed, request: Request, place: Kept, recorded: frozenset[Path]
    ) -> Refusal | None:
        """Opens the tape at its place, or says why it would not do, or has no room."""
        path = may_be_object(self._project, placed.view, request, recorded, place)
        if path is not None:
            told = f"`{text_of(path)}` may be more than a tensor, and compute what is asked of it"
            return Refusal(told, _NO_ROOM.recipe)
        there = self._placed(CallSite(place.view.unit, place.request.call), place.view.scope)
        if there is None:
            return _NO_ROOM
        self._touched.setdefault(there.view.scope, there)
        place.request.parameter = f"{place.view.kinds.self_name}.{place.tape}"
        there.handed[place.request] = placed.view.scope
        there.evaluate(False)
        outcome = there.found[place.request]
        if isinstance(outcome, Refusal):
            self._close(request)
            return outcome
        return None

    def _ask(self, placed: Placed, request: Request, keeping: Keeping) -> Refusal | None:
        """Has the request asked of the tape that was opened, or says why it would not do."""
        placed.kept[request] = keeping
        placed.evaluate(False)
        outcome = placed.found[request]
        if isinstance(outcome, Region):
            return None
        del placed.kept[request]
        self._close(request)
        return outcome

    def _close(self, request: Request, of: Producer | None = None) -> None:
        """Takes the tape of a request back, wherever it was opened: only by ``of``, if given."""
        for there in list(self._touched.values()):
            if of is not None and not of.is_method(there.view):
                continue
            own = [r for r in there.handed if r.api == "kept" and r.call is request.call]
            for each in own:
                del there.handed[each]
            if own:
                there.evaluate(False)

    def lost(self, layouts: dict[Scope, Layout]) -> bool:
        """Whether a tape that was to be kept could not be laid after all, as one tape."""
        lost = False
        for placed, request, reason in entered_twice(self._project, self._touched, layouts):
            self._give_up(placed, request, reason)
            lost = True
        outlived = dict(left_behind(self._project, self._touched, layouts))
        for scope, layout in layouts.items():
            placed = self._touched[scope]
            for request in placed.kept.keys() & layout.refused.keys():
                self._give_up(placed, request, layout.refused[request].reason)
                lost = True
            failed = {r: refusal.reason for r, refusal in layout.refused.items()}
            failed |= outlived
            names = [tape.kept for tape in layout.tapes if tape.kept]
            for tape in layout.tapes:
                if names.count(tape.kept) > 1:
                    reason = "it is computed in parts that no single tape records"
                    failed |= {g.request: reason for g in tape.regions}
            for request, reason in failed.items():
                if request.api == "kept" and request in placed.handed:
                    asking = self._touched[placed.handed[request]]
                    for other in asking.kept:
                        if other.call is request.call:
                            self._give_up(asking, other, reason)
                            lost = True
        return lost

    def _give_up(self, placed: Placed, request: Request, reason: str) -> None:
        """Keeps in mind that the tape, of this object or of another one, does not do."""
        owners = {path[:-1] for path in placed.kept[request].recorded}
        own = owners == {(placed.view.kinds.self_name,)}
        (self._failed if own else self._of_objects)[request] = reason


def _rows(region: Region) -> tuple[object, ...]:
    """What two regions have alike that one tape can record."""
    return id(region.block), region.first, region.last, len(region.lower), region.stops

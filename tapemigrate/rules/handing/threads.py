"""Tapes that are handed on: the target is a parameter, its forward pass runs in the callers.

Such a function gets the tape as a parameter, and every caller opens it round its own forward pass.
A caller whose own target is a parameter is such a function in turn.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.meaning import meant_by
from tapemigrate.rules.callgraph.places import stem
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.flowing import Flowing
from tapemigrate.rules.handing.handed_in import request_at
from tapemigrate.rules.handing.keeping import Keeper
from tapemigrate.rules.handing.lending import Lendings, PlacedFor
from tapemigrate.rules.handing.needs import NO_NEED, helper_of
from tapemigrate.rules.handing.placed import Helper, Placed
from tapemigrate.rules.handing.sites import Sites
from tapemigrate.rules.project import CallSite, Project
from tapemigrate.rules.proof.verdicts import NOTHING_PASSED, tells_what_enters
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.planner import Layout, lay_out
from tapemigrate.tape.request import Refusal, Request

# A tape that passes through more hands than this is no help to anybody.
_MOST_STEPS = 200


class Threads:
    """Finds the functions that are handed a tape, and the calls that hand it to them.

    ``placed`` gives the scope of a call; None where no tape can be opened in it.
    """

    def __init__(self, project: Project, placed: PlacedFor) -> None:
        self._project = project
        self._placed = placed
        self._failed: dict[Scope, str] = {}
        self._called: dict[Scope, bool] = {}
        self._not_own: dict[Scope, str] = {}
        self._failed_sites: dict[ast.Call, str] = {}
        self._sites = Sites(project)
        self._touched: dict[Scope, Placed] = {}
        self.lendings = Lendings(project, placed)
        self._flowing = Flowing(project)
        self._keeper = Keeper(project, placed, self._touched)
        self.helpers: dict[Scope, Helper] = {}

    def solve(self, scopes: list[Placed], alone: bool) -> dict[Scope, Layout]:
        """Hands tapes on wherever all calls of a function can be made to; the rest is refused.

        ``alone``: no tape is handed anywhere.
        """
        while True:
            self.helpers = {}
            self._keeper.restart()
            self._touched.update({p.view.scope: p for p in scopes})
            self._flowing.let_go()
            for placed in self._touched.values():
                placed.handed, placed.kept = {}, {}
                placed.evaluate(False)
            if not alone:
                for placed in scopes:
                    self._keeper.keep(placed)
                    self.lendings.lend(placed, handed=False)
                    self._flowing.take(placed, handed=False)
            failure = None if alone else self._attempt(scopes)
            for placed in self._touched.values():
                self._keeper.explain(placed)
                self._explain(placed)
                self.lendings.explain(placed)
            layouts = {
                scope: lay_out(p.found, p.view.blocks, p.view.unit.parents)
                for scope, p in self._touched.items()
            }
            if failure is None and (self._keeper.lost(layouts) or self._lost_call(layouts)):
                continue
            if failure is None and self.lendings.clash(layouts, self.helpers):
                continue
            failure = failure or self._left_out(layouts)
            if failure is None:
                self._spread()
                self._assume()
                return layouts
            self._fail(*failure)

    def let_go(self) -> None:
        """Leaves the scopes as others are to read them, when all is written."""
        self._keeper.let_go()

    def _fail(self, scope: Scope, reason: str) -> None:
        """Keeps in mind that the function takes no tape, or none of what is kept on ``self``."""
        placed = self._touched[scope]
        self._flowing.let_go(placed)
        placed.evaluate(False)
        if placed.own and any(isinstance(f, Refusal) and f.own for f in placed.found.values()):
            placed.own = False
            self._not_own[scope] = reason
            self._failed_sites.clear()
        else:
            self._failed[scope] = reason

    def _lost_call(self, layouts: dict[Scope, Layout]) -> bool:
        """Whether a caller that was to hand in a tape could not lay it after all."""
        lost = False
        for scope, layout in layouts.items():
            placed = self._touched[scope]
            for request, refusal in layout.refused.items():
                helper = self.helpers.get(placed.handed.get(request, scope))
                if request in placed.handed and request.api != "kept" and helper is not None:
                    where = CallSite(placed.view.unit, request.call).place(helper.placed.view.unit)
                    reason = f"at its call in {where}, {refusal.reason}"
                    self._failed_sites[request.call] = reason
                    lost = True
        return lost

    def _left_out(self, layouts: dict[Scope, Layout]) -> tuple[Scope, str] | None:
        """A function whose tape could not be laid."""
        for scope, layout in layouts.items():
            placed = self._touched[scope]
            for request, refusal in layout.refused.items():
                region = placed.found.get(request)
                if scope in self.helpers and isinstance(region, Region) and region.given:
                    return scope, refusal.reason
        return None

    def _spread(self) -> None:
        """What a function is handed by some callers only, it hands on in some calls only."""
        work = [h for h in self.helpers.values() if h.without]
        while work:
            helper = work.pop()
            placed = helper.placed
            for request, scope in placed.handed.items():
                region = placed.found.get(request)
                further = self.helpers.get(scope)
                if further is None or further.without or not isinstance(region, Region):
                    continue
                if region.given == placed.tape:
                    where = CallSite(placed.view.unit, request.call).place(further.placed.view.unit)
                    further.without.append(f"in {where} there may be none to hand on")
                    work += self._kin(further)

    def _assume(self) -> None:
        """Says where it is taken for granted that a call means one of the methods seen."""
        handing = {request.call for p in self._touched.values() for request in p.handed}
        for helper in self.helpers.values():
            for site in helper.circle.guessed if helper.circle is not None else ():
                if site.call in handing:
                    place = f"{site.unit.filename}, line {site.call.lineno}"
                    name = helper.function.name
                    helper.assumptions.append(
                        f"`{name}`, called in {place}, is a method of the files at hand"
                    )

    def _attempt(self, scopes: list[Placed]) -> tuple[Scope, str] | None:
        work = [p for p in scopes if self._is_open(p)]
        steps = 0
        while work:
            placed = work.pop(0)
            scope = placed.view.scope
            steps += 1
            if steps > _MOST_STEPS:
                return scope, "the functions that would hand it on call each other in a circle"
            placed.evaluate(True)
            self._flowing.take_received(placed)
            helper = helper_of(self._project, placed, self.helpers)
            if isinstance(helper, str):
                return scope, helper
            before = self.helpers.get(scope)
            if before is not None and before.needs == helper.needs:
                before.assumptions += [a for a in helper.assumptions if a not in before.assumptions]
                continue
            self.helpers[scope] = helper
            sites = self._sites.of(helper)
            if isinstance(sites, str):
                return scope, sites
            kin = self._kin(helper)
            for each in kin if before is None else (*kin, before):
                self._withdraw(each)
                each.without = helper.without
            handing: set[Scope] = set()
            failures: list[str] = []
            for site in sites:
                meant = [h for h in kin if self._means(h, site)]
                reason = self._failed_sites.get(site.call)
                caller = None if reason or not meant else self._placed(site, None)
                if caller is not None and caller.view.scope is scope and helper in meant:
                    reason = "it calls itself"
                    if helper.circle is None:
                        return scope, reason
                if meant:
                    reason = reason or self._hand(meant, site, caller, work)
                if reason:
                    self._failed_sites[site.call] = reason
                    helper.without.append(reason)
                    failures.append(reason)
                else:
                    handing |= {h.placed.view.scope for h in meant}
            for each in kin if helper.without else ():
                if each.placed.view.scope not in handing:
                    return each.placed.view.scope, (failures or helper.without)[0]
        return None

    def _kin(self, helper: Helper) -> list[Helper]:
        """The helpers that a call of this one may mean, itself among them."""
        if helper.circle is None:
            return [helper]
        return [h for h in self.helpers.values() if h.function in helper.circle.functions]

    def _means(self, helper: Helper, site: CallSite) -> bool:
        """Whether the call may be one of the helper."""
        unit = helper.placed.view.unit
        if helper.circle is not None and helper.circle.meant:
            return helper.function in helper.circle.meant[site.call]
        return helper.circle is None or (
            meant_by(self._project, unit, helper.function, site) is not False
        )

    def _hand(
        self, helpers: list[Helper], site: CallSite, caller: Placed | None, work: list[Placed]
    ) -> str:
        """Has ``caller`` hand in the tape at ``site``, or says why it cannot."""
        helper = helpers[0]
        where = site.place(helper.placed.view.unit)
        if site.unit.filename not in self._project.asked:
            return f"its call in {where} stands in {_left_alone(helper, site.unit)}"
        if caller is None:
            return f"its call in {where} leaves no room for a tape"
        self._touched.setdefault(caller.view.scope, caller)
        request = request_at(self._project, helpers, site)
        if isinstance(request, str):
            return f"{request} in {where}"
        if any(h.late for h in helpers) and _is_filled_later(caller, request):
            return f"after its call in {where}, there may be more to differentiate than at it"
        caller.handed[request] = helper.function
        caller.evaluate(caller.view.scope in self.helpers)
        self.lendings.lend(caller, caller.view.scope in self.helpers)
        outcome = caller.found[request]
        waits = isinstance(outcome, Refusal) and self._waits(outcome, caller)
        if isinstance(outcome, Refusal) and not (waits and self._may_be_handed(caller)):
            del caller.handed[request]
            caller.evaluate(caller.view.scope in self.helpers)
            why = self._failed.get(caller.view.scope, NO_NEED) if waits else NO_NEED
            further = "" if why in (NO_NEED, outcome.reason) else f", and none can reach it: {why}"
            return f"at its call in {where}, {outcome.reason}{further}"
        if (waits or self._is_open(caller)) and caller not in work:
            work.append(caller)
        return ""

    def _is_open(self, placed: Placed) -> bool:
        """Whether a request of the scope waits for a tape that is handed in."""
        return self._may_be_handed(placed) and any(
            (isinstance(f, Refusal) and self._waits(f, placed))
            or (isinstance(f, Region) and f.given == placed.tape)
            for f in placed.found.values()
        )

    def _waits(self, outcome: Refusal, placed: Placed) -> bool:
        """Whether a tape of the callers may do, to whom ``self`` is known as well."""
        return outcome.threads or (outcome.own and placed.own and self._is_called(placed))

    def _is_called(self, placed: Placed) -> bool:
        """Whether anybody in sight calls the method."""
        scope, unit = placed.view.scope, placed.view.unit
        if scope not in self._called:
            method = isinstance(scope, ast.FunctionDef) and placed.view.cls is not None
            self._called[scope] = False
            if method and isinstance(scope, ast.FunctionDef) and scope.name != "__init__":
                found = callers(self._project, unit, scope)
                self._called[scope] = bool(not found.problem and (found.calls or found.unsure))
        return self._called[scope]

    def _may_be_handed(self, placed: Placed) -> bool:
        scope = placed.view.scope
        return isinstance(scope, ast.FunctionDef) and scope not in self._failed

    def _withdraw(self, helper: Helper) -> None:
        """Takes the calls of ``helper`` back out of its callers."""
        scope = helper.placed.view.scope
        for caller in self._touched.values():
            calls = [r for r, s in caller.handed.items() if s is scope and r.api != "kept"]
            for request in calls:
                del caller.handed[request]
                caller.found.pop(request, None)

    def _explain(self, placed: Placed) -> None:
        """Says of what is left why no tape can be handed in."""
        for request, outcome in placed.found.items():
            if not isinstance(outcome, Refusal):
                continue
            why = self._failed if outcome.threads else self._not_own if outcome.own else {}
            reason = why.get(placed.view.scope)
            if reason == NOTHING_PASSED.reason and tells_what_enters(outcome):
                continue
            if reason == NOTHING_PASSED.reason and outcome.threads:
                what = ast.unparse(request.target)
                placed.found[request] = Refusal(
                    f"the target `{what}` is computed outside this function, or not from the "
                    f"source: {reason}",
                    outcome.recipe,
                )
            elif reason not in (None, NO_NEED, outcome.reason):
                placed.found[request] = Refusal(
                    f"{outcome.reason}, and no tape can be handed in: {reason}", outcome.recipe
                )


def _is_filled_later(caller: Placed, request: Request) -> bool:
    """Whether something that the call hands in gets other elements further down."""
    nodes = [*walk(request.target), *walk(request.sources)]
    given = {path for n in nodes if isinstance(n, ast.expr) and (path := path_of(n))}
    given -= {(caller.view.kinds.self_name,)}
    return any(
        d.kind is Kind.MUTATE
        and d.path in given
        and d.stmt is not None
        and (begin(d.stmt) > begin(request.stmt) or caller.view.blocks.loops_around(d.stmt))
        for d in caller.view.flow.defs.values()
    )


def _left_alone(helper: Helper, unit: Unit) -> str:
    """What is to be said of a file with a call, which is not rewritten together with the helper."""
    view = helper.placed.view
    names = [stem(view.unit.filename)] if view.cls is None else [view.cls.name]
    if any(name in unit.text for name in names):
        return "a file that is not changed along with this one"
    return f"a file that does not name `{names[0]}`, and is not changed along with this one"

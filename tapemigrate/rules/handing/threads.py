"""Tapes that are handed on: the target is a parameter, its forward pass runs in the callers.

Such a function gets the tape as a parameter, and every caller opens it round its own forward pass.
A caller whose own target is a parameter is such a function in turn.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import Scope, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.callers import Callers, may_be_another
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.companions import companions
from tapemigrate.rules.callgraph.imported import missing_folders
from tapemigrate.rules.callgraph.meaning import is_called_from_outside, meant_by
from tapemigrate.rules.callgraph.namesakes import Namesakes, namesakes
from tapemigrate.rules.handing.ahead import is_product
from tapemigrate.rules.handing.keeping import Keeper
from tapemigrate.rules.handing.lending import Lendings, PlacedFor
from tapemigrate.rules.handing.own_parts import read_of_object, set_out_of_sight, unfit
from tapemigrate.rules.handing.placed import TAPE, Helper, Placed
from tapemigrate.rules.handing.placing import ASKS, kept_values
from tapemigrate.rules.handing.standing import read_by_caller
from tapemigrate.rules.project import CallSite, Project
from tapemigrate.rules.reading import statement_of
from tapemigrate.rules.values.shape_evidence import argument_for
from tapemigrate.tape.handed import own_attribute
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.planner import Layout, lay_out
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal, Request

# A tape that passes through more hands than this is no help to anybody.
_MOST_STEPS = 200
# What makes a call wait for a tape has gone by then: its own reason is all that there is to tell.
_NO_NEED = "nothing in it needs a tape from outside"


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
        self._circles: dict[Scope, Namesakes | str] = {}
        self._touched: dict[Scope, Placed] = {}
        self.lendings = Lendings(project, placed)
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
            for placed in self._touched.values():
                placed.handed, placed.kept = {}, {}
                placed.evaluate(False)
            if not alone:
                for placed in scopes:
                    self._keeper.keep(placed)
                    self.lendings.lend(placed, handed=False)
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
                    where = self._where(helper, CallSite(placed.view.unit, request.call))
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
                    where = self._where(further, CallSite(placed.view.unit, request.call))
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
            helper = self._helper(placed)
            if isinstance(helper, str):
                return scope, helper
            before = self.helpers.get(scope)
            if before is not None and before.needs == helper.needs:
                before.assumptions += [a for a in helper.assumptions if a not in before.assumptions]
                continue
            self.helpers[scope] = helper
            sites = self._sites(helper)
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
        where = self._where(helper, site)
        if site.unit.filename not in self._project.asked:
            return f"its call in {where} stands in a file that is not changed along with this one"
        if caller is None:
            return f"its call in {where} leaves no room for a tape"
        self._touched.setdefault(caller.view.scope, caller)
        request = self._request(helpers, site)
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
            return f"at its call in {where}, {outcome.reason}"
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

    def _helper(self, placed: Placed) -> Helper | str:
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
            further = self.helpers.get(placed.handed.get(request, scope))
            helper.late |= request.late or (further is not None and further.late)
            new = [a for a in given.assumptions if a not in helper.assumptions]
            helper.assumptions += new
            me = placed.view.kinds.self_name
            parts = {x: name for x in region.sources.leaves if (name := own_attribute(x, me))}
            asked = (given.attributes, parts.values())
            if problem := unfit(self._project, placed.view, request, *asked):
                return problem
            for leaf in region.sources.leaves:
                if leaf in parts:
                    path = next(iter(leaf.defs)).path
                    variable = kept_values(self._project, placed.view, path) == {Make.VARIABLE}
                    helper.variables |= variable
                    own_sources |= set() if variable else {parts[leaf]}
                    continue
                sources |= {d.path[0] for d in leaf.defs if d.kind is Kind.PARAM}
                if leaf.watch is not None:
                    standing |= {d.path[0] for d in leaf.defs if d.kind is Kind.ENTRY}
                helper.variables |= leaf.watch is None
        if not count:
            return _NO_NEED
        helper.often |= count > 1
        helper.targets = tuple(sorted(targets))
        helper.sources = tuple(sorted(sources))
        helper.standing = tuple(sorted(standing))
        helper.own_targets = tuple(sorted(own_targets))
        helper.own_sources = tuple(sorted(own_sources))
        return helper

    def _sites(self, helper: Helper) -> list[CallSite] | str:
        unit = helper.placed.view.unit
        found = callers(self._project, unit, helper.function)
        if found.problem:
            return found.problem
        method = isinstance(unit.parents[helper.function], ast.ClassDef)
        shared = method and (found.overridden or found.unsure)
        circle = self._circle(helper) if shared or found.mates else ""
        if isinstance(circle, str):
            if found.overridden or found.mates:
                return circle
            calls, unseen = found.calls, found.unseen
            if not (method or calls):
                calls, unseen = self._by_folders(helper, found)
        else:
            helper.circle, calls, unseen = circle, circle.calls, circle.unseen
        own = (*helper.own_targets, *helper.own_sources)
        if own and (problem := set_out_of_sight(self._project, helper.placed.view, own, calls)):
            return problem
        helper.without += unseen
        cls = helper.placed.view.cls
        named = {helper.function.name} if cls is None else {helper.function.name, cls.name}
        unread = self._project.unread(named - {"__init__"})
        if unread:
            helper.without.append(f"{unread} may call it and cannot be read")
        if helper.without and not calls:
            return helper.without[0]
        if own and cls is not None:
            if classes(self._project).may_be_called_back(unit, cls):
                if not helper.function.name.startswith("_"):
                    helper.without.append(f"a library may call `{helper.function.name}`")
        if not calls:
            if is_called_from_outside(self._project, unit, helper.function):
                return f"a library may call `{helper.function.name}`"
            if helper.computes:
                return (
                    "more is computed in it before the gradient is asked for, and no caller can be "
                    "seen whose tape would still record"
                )
            if own:
                return f"no caller can be seen whose tape has recorded `self.{own[0]}`"
            if helper.standing:
                return f"no caller can be seen that would watch `{helper.standing[0]}`"
            names = " and ".join(f"`{t}`" for t in helper.targets)
            kind = "persistent " if helper.often else ""
            helper.assumptions.append(
                f"every caller of `{helper.function.name}` hands in a {kind}tape that has recorded "
                f"{names}{', and still records' if helper.records else ''}"
            )
        return calls

    def _by_folders(self, helper: Helper, found: Callers) -> tuple[list[CallSite], list[str]]:
        """The calls that only the name of a folder above the files can tell, and the rest."""
        home, name = helper.placed.view.unit, helper.function.name
        calls: list[CallSite] = []
        unseen = list(found.unseen)
        for site in found.unsure:
            path = site.unit.names.qualified(site.call.func)
            either = site.unit.names.reference_kind(site.call.func) == "either"
            if path is None or either:
                continue
            module = missing_folders(self._project, path, site.unit, home)
            if module:
                calls.append(site)
                unseen.remove(may_be_another(home, name, site))
                sentence = f"`{module}` is {home.filename}"
                if sentence not in helper.assumptions:
                    helper.assumptions.append(sentence)
        return calls, unseen

    def _circle(self, helper: Helper) -> Namesakes | str:
        """The methods that take the tape as well, or why one of them cannot."""
        function = helper.function
        if function not in self._circles:
            unit = helper.placed.view.unit
            method = isinstance(unit.parents[function], ast.ClassDef)
            find = namesakes if method else companions
            found = find(self._project, unit, function)
            if isinstance(found, Namesakes):
                found = self._barred(found) or found
            self._circles[function] = found
        return self._circles[function]

    def _barred(self, circle: Namesakes) -> str:
        """Why one of the methods cannot take the tape."""
        for unit, member in circle.members:
            where = f"`{member.name}` of {unit.filename}, line {member.lineno}"
            if unit.filename not in self._project.asked:
                return f"{where}, would take it as well, and is not changed along with this one"
            if TAPE in unit.names.bound_names(member):
                return f"{where}, would take it as well, and knows something else as `{TAPE}`"
        return ""

    def _request(self, helpers: list[Helper], site: CallSite) -> Request | str:
        """The call of one of ``helpers`` as a request for a tape in its caller."""
        targets: list[ast.expr] = []
        sources: list[ast.expr] = []
        alone: list[ast.expr] = []
        for helper in helpers:
            method = helper.placed.view.cls is not None
            for names, values in ((helper.targets, targets), (helper.sources, sources)):
                more = self._arguments(helper.function, names, site, method)
                if isinstance(more, str):
                    return more
                if values is targets and helper.alone:
                    single = tuple(name for name in names if name in helper.alone)
                    found = self._arguments(helper.function, single, site, method)
                    alone += [] if isinstance(found, str) else found
                values += [each for each in more if each not in values]
            for name in helper.standing:
                unit = helper.placed.view.unit
                read = read_by_caller(self._project, unit, helper.function, name, site)
                if isinstance(read, str):
                    return read
                sources.append(read)
            for names, values in (
                (helper.own_targets, targets),
                (helper.own_sources, sources),
            ):
                for name in names:
                    part = read_of_object(self._project, site, name)
                    if isinstance(part, str):
                        return part
                    values.append(part)
                    if values is targets and name in helper.alone:
                        alone.append(part)
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
        )

    def _arguments(
        self, function: ast.FunctionDef, names: tuple[str, ...], site: CallSite, method: bool
    ) -> list[ast.expr] | str:
        found: list[ast.expr] = []
        passed = [*site.call.args, *(k.value for k in site.call.keywords)]
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

    def _withdraw(self, helper: Helper) -> None:
        """Takes the calls of ``helper`` back out of its callers."""
        scope = helper.placed.view.scope
        for caller in self._touched.values():
            calls = [r for r, s in caller.handed.items() if s is scope and r.api != "kept"]
            for request in calls:
                del caller.handed[request]
                caller.found.pop(request, None)

    def _where(self, helper: Helper, site: CallSite) -> str:
        line = f"line {site.call.lineno}"
        same = site.unit is helper.placed.view.unit
        return line if same else f"{site.unit.filename}, {line}"

    def _explain(self, placed: Placed) -> None:
        """Says of what is left why no tape can be handed in."""
        for request, outcome in placed.found.items():
            if not isinstance(outcome, Refusal):
                continue
            why = self._failed if outcome.threads else self._not_own if outcome.own else {}
            reason = why.get(placed.view.scope)
            if reason not in (None, _NO_NEED, outcome.reason):
                placed.found[request] = Refusal(
                    f"{outcome.reason}, and no tape can be handed in: {reason}", outcome.recipe
                )


def _is_filled_later(caller: Placed, request: Request) -> bool:
    """Whether something that the call hands in gets other elements further down."""
    nodes = [*ast.walk(request.target), *ast.walk(request.sources)]
    given = {path for n in nodes if isinstance(n, ast.expr) and (path := path_of(n))}
    given -= {(caller.view.kinds.self_name,)}
    return any(
        d.kind is Kind.MUTATE
        and d.path in given
        and d.stmt is not None
        and (d.stmt.lineno > request.stmt.lineno or caller.view.blocks.loops_around(d.stmt))
        for d in caller.view.flow.defs.values()
    )


def _own_tape(function: ast.FunctionDef) -> str | None:
    """The parameter by which the function takes a tape as it stands."""
    names = {a.arg for a in parameters(function.args)}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if node.func.attr in ASKS and isinstance(owner, ast.Name) and owner.id in names:
                return owner.id
    return None

"""What the calls of a function show of two of its values: whether one was made from the other."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.evaluation import reads_all
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.callers import is_called_by_python, of_class
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.decorated import may_change_arguments
from tapemigrate.rules.callgraph.enclosing import enclosing
from tapemigrate.rules.callgraph.inherited_constructors import heirs, made_by
from tapemigrate.rules.callgraph.reached import is_reached_otherwise
from tapemigrate.rules.project import CallSite, Mentions, Project, View
from tapemigrate.rules.proof.aliases import perhaps, with_aliases
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.asked import Answers, Asked, attribute_of
from tapemigrate.rules.proof.callers.above import DEPTH, OUTSIDE, Above
from tapemigrate.rules.proof.callers.called_back import handed_to_tensorflow, hands_in
from tapemigrate.rules.proof.callers.code_given import finds_kept
from tapemigrate.rules.proof.callers.constructed import Construction
from tapemigrate.rules.proof.callers.earlier import handed_on_together, was_there
from tapemigrate.rules.proof.callers.made_of_part import may_be_made_of_part
from tapemigrate.rules.proof.callers.of_variables import is_filled, is_of_variables
from tapemigrate.rules.proof.callers.passed import (
    PLAIN,
    another_name,
    asks_one_object,
    changed_behind,
    handed_to_itself,
    is_called_in_turn,
    is_output_of_object,
    is_passed_twice,
    names_code,
    reads_beside,
    taken_beside,
    taken_out_beside,
)
from tapemigrate.rules.proof.callers.put_into_object import put_into_object
from tapemigrate.rules.proof.callers.siblings import given_beside
from tapemigrate.rules.proof.callers.taken_from_graph import (
    is_looked_up,
    may_be_shared,
    may_be_variables,
)
from tapemigrate.rules.proof.imports.imported_values import are_apart
from tapemigrate.rules.proof.kept.computed_parts import gives_computed_part
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.kept.shared_origin import held_against, share
from tapemigrate.rules.proof.objects.holding import Held
from tapemigrate.rules.proof.objects.one_object import tensors_in
from tapemigrate.rules.proof.objects.own_methods import certainly_behind, perhaps_behind
from tapemigrate.rules.proof.state.found_aside import reads_aside
from tapemigrate.rules.proof.state.globals_read import read_of_module
from tapemigrate.rules.proof.state.state_read import finds_state
from tapemigrate.rules.unseen.found import found_in_graph
from tapemigrate.rules.values.objects.put_by_calls import put_in_argument
from tapemigrate.rules.values.parts_apart import is_new_part
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.sources.asked_properties import read_by

# Where a function calls itself, what it was handed is not followed up again, and what others hand
# in there no further than from anywhere.
_HERE = -1
_ENDS = (0, _HERE - DEPTH)


@dataclass(slots=True)
class _Passed:
    """What a call passes beside the source, which is ``cut`` there.

    ``behind`` is what ``other`` is made of in the caller, and ``run`` the code that makes it.
    """

    view: View
    site: CallSite
    caller: View
    other: ast.expr
    value: Provenance
    behind: frozenset[Def]
    run: list[ast.expr]
    cut: frozenset[Def]
    depth: int


class Independence:
    """Looks at every call of a function, through callers that hand on what they are handed."""

    def __init__(self, project: Project, tracer: Tracer) -> None:
        self._project = project
        self._tracer = tracer
        self._ancestry = Ancestry(project, tracer)
        self._answers = project.once(Answers)

    @property
    def above(self) -> Above:
        """Goes up from scopes. It is made anew: kept here, it would make a circle."""
        return Above(self._project, self._tracer, self.at_all_calls, self.is_called_by_none)

    def at_all_calls(self, view: View, asked: Asked, depth: int = DEPTH) -> bool | CallSite:
        """True: independent at all calls. False: not all can be seen. A call: dependent there."""
        return self._answers.of(view, asked, depth, self._at_all_calls)

    def _at_all_calls(self, view: View, asked: Asked, depth: int) -> bool | CallSite:
        scope = view.scope
        if isinstance(scope, ast.Lambda):
            handed = handed_to_tensorflow(view.unit, scope)
            if handed is None:
                return False
            met = hands_in(self._project, self._tracer, view, handed, asked)
            return handed if met else met is False
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        if asked.parameter is not None and asked.parameter == view.kinds.self_name:
            return False  # who makes or calls an object hands in all of its parts
        mentions = self._mentions(view, scope)
        sites = [s for s in mentions.calls if self._project.scope_of(s.unit, s.call) is not scope]
        named = {scope.name} if view.cls is None else {scope.name, view.cls.name} - {"__init__"}
        if view.cls is not None and scope.name == "__init__":
            named |= {heir.name for _, heir in heirs(self._project, view.cls)}
        seen = not self._project.unread(named) and bool(sites)
        seen &= not may_change_arguments(view.unit, scope)
        if view.cls is not None and scope.name != "__init__":
            seen &= not classes(self._project).may_be_called_back(view.unit, view.cls)
        for unit, node in mentions.others:
            handed = handed_to_tensorflow(unit, node)
            met = None
            if handed is not None:
                met = hands_in(self._project, self._tracer, view, handed, asked)
                if met:
                    return handed
            seen = met is False and (seen or not sites)
        own = self._own_calls(view, mentions.calls, asked)
        if any(self._makes_more(view, site, asked) for site in own):
            # Of the very tensor that is passed twice, the next call is handed something new.
            asked = replace(asked, computed=True)
        for site in own:
            verdict = self._site(view, site, asked, _HERE)
            if isinstance(verdict, CallSite) or verdict is False:
                return site
            seen = seen and verdict is True
        for site in sites:
            verdict = self._site(view, site, asked, depth)
            if isinstance(verdict, CallSite):
                return verdict
            if verdict is False:
                return site
            seen = seen and verdict is True
        if not seen or is_called_by_python(scope):
            return False
        return not is_reached_otherwise(self._project, view)

    def _mentions(self, view: View, scope: NamedFunction) -> Mentions:
        """Where a function is meant: a constructor, where its class is."""
        if scope.name == "__init__" and view.cls is not None:
            mentions = made_by(self._project, view.unit, view.cls)
        else:
            mentions = mentions_of(self._project, view.unit, scope)
        return mentions.within(enclosing(view))

    def _own_calls(self, view: View, calls: Iterable[CallSite], asked: Asked) -> list[CallSite]:
        """Where the function calls itself, with values of its own."""
        if asked.parameter is None or asked.source.kind not in (Kind.PARAM, Kind.ASSIGN):
            return []
        return [s for s in calls if self._project.scope_of(s.unit, s.call) is view.scope]

    def _makes_more(self, view: View, site: CallSite, asked: Asked) -> bool:
        """Whether a call that the function makes of itself passes what it computes."""
        scope, parameter = view.scope, asked.parameter
        if not isinstance(scope, ast.FunctionDef) or parameter is None:
            return False
        other = argument_for(site.call, scope, parameter, view.cls is not None)
        return other is not None and path_of(other) is None

    def _site(self, view: View, site: CallSite, asked: Asked, depth: int) -> bool | CallSite | None:
        """True: independent at this call. False or a call: dependent. None: it cannot be seen."""
        scope = view.scope
        assert isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
        method, source = view.cls is not None, asked.source
        if _is_in_class_body(site):
            return None  # of which no flow tells
        caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
        given = None
        if source.kind is Kind.PARAM:
            given = argument_for(site.call, scope, source.path[0], method)
            if given is None or self._is_made_elsewhere(view, site, given):
                return None
        cut = frozenset[Def]()
        if given is not None and all(path_of(e) is not None for e in _elements(given)):
            uses = (
                u for e in _elements(given) for u in read_by(caller.flow, caller.kinds.effects, e)
            )
            cut = with_aliases(origins(uses), caller)
        elif given is not None:
            cut = another_name(given, caller)
        elif source.kind is Kind.ENTRY:
            own = frozenset(
                d
                for d in caller.flow.defs.values()
                if d.path == source.path
                or (source.path[0] != view.kinds.self_name and d.path == source.path[: len(d.path)])
            )
            cut = with_aliases(own, caller) | put_into_object(
                self._project, self._tracer, view, source, caller
            )
        if asked.part and given is not None:
            cut |= tensors_in(caller, self._tracer.behind(caller, given))
        verdict = self._apart(view, site, asked, caller, given, cut, depth)
        more = perhaps(cut, caller)
        if given is not None and is_new_part(self._project, caller, given):
            more = cut  # whatever its object was made of
        elif given is not None:
            more |= value_may_be(given, caller.flow, caller.kinds)
        if verdict is True and more != cut:
            # By another name, it may be what the other value was made of.
            also = self._apart(view, site, asked, caller, given, more, depth)
            return True if also is True else None
        return verdict

    def _apart(
        self,
        view: View,
        site: CallSite,
        asked: Asked,
        caller: View,
        given: ast.expr | None,
        cut: frozenset[Def],
        depth: int,
    ) -> bool | CallSite | None:
        """The same where the source is ``cut`` at the call."""
        scope, parameter = view.scope, asked.parameter
        assert isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
        method, attribute, traced = view.cls is not None, asked.attribute, asked.traced
        if asked.closure is not None:
            if given is not None and self._may_be_behind(caller, asked.closure, given):
                return None
            return self._beside_closure(caller, asked, cut, depth)
        if parameter is not None:
            other = argument_for(site.call, scope, parameter, method)
            if other is not None and self._is_made_elsewhere(view, site, other):
                return None
            if other is not None and view.flow.yields:
                if changed_behind(caller, other, begin(site.call)):
                    return None  # it runs later, and reads it as it is then
            for _ in range(DEPTH if asked.linear else 0):
                other = handed_to_itself(caller, scope, other, parameter, method)
            if other is None:
                return None
            return self._argument(view, site, asked, caller, given, other, cut, depth)
        if traced is not None and attribute is not None and given is not None:
            if traced.network and may_be_variables(self._project, caller, given):
                return False
            held = held_against(traced, attribute, caller, given, cut)
            if held is not True or view.cls is None:
                return held
            for path in _own_paths(caller, given, cut):
                attribute = path[1].lstrip(".")
                if len(path) == 2 and share(self._project, self._tracer, caller, attribute, traced):
                    return False
            made = Construction(
                self._project,
                self._tracer,
                view,
                lambda above, mine, others: self.above.apart(above, mine, others, depth),
            )
            return made.is_apart(traced, caller, site, cut)
        return None

    def _is_made_elsewhere(self, view: View, site: CallSite, value: ast.expr) -> bool:
        """Whether it is a default that the caller does not see as it is at the call.

        It is no plain value, and made elsewhere, or something is put into it after it was made.
        """
        passed = arguments_of(site.call)
        if any(value is each for each in passed):
            return False
        home = self._project.scope_of(view.unit, view.scope)
        here = self._project.scope_of(site.unit, site.call)
        around = self._project.view(view.unit, home)
        assert isinstance(view.scope, ast.FunctionDef | ast.AsyncFunctionDef)
        if changed_behind(around, value, begin(view.scope)):
            return True  # ``def f(x, rows=rows)``: into which something is put before the call
        if here is home and site.unit is view.unit:
            return False
        return around.kinds.make(value) not in PLAIN

    def _may_be_behind(self, caller: View, closure: frozenset[Def], given: ast.expr) -> bool:
        """Whether what is passed may be of the graph, and what the closure holds made of it."""
        if is_looked_up(self._project, caller, given):
            return True
        own = set(caller.flow.defs.values())
        values = [d.value for d in closure if d.value is not None and d in own]
        networks = any(self._tracer.value(caller, each).network for each in values)
        return (networks or not closure <= own) and may_be_variables(self._project, caller, given)

    def _beside_closure(
        self, caller: View, asked: Asked, cut: frozenset[Def], depth: int
    ) -> bool | CallSite | None:
        """Whether nothing is passed of which the closure is made, by this caller or one above."""
        assert asked.closure is not None
        named = {d.path[0] for d in cut if d.kind is Kind.ENTRY}
        if cut & asked.closure or named & {d.path[0] for d in asked.closure}:
            return False
        if (beside := given_beside(self._project, caller, asked.closure, cut)) is not False:
            return None if beside is None else False
        here = set(caller.flow.defs.values())
        known = self._project.imported(caller.unit)
        if all(
            d in here
            and d.kind is not Kind.PARAM
            and (d.kind is not Kind.ENTRY or d.path[0] in known)
            for d in asked.closure
        ):
            return True  # it is made of nothing from outside
        me = (caller.kinds.self_name,)
        handed = sorted(d.path[0] for d in asked.closure if d.kind is Kind.PARAM and d.path != me)
        if not asked.closure <= here or any(d.kind is Kind.ENTRY for d in asked.closure):
            handed = []
        for above in cut:
            if above.kind is Kind.PARAM and above.path != me and depth > 0:
                # What the caller is handed beside the source, those who hand it both know.
                pairs = [asked.of(above, name) for name in handed if name != above.path[0]]
                for each in pairs or [replace(asked, source=above)]:
                    further = self.at_all_calls(caller, each, depth - 1)
                    if isinstance(further, CallSite):
                        return further
                    if not further:
                        return None
        return True

    def _argument(
        self,
        view: View,
        site: CallSite,
        asked: Asked,
        caller: View,
        given: ast.expr | None,
        other: ast.expr,
        cut: frozenset[Def],
        depth: int,
    ) -> bool | CallSite | None:
        """Whether what is passed beside the source was made from it."""
        behind = self._tracer.behind(caller, other)
        if given is None and cut & behind:
            uses = caller.flow.uses_in(other)
            if cut & perhaps_behind(self._project, caller, uses):
                return False if cut & certainly_behind(self._project, caller, uses) else None
        run = [other, *(d.value for d in behind if d.value is not None)]
        if found_in_graph(self._project, caller.unit, run):
            return None
        if (beside := given_beside(self._project, caller, behind, cut)) is not False:
            return None if beside is None else False
        value = self._tracer.value(caller, other)
        if given is None and isinstance(other, ast.Lambda):
            if names_code(self._project, caller, other):
                value = Provenance()  # it computes nothing before it is called, as a function
        if asked.parameter is not None:
            put = put_in_argument(self._project, caller, other, view, asked.parameter)
            value.add(self._tracer.put_in(put))
        passed = _Passed(view, site, caller, other, value, behind, run, cut, depth)
        if given is None:
            return self._beside_what_is_not_passed(passed, asked)
        return self._beside_what_is_passed(passed, asked, given)

    def _beside_what_is_not_passed(self, passed: _Passed, asked: Asked) -> bool | CallSite | None:
        """The same, where the sources are variables, or kept on an object."""
        caller, other, value, run = passed.caller, passed.other, passed.value, passed.run
        attribute = attribute_of(asked.source, passed.view)
        if attribute is not None:
            if attribute in value.attributes or value.blind:
                return False
            own = caller.cls is not None and caller.cls is passed.view.cls
            if own and share(self._project, self._tracer, caller, attribute, value):
                return False
            if may_be_made_of_part(
                self._project,
                self._tracer,
                self._ancestry,
                passed.view,
                passed.site,
                other,
                attribute,
            ):
                return None  # of an object that may be this one
            if own and (apart := self._handed_in_apart(passed, asked, attribute)) is not True:
                return apart
        # What comes from no network is free.
        elif (
            value.network
            or is_output_of_object(self._project, caller, other)
            or KeptResults(self._project, self._tracer).asks_for_result(caller, other)
            or is_of_variables(self._project, self._tracer, caller, asked.source, value, run)
        ):
            return False
        elif (value.calls and not asked.above) or is_filled(
            self._project, self._tracer, caller, value, run
        ):
            return None
        # Of a variable something is made further down, if it is not handed on as it is.
        elif gives_computed_part(
            self._project, caller, run, Held.VARIABLE if asked.computed else Held.COMPUTED
        ):
            return False
        elif finds_kept(self._project, self._home_of(passed), other):
            return None
        for each in sorted(value.parameters):
            if passed.depth in _ENDS:
                return None  # further up, it is not followed
            computed = asked.computed or path_of(other) is None
            handed = replace(asked.of(asked.source, each), above=True, computed=computed)
            further = self.at_all_calls(caller, handed, passed.depth - 1)
            if isinstance(further, CallSite):
                return further
            entered = asked.above or attribute is not None
            if not further and not (entered and self.is_called_by_none(caller)):
                return None
        unseen = value.parameters and caller.unit.filename not in self._project.asked
        return None if value.blind or unseen else True

    def _home_of(self, passed: _Passed) -> View:
        """Where what is passed stands: a default does in front of the function itself."""
        if any(passed.other is each for each in arguments_of(passed.site.call)):
            return passed.caller
        unit = passed.view.unit
        return self._project.view(unit, self._project.scope_of(unit, passed.view.scope))

    def _beside_what_is_passed(
        self, passed: _Passed, asked: Asked, given: ast.expr
    ) -> bool | CallSite | None:
        """The same, where the source is passed as well, as ``given``."""
        caller, other, value, cut = passed.caller, passed.other, passed.value, passed.cut
        if (made_here := self._by_what_is_behind(passed, asked, given)) is not True:
            return made_here
        upward = [d for d in cut if d.kind in OUTSIDE]
        if (made_above := self._by_those_above(passed, asked, upward)) is not True:
            return made_above
        if value.network and may_be_variables(self._project, caller, given):
            return False
        if may_be_shared(self._project, caller, given, passed.run):
            return None
        if caller.kinds.make(other) not in PLAIN and is_looked_up(self._project, caller, given):
            return None
        if (there := are_apart(self._project, caller, given, passed.run)) is not True:
            return there
        if handed_on_together(self._tracer, passed.site, caller, other, cut):
            return None
        if (value.network or value.calls) and is_called_in_turn(passed.view.scope, other):
            return True if was_there(self._tracer, passed.site, caller, other, cut) else None
        if self._finds(passed) or self._is_read_by_code(passed, upward):
            return None
        return True if not value.blind or value.parameters else None

    def _by_what_is_behind(self, passed: _Passed, asked: Asked, given: ast.expr) -> bool | None:
        """Whether the caller itself made nothing of the source for it."""
        caller, other, behind, cut = passed.caller, passed.other, passed.behind, passed.cut
        name = path_of(given) or ()
        of_self = name[:1] == (caller.kinds.self_name,)
        if len(name) > 1 and not of_self and reads_beside(caller, name, other, behind):
            return None
        if cut & behind:
            uses = caller.flow.uses_in(other)
            certain = cut & certainly_behind(self._project, caller, uses)
            if not certain:
                return None
            if asked.part and not asked.computed and path_of(other) and certain <= origins(uses):
                return None  # it is what the object was made of, not what was made of its part
            apart = not asked.part and taken_beside(caller, given, other, certain, behind)
            twice = not asked.computed and not asked.part
            if not apart and not (twice and is_passed_twice(cut, caller, given, other)):
                return False
        if taken_out_beside(caller, given, passed.run, behind):
            shared = frozenset(d for d in cut & behind if d.kind is not Kind.PARAM)
            if not shared or not taken_beside(caller, given, other, shared, behind):
                return None
        if asks_one_object(caller, given, passed.run):
            return None
        attributes = passed.value.attributes
        if len(name) > 1 and name[1].lstrip(".") in attributes:
            return None if path_of(other) == name else False
        for path in _own_paths(caller, given, cut):
            attribute = path[1].lstrip(".")
            if attribute in attributes:
                return False if len(path) == 2 else None
            if len(path) == 2 and share(
                self._project, self._tracer, caller, attribute, passed.value
            ):
                return False
        kept = [d for d in cut if attribute_of(d, caller) is not None]
        if kept and asked.part and self._ancestry.made_with(caller, other, kept):
            return None
        made = self._ancestry.made_of(caller, other, kept) if kept else False
        if made is not False:
            return None if made is None else False
        for attribute in {path[1].lstrip(".") for path in _own_paths(caller, given, cut)}:
            if (beside := self._handed_in_apart(passed, asked, attribute)) is not True:
                return beside
        return True

    def _handed_in_apart(self, passed: _Passed, asked: Asked, attribute: str) -> bool | None:
        """Whether nobody makes what a method keeps of the object of what it is to keep as well.

        A constructor that is handed both ``x`` and ``h`` may be called where no name shows it.
        """
        caller, other, value = passed.caller, passed.other, passed.value
        theirs = {d for d in value.defs if d.kind is Kind.PARAM}
        computed = asked.computed or any(path_of(v) is None for v in (other, *value.values))
        for given in attribute_values(self._project, caller, attribute) if theirs else ():
            inner = self._project.view(caller.unit, self._project.scope_of(caller.unit, given))
            if inner.kinds.make(given) is Make.LEAF:
                continue  # whoever gives its shape gives nothing that it is made of
            me, own = (inner.kinds.self_name,), set(inner.flow.defs.values())
            behind = backward(inner.flow.uses_in(given)).made
            for mine in sorted((d for d in behind if d.kind is Kind.PARAM), key=lambda d: d.path):
                for each in sorted((theirs & own) - {mine}, key=lambda d: d.path):
                    if me in (mine.path, each.path):
                        continue
                    pair = Asked(mine, each.path[0], linear=asked.linear, computed=computed)
                    depth = passed.depth - 1
                    found = self.at_all_calls(inner, pair, depth) if depth >= 0 else False
                    if found is not True:
                        return False if isinstance(found, CallSite) else None
        return True

    def _by_those_above(
        self, passed: _Passed, asked: Asked, upward: list[Def]
    ) -> bool | CallSite | None:
        """Whether neither those who call the caller nor the function around made it of a source.

        ``upward`` are the sources that come from there.
        """
        caller, other, value = passed.caller, passed.other, passed.value
        behind, depth = passed.behind, passed.depth
        if upward and value.parameters - {d.path[0] for d in upward} and depth == 0:
            return None  # further up, they are not followed
        if (
            upward
            and depth > 0
            and (around := self.above.around(caller, asked, upward, behind, depth))
        ):
            return around if isinstance(around, CallSite) else None
        if not self.above.apart(caller, (d for d in upward if d.kind is Kind.ENTRY), behind, depth):
            return None
        kept = self.above.kept_apart(caller, asked, upward, value.attributes, depth)
        if kept is not True:
            return kept or None
        if path_of(other) is None or any(
            d.kind not in OUTSIDE for d in origins(caller.flow.uses_in(other))
        ):
            asked = replace(asked, computed=True)
        for each in sorted(value.parameters) if upward and depth > 0 else ():
            for above in upward:
                if above.path[0] == each:
                    continue
                further = self.above.of_callers(caller, asked.of(above, each), depth - 1)
                if isinstance(further, CallSite):
                    return further
                if not further:
                    return None
        return True

    def is_called_by_none(self, caller: View) -> bool:
        """Whether nothing at hand calls the scope: what it is handed there, users hand in."""
        if not isinstance(caller.scope, NamedFunction):
            return False
        if is_called_by_python(caller.scope) and caller.cls is not None:
            # ``net(x)``: where its objects are made, they are called as well.
            mentions = of_class(self._project, caller.unit, caller.cls)
        else:
            mentions = self._mentions(caller, caller.scope)
        return not (mentions.calls or mentions.others)

    def _is_read_by_code(self, passed: _Passed, sources: list[Def]) -> bool:
        """Whether functions that make the value read the source, or what was made of it."""
        if not sources or isinstance(passed.caller.scope, ast.Module):
            return False
        names = read_of_module(self._project, passed.caller.unit, passed.run)
        return self._ancestry.comes_of(passed.caller, names, sources)

    def _finds(self, passed: _Passed) -> bool:
        """Whether what is passed is made of what code finds that no name shows."""
        caller, run = passed.caller, passed.run
        if any(d.kind is Kind.EXCEPT for d in passed.behind):
            return True  # it may carry anything
        calls = [n for root in run for n in walk(root) if isinstance(n, ast.Call)]
        if any(caller.kinds.effect(call).reads_hidden or reads_all(call) for call in calls):
            return True
        return finds_state(self._project, caller, run) or reads_aside(self._project, caller, run)


def _own_paths(caller: View, given: ast.expr, cut: frozenset[Def]) -> list[Path]:
    """The parts of the caller's object that the source is, by whatever name it is passed."""
    paths = {d.path for d in cut if d.kind is Kind.ENTRY} | {path_of(given) or ()}
    return sorted(path for path in paths if path[1:] and path[0] == caller.kinds.self_name)


def _is_in_class_body(site: CallSite) -> bool:
    above = site.unit.parents.get(site.call)
    while above is not None and not isinstance(above, NamedFunction | ast.Lambda | ast.ClassDef):
        above = site.unit.parents.get(above)
    return isinstance(above, ast.ClassDef)


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]

"""What a tape's correctness rests on beyond its own function, whether callers bear it out."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import permutations

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.all_names import tape_among_names
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.asked import attribute_of
from tapemigrate.rules.proof.by_name import (
    called_paths,
    is_loss,
    is_plain,
    is_static,
)
from tapemigrate.rules.proof.callers.above import OUTSIDE
from tapemigrate.rules.proof.callers.by_callers import ByCallers
from tapemigrate.rules.proof.callers.guards import come_with
from tapemigrate.rules.proof.callers.independence import Independence
from tapemigrate.rules.proof.callers.traced_parameters import are_traced, is_traced_source
from tapemigrate.rules.proof.entering_value import EnteringValue
from tapemigrate.rules.proof.imports.imported_beside import imported_beside
from tapemigrate.rules.proof.imports.imported_results import imported_results
from tapemigrate.rules.proof.imports.made_with import made_with
from tapemigrate.rules.proof.kept.kept_by_calls import kept_by_calls
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.kept.kept_values import KeptValues
from tapemigrate.rules.proof.kept.parts_held import PartsHeld
from tapemigrate.rules.proof.objects.called_objects import computed_when_made
from tapemigrate.rules.proof.objects.new_object import is_new
from tapemigrate.rules.proof.objects.one_object import comes_with
from tapemigrate.rules.proof.objects.results_of_parts import each_of_parts, results_of_parts
from tapemigrate.rules.proof.objects.steps import Steps
from tapemigrate.rules.proof.sources.elements import APART, Elements
from tapemigrate.rules.proof.sources.found_sources import made_of_found
from tapemigrate.rules.proof.sources.model_functions import opens_with_model
from tapemigrate.rules.proof.sources.new_graph import opens_with_graph
from tapemigrate.rules.proof.sources.other_names import aliased, given_back, passed_on, taken_out
from tapemigrate.rules.proof.sources.own_graph import begins_here
from tapemigrate.rules.proof.state.globals_read import (
    called_here,
    globals_read,
    objects_called,
    read_past_those_around,
)
from tapemigrate.rules.proof.state.hidden_reads import HiddenReads, stored_reads
from tapemigrate.rules.proof.verdicts import (
    NOTHING_PASSED,
    kept_together,
    name_of,
    names_of,
    parts_beside,
    unnamed_tensor,
    wrong,
)
from tapemigrate.rules.proof.without_gradient import without_gradient
from tapemigrate.rules.values.computed import Computed
from tapemigrate.rules.values.given_tensors import may_give_tensor
from tapemigrate.rules.values.objects.captured import (
    captured,
    is_set_inside,
)
from tapemigrate.rules.values.plain.counts import Counts
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.variables.filled_below import filled_below, given_below
from tapemigrate.rules.values.variables.owners import is_part_of_owner
from tapemigrate.tape.leaf import Leaf, taken_for_variables
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.ops.syntax import VARIABLES_BY_NAME
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal


@dataclass(frozen=True, slots=True)
class Given:
    """What a tape from outside must have recorded: parameters, and attributes of ``self``.

    ``assumptions``: why that is enough.
    """

    parameters: frozenset[str]
    attributes: frozenset[str]
    assumptions: list[str]


@dataclass(frozen=True, slots=True)
class _Told:
    """The assumptions found so far, each once."""

    assumptions: list[str]

    def note(self, sentences: Iterable[str]) -> None:
        new = [s for s in dict.fromkeys(sentences) if s not in self.assumptions]
        self.assumptions.extend(new)

    def take(self, verdict: str | Refusal | None) -> Refusal | None:
        """A refusal is given back."""
        if isinstance(verdict, Refusal):
            return verdict
        self.note([verdict] if verdict else [])
        return None


@dataclass(slots=True)
class _Found:
    """What callers must have recorded, as far as it was looked for.

    ``targets``: the parameters. ``own``: what is told of each attribute of the object.
    """

    targets: set[str] = field(default_factory=set)
    own: dict[str, list[str | Refusal]] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)

    def must_record(self, name: str) -> bool:
        """Whether what is told of an attribute lets no assumption take the place of a tape."""
        return any(isinstance(each, Refusal) for each in self.own.get(name, ()))

    def assume(self, sentence: str) -> None:
        if sentence not in self.assumptions:
            self.assumptions.append(sentence)


class Judge:
    """Judges the regions of one scope. ``assumptions`` empty means proved."""

    def __init__(self, project: Project, tracer: Tracer, view: View) -> None:
        self._project = project
        self._tracer = tracer
        self._view = view
        self._calls = Independence(project, tracer)
        self._by_callers = ByCallers(self._calls, view)
        ancestry = self._ancestry = Ancestry(project, tracer)
        self._kept = KeptValues(project, tracer, view, self._by_callers, ancestry)
        self._results = KeptResults(project, tracer)
        self._value = EnteringValue(
            project, tracer, view, self._by_callers, self._kept, ancestry, self._results
        )
        self._parts = PartsHeld(project)
        self._counts = Counts(project, view)

    def judge(self, region: Region, recorded: frozenset[Path] = frozenset()) -> list[str] | Refusal:
        """The assumptions on which ``region`` rests, or why it would be wrong.

        ``recorded`` are attributes that the tape has recorded elsewhere.
        """
        among = tape_among_names(self._project, self._view, region)
        told = _Told([*region.assumptions, *among])
        return self._refusal(region, recorded, told) or told.assumptions

    def _refusal(self, region: Region, recorded: frozenset[Path], told: _Told) -> Refusal | None:
        """Why it would be wrong; what it rests on is ``told``."""
        leaves = region.sources.leaves
        sources = self._entering(region)
        if tensor := self._tensor_among(region):
            return unnamed_tensor(tensor)
        if (together := kept_together(region, self._view)) is not None:
            return together
        listed = Elements(self._project, self._calls, self._view).judge(region)
        if isinstance(listed, Refusal):
            return listed
        told.note(listed)
        told.note(self._of_lists_kept(region))
        steps = self._value.steps = Steps(self._project, self._view, region)
        if (late := steps.made_late()) is not None:
            return late
        told.note(steps.set_out_of_sight())
        lacking = without_gradient(self._project, self._view, region)
        if isinstance(lacking, Refusal):
            return lacking
        told.note(lacking)
        if opens_with_graph(self._project, region, self._view):
            return None
        if opens_with_model(self._project, region, self._view):
            return self._of_roots(region, sources, recorded, told)
        called = computed_when_made(
            self._project, self._results, self._parts, self._view, region, leaves, recorded
        )
        if isinstance(called, Refusal):
            return called
        told.note(called)
        told.note(kept_by_calls(self._project, self._view, region, leaves))
        if not sources:
            given = [x for x in leaves if self._is_made_by_the_user(x)]
            put = stored_reads(self._project, self._view, region, given) if given else []
            found = made_of_found(self._project, self._view, region)
            beside = imported_beside(self._project, self._view, region)
            told.note([*put, *found, *beside, *parts_beside(region, self._view)])
            return None
        hidden = [
            replace(x, variables=x.variables or x.found or self._may_be_variables(x))
            for x in sources
        ]
        # What may be a variable after all may be that under its own name alone.
        entering = {x.watch for x in sources}
        parts = [x for x in leaves if x.may_be_tensor and x.watch in entering]
        return (
            self._of_roots(region, [*hidden, *parts], recorded, told)
            or self._of_code(region, hidden, told)
            or self._of_results(region, hidden, recorded)
            or self._of_each_other(sources, told)
            or self._of_what_is_read(region, sources, hidden, recorded, told)
            or self._of_methods(region, self._tensors_among(sources, hidden), recorded, told)
        )

    def _of_lists_kept(self, region: Region) -> list[str]:
        """What is assumed of lists of an object that subclasses give, or fill.

        And of such as are called ``weights``, and keep what networks gave.
        """
        several = region.sources.leaves if region.sources.single is not True else []
        found: list[str] = []
        for leaf in (x for x in several if x.many is not False):
            for made in leaf.defs:
                name, text = attribute_of(made, self._view), text_of(made.path[:2])
                if name is None or leaf.watch not in (None, text):
                    continue
                below = filled_below(self._project, self._view, name)
                below = below or given_below(self._project, self._view, name)
                named = VARIABLES_BY_NAME.search(name) and region.sources.single is False
                if below or (named and self._results.keeps(self._view, name)):
                    found.append(APART.format(text))
        return found

    def _entering(self, region: Region) -> list[Leaf]:
        """The sources that come into the scope, by all names that they come by."""
        leaves = region.sources.leaves
        also_named = {x: aliased(x, self._view) | taken_out(x, self._view) for x in leaves}
        return [
            replace(
                x,
                defs=x.defs
                if (x.variables and not x.may_be_tensor)
                or taken_for_variables(x.watch or "") in region.assumptions
                else x.defs | passed_on(x, self._view) | also_named[x],
            )
            for x in leaves
            if (x.outside or x.found or also_named[x] or any(map(self._kept.taken_from, x.defs)))
            and not (x.fresh or begins_here(x, self._view))
        ]

    def _of_roots(
        self, region: Region, hidden: list[Leaf], recorded: frozenset[Path], told: _Told
    ) -> Refusal | None:
        """What the values that enter the region have to do with its sources."""
        self._by_callers.linear = is_linear(region)
        counted = self._counts.before(region.request.stmt)
        roots = [*region.roots, *captured(region, self._view)]
        for root in sorted(roots, key=lambda d: d.path):
            if any(root.path[: len(path)] == path for path in recorded):
                continue
            if self._is_itself(root, region):
                continue
            others = [own for x in hidden if (own := self._as_passed(root, x, region)) is not None]
            if are_traced(self._project, self._view, [root]):
                others = [x for x in others if not self._is_traced(x)]
            if not others or root in counted:
                continue
            verdict = self._value.of(root, others)
            if isinstance(verdict, Refusal) and root.kind is Kind.PARAM and len(root.path) == 1:
                stmt, name = region.request.stmt, root.path[0]
                if (guard := come_with(self._project, self._view, stmt, name)) is not None:
                    verdict = f"`{guard}` is given wherever `{name}` is"
            if isinstance(verdict, str) and is_part_of_owner(root, region, self._view):
                return wrong(
                    text_of(root.path), "computed where its object was made", names_of(others)
                )
            if isinstance(verdict, str) and is_loss(self._project, self._view, root):
                how = "computed by the caller, who calls it a loss"
                verdict = wrong(text_of(root.path), how, names_of(others))
            if not isinstance(verdict, Refusal):
                verdict = self._before(root, verdict)
            if (refusal := told.take(verdict)) is not None:
                return refusal
        return None

    def _is_traced(self, leaf: Leaf) -> bool:
        return is_traced_source(self._project, self._view, leaf)

    def _of_code(self, region: Region, hidden: list[Leaf], told: _Told) -> Refusal | None:
        """What functions and objects that the region calls by name read, or were made with."""
        called_by_name = objects_called(self._project, region, self._view)
        for root in (*called_by_name, *globals_read(self._project, region, self._view)):
            verdict = self._value.of(root, hidden)
            # What methods read of a function round their class, nothing else tells of.
            if isinstance(verdict, str) and not (
                self._is_of_class_inside(root)
                or self._is_set_inside(root)
                or self._comes_from_around(root, hidden)
            ):
                verdict = self._value.descent(root, hidden)
                if not isinstance(verdict, Refusal):
                    verdict = self._is_filled_with(root, hidden)
                if verdict is None:
                    continue
            if (refusal := told.take(verdict)) is not None:
                return refusal
        for root in read_past_those_around(self._project, region, self._view):
            verdict = self._value.outer.of_module(root, hidden)
            if (refusal := told.take(verdict)) is not None:
                return refusal
        for name in called_here(region, self._view):
            if (refusal := told.take(self._value.called(name, hidden))) is not None:
                return refusal
        return told.take(
            made_with(self._project, self._tracer, self._ancestry, region, self._view, hidden)
        )

    def _of_results(
        self, region: Region, hidden: list[Leaf], recorded: frozenset[Path]
    ) -> Refusal | None:
        """What variables computed before the region began, of other objects and modules."""
        if not any(x.variables for x in hidden):
            return None
        project, results, view = self._project, self._results, self._view
        return results_of_parts(project, results, view, region, recorded) or imported_results(
            project, results, view, region
        )

    def _of_each_other(self, sources: list[Leaf], told: _Told) -> Refusal | None:
        """Whether one source was made of another."""
        for one, other in permutations(sources, 2):
            made_elsewhere = () if other.variables else other.defs - one.defs
            if self._is_traced(one) and self._is_traced(other):
                continue
            for made in sorted(made_elsewhere, key=lambda d: d.path):
                verdict = self._value.of(made, [one]) if made.kind in OUTSIDE else None
                if isinstance(verdict, str) and one.variables:
                    continue
                if (refusal := told.take(verdict)) is not None:
                    return refusal
        return None

    def _of_what_is_read(
        self,
        region: Region,
        sources: list[Leaf],
        hidden: list[Leaf],
        recorded: frozenset[Path],
        told: _Told,
    ) -> Refusal | None:
        """What the region finds that no name of the scope shows."""
        told.note(stored_reads(self._project, self._view, region, sources))
        told.note(made_of_found(self._project, self._view, region))
        told.note(imported_beside(self._project, self._view, region))
        told.note(parts_beside(region, self._view))
        return self._of_methods(region, hidden, recorded, told)

    def _of_methods(
        self, region: Region, leaves: list[Leaf], recorded: frozenset[Path], told: _Told
    ) -> Refusal | None:
        """What the methods read that the region calls."""
        verdicts = self._methods().of(region, leaves, recorded) if leaves else ()
        refusals = (told.take(verdict) for verdict in verdicts)
        return next((each for each in refusals if each is not None), None)

    def _tensors_among(self, sources: list[Leaf], hidden: list[Leaf]) -> list[Leaf]:
        """Those ``sources`` that are ``hidden`` as variables, and may be tensors as well.

        Of a variable, methods keep nothing that no network has made; of a tensor they may.
        """
        return [
            replace(one, variables=False)
            for one, other in zip(sources, hidden, strict=True)
            if other.variables and (one.may_be_tensor or not (one.variables or one.found))
        ]

    def _as_passed(self, root: Def, leaf: Leaf, region: Region) -> Leaf | None:
        """What of a source another value may have been made from; None where it is the source.

        A source that is made anew round a loop of ``root`` may be what was passed, at first; one
        that is a choice, ``t if x is None else x``, may be the other.
        """
        if root not in leaf.defs or comes_with(root, leaf, self._view):
            return leaf
        own = {d for x in region.sources.leaves for d in x.defs if x.watch == leaf.watch}
        if leaf.found and root not in own and attribute_of(root, self._view) is not None:
            # A method has given the source: what it kept under that name may have been used.
            return replace(leaf, defs=leaf.defs - {root})
        named = {
            d
            for d in (aliased(leaf, self._view) | given_back(leaf, self._view)) - {root}
            if not is_plain(self._project, self._view, d)
        }
        if root not in own and named and (leaf.found or not leaf.variables):
            return replace(leaf, defs=leaf.defs - {root})
        passed = frozenset(d for d in own & leaf.defs if d.kind in OUTSIDE)
        return replace(leaf, defs=passed) if passed and root not in own else None

    def _tensor_among(self, region: Region) -> str:
        """A call among the sources that may give a tensor, of which no tape hears in time."""
        leaves = region.sources.leaves
        sources = region.request.sources
        listed = sources.elts if isinstance(sources, ast.List | ast.Tuple) else [sources]
        values = list(listed) if any(x.variables and not x.defs for x in leaves) else []
        for each in listed:
            if taken_for_variables(ast.unparse(each)) in region.assumptions:
                made = origins(self._view.flow.reads.get(each, frozenset()))
                values += [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
        calls = (x for x in values if may_give_tensor(self._project, self._view, x))
        return next(map(ast.unparse, calls), "")

    def _may_be_variables(self, leaf: Leaf) -> bool:
        """Whether a source that is kept on ``self`` may be variables that networks read."""
        for made in leaf.defs:
            name = attribute_of(made, self._view)
            if name is None:
                continue
            values = attribute_values(self._project, self._view, name)
            makes = {self._view.kinds.make(v) for v in values if path_of(v) is None}
            if makes - {Make.LEAF, Make.TENSOR, Make.PYTHON}:
                return True
        return False

    def _is_made_by_the_user(self, leaf: Leaf) -> bool:
        """Whether a call of the user's makes the source, and may put aside what it makes of it."""
        made = (d.value for d in leaf.defs)
        calls = (value for value in made if isinstance(value, ast.Call))
        return any(short(self._view.kinds.name(call.func)) is None for call in calls)

    def _methods(self) -> HiddenReads:
        return HiddenReads(self._project, self._tracer, self._view, self._kept, self._value.steps)

    def _is_of_class_inside(self, root: Def) -> bool:
        """Whether a function round the class gives the name what an op may have made."""
        around = outer_definitions(self._project, self._view, root.path)
        if self._view.cls is None or around is None:
            return False
        computed = self._project.once(Computed)
        return any(computed.is_given(around[0], made) for made in around[1])

    def _comes_from_around(self, root: Def, hidden: list[Leaf]) -> bool:
        """Whether a function around is handed it, and sources come from outside as well."""
        if not any(d.kind is Kind.ENTRY for x in hidden for d in x.defs):
            return False
        around = outer_definitions(self._project, self._view, root.path)
        return around is not None and any(d.kind is Kind.PARAM for d in around[1])

    def _is_set_inside(self, root: Def) -> bool:
        """Whether another function gives the name another value: ``nonlocal``, ``global``.

        That of an object that is called, ``loss(x)``, reads no name that the scope shows.
        """
        around = outer_definitions(self._project, self._view, root.path)
        module = self._project.view(self._view.unit, self._view.unit.tree)
        holder = module if around is None else around[0]
        return is_set_inside(self._project, holder, root.path[0])

    def _is_filled_with(self, root: Def, hidden: list[Leaf]) -> Refusal | None:
        """Why a list of the module, which a function reads, may hold what was made of a source."""
        for leaf in hidden:
            if self._ancestry.is_filled_with(self._view, root, leaf.defs):
                return wrong(text_of(root.path), "put together elsewhere", f"`{name_of([leaf])}`")
        return None

    def _is_itself(self, root: Def, region: Region) -> bool:
        """Whether it is the method's own object, called: what it reads then is judged apart.

        Or it is new, and holds nothing yet.
        """
        if root.path != (self._view.kinds.self_name,):
            return False
        return is_new(self._project, self._view, region) or self._methods().only_calls(region)

    def given(self, region: Region) -> Given | Refusal:
        """What a tape from outside must have recorded for ``region``."""
        if tensor := self._tensor_among(region):
            return unnamed_tensor(tensor)
        found = _Found()
        for entering in (
            self._given_by_objects,
            self._given_by_roots,
            self._given_by_calls,
            self._given_by_sources,
            self._given_by_methods,
        ):
            refusal = entering(region, found)
            if refusal is not None:
                return refusal
        # Where callers pass what is differentiated, they need not know what else there is.
        for name in list(found.own) if found.targets else ():
            if not found.must_record(name):
                found.assumptions += [str(each) for each in found.own.pop(name)]
        if not found.targets and not found.own:
            return NOTHING_PASSED
        return Given(frozenset(found.targets), frozenset(found.own), found.assumptions)

    def _given_by_roots(self, region: Region, found: _Found) -> Refusal | None:
        """What enters the region by names of the scope."""
        leaves = region.sources.leaves
        for root in sorted(region.roots, key=lambda d: d.path):
            if root.path[0] in self._value.parameters:
                if is_static(root.path):
                    continue
                if not all(step.startswith("[") for step in root.path[1:]):
                    setting = self._value.setting(root, leaves)
                    if not isinstance(setting, Refusal):
                        continue
                    variables = all(x.variables and not x.watch for x in leaves)
                    if variables and region.begins:
                        whole, part = root.path[0], text_of(root.path[:2])
                        found.assume(f"`{part}` is computed where `{whole}` is made or handed on")
                    elif not self._asks(root, leaves):
                        return setting
                found.targets.add(root.path[0])
                continue
            if self._is_itself(root, region):
                continue
            if self._is_of_object_kept(root) and found.must_record(root.path[1].lstrip(".")):
                continue  # computed where that object was made
            verdict = self._value.of(root, leaves)
            if isinstance(verdict, Refusal) and verdict.keeps:
                found.own.setdefault(verdict.keeps, []).append(verdict)
                continue
            if verdict is not None and self._is_own(root):
                told = verdict if isinstance(verdict, Refusal) else self._before(root, verdict)
                found.own.setdefault(root.path[1].lstrip("."), []).append(told or verdict)
                continue
            if isinstance(verdict, Refusal):
                return verdict
            if verdict:
                found.assumptions.append(verdict)
        return None

    def _asks(self, root: Def, leaves: list[Leaf]) -> bool:
        """Whether it is a method that is called of what is passed, which reads what that keeps."""
        called = len(root.path) == 2 and root.path in called_paths(self._view.scope)
        return called and not any(x.variables for x in leaves)

    def _given_by_objects(self, region: Region, found: _Found) -> Refusal | None:
        """What variables computed where objects were made that the object keeps."""
        if any(x.variables for x in region.sources.leaves):
            for refusal in each_of_parts(self._project, self._results, self._view, region):
                if refusal.keeps:
                    found.own.setdefault(refusal.keeps, []).append(refusal)
        return None

    def _given_by_calls(self, region: Region, found: _Found) -> Refusal | None:
        """The objects that the object keeps, whose methods read what their making computed."""
        me = self._view.kinds.self_name
        behind = backward(self._view.flow.uses_in(region.request.target)).made
        made = {d.path for d in behind if d.kind not in OUTSIDE}  # while the tape records
        while me is not None:
            recorded = made | {(me, f".{name}") for name in found.own}
            recorded |= {(name,) for name in found.targets}
            called = computed_when_made(
                self._project,
                self._results,
                self._parts,
                self._view,
                region,
                region.sources.leaves,
                recorded,
            )
            if not isinstance(called, Refusal):
                break
            if not called.keeps or called.keeps in found.own:
                return called
            found.own[called.keeps] = [called]
        return None

    def _given_by_sources(self, region: Region, found: _Found) -> Refusal | None:
        """What one source may have been made of another.

        No caller looks for a way from one to another that goes on in here.
        """
        behind = backward(self._view.flow.uses_in(region.request.target)).made
        for one, other in permutations(region.sources.leaves, 2):
            met = frozenset() if other.variables else (other.defs - one.defs) & behind
            for made in sorted(met, key=lambda d: d.path):
                verdict = self._value.of(made, [one]) if made.kind is Kind.PARAM else None
                if isinstance(verdict, Refusal) and not region.sources.listed:
                    # Two lists that were taken from one, and are joined, may be of variables.
                    verdict = f"`{other.watch}` was not computed from `{name_of([one])}`"
                if isinstance(verdict, Refusal):
                    return verdict
                if verdict:
                    found.assumptions.append(verdict)
        return None

    def _given_by_methods(self, region: Region, found: _Found) -> Refusal | None:
        """What the functions read that the region runs."""
        behind = backward(self._view.flow.uses_in(region.request.target)).made
        run = [d.value for d in behind if d.value is not None]
        for verdict in self._methods().of(region, region.sources.leaves, frozenset(), run):
            if isinstance(verdict, Refusal) and verdict.keeps:
                found.own.setdefault(verdict.keeps, []).append(verdict)
                continue
            if isinstance(verdict, Refusal):
                return verdict
            found.assume(verdict)
        return None

    def _before(self, root: Def, sentence: str | None) -> str | None:
        """``sentence`` of what an attribute held until, on some ways, the method set it."""
        own = root.kind is Kind.ENTRY and root.path[0] == self._view.kinds.self_name
        defs = self._view.flow.defs.values() if own and len(root.path) == 2 else ()
        again = any(d.path == root.path and d.kind in (Kind.ASSIGN, Kind.ELEMENT) for d in defs)
        return f"{sentence} before this method" if sentence and again else sentence

    def _is_of_object_kept(self, root: Def) -> bool:
        """Whether it is a part of an object that the method's own object keeps."""
        path = root.path
        return path[0] == self._view.kinds.self_name and path[2:3] != () and path[2][0] == "."

    def _is_own(self, root: Def) -> bool:
        """Whether it is an attribute of the object of the method, or an element of such a one."""
        path = root.path
        own = path[0] == self._view.kinds.self_name and len(path) > 1
        return own and all(step.startswith("[") for step in path[2:])


def is_linear(region: Region) -> bool:
    """Whether the target is a gradient that is linear in the source: its ``grad_ys``.

    What is asked for then is the same for every value of the source, and no function of it.
    """
    sources = region.request.sources
    if isinstance(sources, ast.List) and len(sources.elts) == 1:
        sources = sources.elts[0]
    path = path_of(sources)
    return path is not None and any(
        lower.output_gradients is not None and path_of(lower.output_gradients) == path
        for lower in region.lower
    )

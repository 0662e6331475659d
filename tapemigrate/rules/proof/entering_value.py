"""What one value that enters a tape has to do with the sources of the gradient."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cached_property

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.by_name import called_paths, is_of_container, is_plain, is_size
from tapemigrate.rules.proof.callers.above import CODE, OUTSIDE
from tapemigrate.rules.proof.callers.by_callers import VARIABLES, ByCallers, given_by_a_call
from tapemigrate.rules.proof.callers.may_run import may_run
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.kept.kept_values import KeptValues
from tapemigrate.rules.proof.objects.one_object import comes_with, holders
from tapemigrate.rules.proof.objects.steps import Steps
from tapemigrate.rules.proof.sources.other_names import passed_on
from tapemigrate.rules.proof.state.outer_values import OuterValues
from tapemigrate.rules.proof.verdicts import name_of, wrong
from tapemigrate.rules.values.estimators import is_fed_data, runs_in_graphs_of_its_own
from tapemigrate.rules.values.parts_apart import parts_apart
from tapemigrate.rules.values.plain.optional import is_no_function
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.request import Refusal


class EnteringValue:
    """Judges values that enter the regions of one scope, which has its ``parameters``.

    ``outer`` knows what comes from round the scope, ``steps`` what runs in the region at hand.
    """

    def __init__(
        self,
        project: Project,
        tracer: Tracer,
        view: View,
        by_callers: ByCallers,
        kept: KeptValues,
        ancestry: Ancestry,
        results: KeptResults,
    ) -> None:
        self.outer = OuterValues(project, tracer, view, by_callers)
        self.steps: Steps | None = None
        self._project = project
        self._tracer = tracer
        self._view = view
        self._by_callers = by_callers
        self._kept = kept
        self._ancestry = ancestry
        self._results = results
        self.parameters = (
            frozenset()
            if isinstance(view.scope, ast.Module)
            else frozenset(a.arg for a in parameters(view.scope.args)) - {view.kinds.self_name}
        )

    def of(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        """What is assumed of it, or why a tape would be wrong; None: it is apart from them."""
        view = self._view
        while len(root.path) > 1 and is_of_container(self._project, view, root.path):
            root = replace(root, path=root.path[:-1])  # what the method is called on
        text = text_of(root.path)
        if leaves and all(self._is_part_apart(root, each) for each in leaves):
            return None
        if root.path[0] not in self.parameters and self._is_of_another_graph:
            return None
        if is_plain(self._project, self._view, root) and not self._holds_source(root, leaves):
            imported = root.kind is Kind.ENTRY and root.path[0] in self._project.imported(view.unit)
            if imported:
                return self.descent(root, leaves, called=True)
            # What is seen to be given tells more than what it is called.
            verdict = self._given_by_name(root, leaves)
            return verdict if isinstance(verdict, Refusal) else None
        together = self._of_one_object(root, leaves)
        if together is not None:
            return together
        variables = any(x.variables for x in leaves)
        if root.kind is Kind.PARAM or root.path[0] in self.parameters:
            if self.steps is not None and self.steps.leave_out(root.path[0]):
                return None
            return self._parameter(root, leaves) or self.descent(root, leaves)
        if root.path[0] == view.kinds.self_name and len(root.path) > 1:
            name = root.path[1].lstrip(".")
            if self.steps is not None and self.steps.settle(name):
                return None
            traced = self._tracer.attribute(view, name)
            if len(root.path) > 2 and variables and traced.blind:
                return wrong(text, "an object made elsewhere", "the variables")
            verdict = (
                self._kept.judge(text, name, traced, leaves)
                or self._around(root, leaves)
                or self.descent(root, leaves, name)
            )
            if isinstance(verdict, Refusal) and self.steps is not None:
                return self.steps.left_over(name) or verdict
            return verdict
        if len(root.path) > 1:
            if any(d.path[0] == root.path[0] for x in leaves for d in x.defs):
                return wrong(text, "computed where its object was made", f"`{name_of(leaves)}`")
            if len(root.path) == 2 and root.path in called_paths(view.scope):
                root = replace(root, path=root.path[:1])  # a method runs where it is called
                if self._is_object_around(root):
                    return self.descent(root, leaves)
            elif variables and not self._is_element(root):
                return wrong(text, "computed where its object was made", "the variables")
        return self._from_outside(root, leaves) or self.descent(root, leaves)

    @cached_property
    def _is_of_another_graph(self) -> bool:
        """Whether no tensor that is here when the scope is entered can be one of its graph."""
        return runs_in_graphs_of_its_own(self._project, self._view)

    def _is_part_apart(self, root: Def, leaf: Leaf) -> bool:
        """Whether both are parts of objects whose classes make them of nothing."""
        named = [d for d in leaf.defs if d.kind is Kind.ASSIGN and d.path == leaf.path]
        taken = path_of(named[0].value) if len(named) == 1 else None
        return any(
            source is not None and parts_apart(self._project, self._view, root.path, source)
            for source in (leaf.path, taken)
        )

    def _from_outside(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        """What is known of a value of the module, or of a function around."""
        verdict = self.outer.judge(root, leaves)
        if isinstance(verdict, Refusal):
            return verdict
        return self._around(root, leaves) or verdict

    def _around(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        """The same in the function around which hands it in, where the sources come from outside
        of that one as well.
        """
        found = outer_definitions(self._project, self._view, root.path)
        if found is None:
            return None
        holder, made = found
        outer = [own for x in leaves if (own := _as_around(x, holder)) is not None]
        made = [d for d in made if d.kind not in CODE]
        entering = backward([u for d in made for u in (Use(d), *d.uses)]).made
        same = {d.path for x in leaves for d in x.defs} | {(holder.kinds.self_name,)}
        value = self._in(holder)
        verdicts = (
            value.of(each, outer)
            for each in sorted(entering, key=lambda d: d.path)
            if outer and each.kind in OUTSIDE and each.path not in same
        )
        return next((verdict for verdict in verdicts if verdict is not None), None)

    def _in(self, holder: View) -> EnteringValue:
        """What judges the values that enter a function around."""
        project, tracer, ancestry = self._project, self._tracer, self._ancestry
        callers = ByCallers(self._by_callers.calls, holder)
        kept = KeptValues(project, tracer, holder, callers, ancestry)
        return EnteringValue(project, tracer, holder, callers, kept, ancestry, self._results)

    def called(self, name: str, leaves: list[Leaf]) -> str | Refusal | None:
        """The same of a function, or an object, of a function around, that is called by name."""
        verdict = self.outer.called(name, leaves)
        tensors = [x for x in leaves if not x.variables]
        if verdict is None and tensors and self.outer.is_handed_in(name):
            return self.descent(Def((name,), Kind.ENTRY, None), tensors, called=True)
        return verdict

    def _of_one_object(self, root: Def, leaves: list[Leaf]) -> Refusal | None:
        """Why a tape would be wrong, where it is a part of what the sources are parts of."""
        view, text = self._view, text_of(root.path)
        whole = next((x for x in leaves if comes_with(root, x, view)), None)
        if whole is not None and not any(map(is_size, root.path[1:])):
            if root.path not in called_paths(view.scope):
                given = sorted((text_of(d.path) for d in whole.defs), key=lambda n: (len(n), n))
                shown = f"`{whole.watch or given[0]}`"
                return wrong(text, "computed where its object was made", shown)
        sources = [d for x in leaves for d in x.defs]
        variables = any(x.variables for x in leaves)
        parts = [
            d.path
            for d in sources
            if len(d.path) > 1 and d.path[0] == root.path[0] and not _is_below(root, d)
        ]
        if root.path[0] != view.kinds.self_name and parts:
            looked_up = root.path[1:2] and root.path[1].startswith("[")
            how = "put there before" if looked_up else "computed where its object was made"
            return wrong(text, how, f"`{text_of(min(parts))}`")
        if len(root.path) > 1 and not any(map(is_size, root.path[1:])):
            beside = [x for x in leaves if any(d.path == root.path[:1] for d in x.defs)]
            taken = [x for x in beside if x.watch and x.watch.split(".")[0] != root.path[0]]
            if taken and root.path not in called_paths(view.scope):
                # ``model.get_layer("conv").output`` and ``model.output``.
                return wrong(text, "computed where its object was made", f"`{taken[0].watch}`")
        is_of_object = len(root.path) > (2 if root.path[0] == view.kinds.self_name else 1)
        if variables and is_of_object and root.path in called_paths(view.scope):
            if self._results.gives_kept(view, root.path):
                return wrong(text, "computed where its object was made", "the variables")
        return None

    def _parameter(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        for leaf in leaves:
            name = root.path[0]
            runs = leaf.variables and root in passed_on(leaf, self._view)
            runs = runs and not is_no_function(self._project, self._view, name)
            if runs and may_run(self._view, name):
                return f"`{name}` runs its forward pass where it is called, not where it was made"
            if leaf.variables and is_fed_data(self._project, self._view, name):
                continue
            for whole in holders(leaf, self._view):
                verdict = self._by_callers.judge(whole, name, name, part=leaf.watch or "")
                if verdict is not None:
                    return verdict
            # A name that is given here was not watched when the other one was used.
            late = any(d.kind not in OUTSIDE for d in leaf.defs)
            told: str | Refusal | None = None
            # What has a name for callers is told by it.
            ordered = sorted(leaf.defs, key=lambda d: (d.kind is not Kind.PARAM, d.path))
            for made in ordered or (VARIABLES,):
                verdict = self._by_callers.judge(
                    made, name, name, said=given_by_a_call(leaf), computed=late
                )
                if isinstance(verdict, Refusal) and made.path == (name,) and leaf.watch:
                    # That the source may be the object, or a part of it, makes it no other one.
                    verdict = f"`{name}`, a parameter, was not computed from `{leaf.watch}`"
                if isinstance(verdict, Refusal) and (made.kind in OUTSIDE or told is None):
                    return verdict
                told = told or verdict
            if told:
                return told
        return None

    def descent(
        self, root: Def, leaves: list[Leaf], keeps: str = "", called: bool = False
    ) -> str | Refusal | None:
        """What is known of a value that comes of a source by another way, or another name."""
        text = text_of(root.path)
        if called and root.path in called_paths(self._view.scope):
            text = f"{text}(…)"
        for leaf in leaves if not self._by_callers.linear else ():
            found = self._ancestry.leads_to(self._view, root, leaf.defs)
            if found:
                return wrong(text, "computed elsewhere", f"`{name_of([leaf])}`", keeps=keeps)
            if found is None:
                return f"`{text}` was not computed from `{name_of([leaf])}`"
        return None

    def setting(self, root: Def, leaves: list[Leaf]) -> Refusal | None:
        """Why a part of what is passed is no mere setting of the program's."""
        if not is_plain(self._project, self._view, root) or self._holds_source(root, leaves):
            return wrong(text_of(root.path), "made out of sight", "the source")
        told = self._given_by_name(root, leaves)
        return told if isinstance(told, Refusal) else None

    def _given_by_name(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        """What is seen of a value that is configuration by its name."""
        path = root.path
        if path[0] in self.parameters:
            return self._parameter(root, leaves)
        if len(path) == 1:
            return self._from_outside(root, leaves)
        if path[0] != self._view.kinds.self_name:
            return None
        name = path[1].lstrip(".")
        traced = self._tracer.attribute(self._view, name)
        return self._kept.judge(text_of(path), name, traced, leaves)

    def _holds_source(self, root: Def, leaves: list[Leaf]) -> bool:
        """Whether a source is a part of the same object: whatever its name, it has tensors."""
        me = self._view.kinds.self_name
        holders = [root.path[: 2 if root.path[0] == me else 1]]
        if me is not None and len(root.path) == 1:
            holders.append((me, f".{root.path[0]}"))  # which keeps it: ``self.params = params``
        imported = root.path[0] in self._project.imported(self._view.unit)
        paths = [
            path
            for leaf in leaves
            for made in leaf.defs
            for path in (made.path, path_of(made.value) if made.value is not None else None)
            if path is not None
        ]
        return not imported and any(
            len(path) > len(holder) and path[: len(holder)] == holder
            for path in paths
            for holder in holders
        )

    def _is_object_around(self, root: Def) -> bool:
        """Whether it is an object that a function around makes, and gives no parts itself.

        What the making of it computed is asked where its methods are called.
        """
        around = outer_definitions(self._project, self._view, root.path)
        return around is not None and all(
            made.path == root.path
            and isinstance(made.value, ast.Call)
            and around[0].kinds.makes_object(made.value)
            for made in around[1]
        )

    def _is_element(self, root: Def) -> bool:
        """Whether it is an element of a list or dict that is kept at module level."""
        return bool(global_values(self._view.unit, root.path[0])) and all(
            step.startswith("[") for step in root.path[1:]
        )


def _is_below(root: Def, source: Def) -> bool:
    return root.path[: len(source.path)] == source.path


def _as_around(leaf: Leaf, holder: View) -> Leaf | None:
    """A source of an inner function as what enters the function around; None where none does."""
    given = {d.path[0]: d for d in holder.flow.defs.values() if len(d.path) == 1}
    given |= {d.path[0]: d for d in holder.flow.defs.values() if d.kind is Kind.PARAM}
    defs = leaf.defs
    if leaf.found:  # it may be what the call was handed
        defs |= backward(u for d in leaf.defs for u in d.uses).made
    outer = set[Def]()
    for each in defs:
        root = given.get(each.path[0], each)
        if each.kind is Kind.ENTRY and root.kind in OUTSIDE:
            outer.add(root if root.path == each.path else each)
    return replace(leaf, defs=frozenset(outer)) if outer or leaf.variables else None

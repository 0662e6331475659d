"""Values that other methods keep on ``self``, held against the sources of a call."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.asked import Asked, attribute_of
from tapemigrate.rules.proof.by_name import is_size
from tapemigrate.rules.proof.callers.by_callers import VARIABLES, ByCallers, given_by_a_call
from tapemigrate.rules.proof.callers.entries_given import is_number_given
from tapemigrate.rules.proof.kept.kept_elements import is_new_element, made_of_element
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.kept.shared_origin import (
    is_handed_in,
    is_handed_unseen,
    may_share,
    share,
)
from tapemigrate.rules.proof.objects.one_object import holders
from tapemigrate.rules.proof.verdicts import names_of, wrong
from tapemigrate.rules.values.objects.attributes import inherited_values
from tapemigrate.rules.values.plain.class_constants import is_constant_of_object
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.rules.values.variables.variable_values import holds_variables, is_set_by_text
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.request import Refusal

_TAKEN = (Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION)


class KeptValues:
    """Judges what one scope reads of its object."""

    def __init__(
        self,
        project: Project,
        tracer: Tracer,
        view: View,
        by_callers: ByCallers,
        ancestry: Ancestry,
    ) -> None:
        self._project = project
        self._tracer = tracer
        self._view = view
        self._by_callers = by_callers
        self._ancestry = ancestry
        self._entries: dict[str, Def] = {}

    def judge(
        self,
        text: str,
        name: str,
        traced: Provenance,
        leaves: list[Leaf],
        entered: bool = False,
    ) -> str | Refusal | None:
        """A value kept on ``self`` by another method.

        ``entered``: a method reads it, and what nobody in sight makes is taken for data.
        """
        if self._is_number(name):
            return None
        # What subclasses write in place of a method counts as well.
        results = KeptResults(self._project, self._tracer)
        variables = any(x.variables for x in leaves)
        computed = variables and (traced.network or results.keeps(self._view, name))
        for leaf in leaves:
            if leaf.variables and computed:
                if self.is_module(name) or holds_variables(self._project, self._view, name):
                    continue
                # Where it was handed in, no tape was begun.
                here = name if traced.network or not traced.outside else ""
                return wrong(text, "computed in another method", "the variables", keeps=here)
            if traced.foreign:
                return wrong(text, "set on the object by other code", names_of(leaves))
            if any(d.kind is Kind.PARAM for d in leaf.defs & traced.defs):
                return wrong(text, "kept from an earlier call", names_of(leaves))
            for made in leaf.defs or (VARIABLES,):
                attribute = attribute_of(made, self._view)
                if attribute == name and len(made.path) > 2 and text_of(made.path) != text:
                    beside = self._beside_element(text, made, traced, leaf.variables)
                    if beside is not None:
                        return beside
                for each in self._meant_by(attribute or self.taken_from(made)):
                    if (beside := self._beside(text, name, traced, each)) is not None:
                        return beside
                if attribute is None and made.kind is Kind.PARAM:
                    said = given_by_a_call(leaf)
                    verdict = self._by_callers.judge(
                        made, attribute=name, traced=traced, text=text, said=said
                    )
                    if verdict is not None:
                        return verdict
        unseen = traced.blind or ((traced.outside or traced.calls) and variables)
        for leaf in leaves if traced.values else ():
            for whole in holders(leaf, self._view):
                if any(path_of(v) is None or len(path_of(v) or ()) > 1 for v in traced.values):
                    return wrong(text, "computed in another method", f"`{leaf.watch}`")
                part = leaf.watch or ""
                verdict = self._by_callers.judge(whole, text, None, name, traced, part=part)
                if verdict is not None:
                    return verdict
        if unseen and not self.is_module(name):
            told = self._unseen(text, name, traced, leaves, entered)
            if told is not None:
                return told
        return self._of_its_own(text, name, leaves)

    def _is_number(self, name: str) -> bool:
        """Whether ``self.name`` is a number or text wherever the object was made."""
        project, view = self._project, self._view
        return is_constant_of_object(project, view, name) or is_number_given(project, view, name)

    def _of_its_own(self, text: str, name: str, leaves: list[Leaf]) -> str | Refusal | None:
        """What is known of a source that is, by another name, what the object keeps itself."""
        if self._by_callers.linear or self._view.kinds.self_name is None:
            return None
        path = (self._view.kinds.self_name, f".{name}")
        entry = self._entries.setdefault(name, Def(path, Kind.ENTRY, None))
        for leaf in leaves:
            sources = [d for d in leaf.defs if not self._is_element_of(d, path)]
            found = self._ancestry.leads_to(self._view, entry, sources)
            if found:
                return wrong(text, "computed elsewhere", names_of([leaf]), keeps=name)
            if found is None:
                return f"`{text}` was not computed from {names_of([leaf])}"
        return None

    def _is_element_of(self, made: Def, path: Path) -> bool:
        """Whether it is ``path``, or names an element of it: of such was told before."""
        if made.path[:2] == path:
            return made.kind is Kind.ENTRY
        named = path_of(made.value) if made.value is not None else None
        return made.kind is Kind.ASSIGN and named is not None and named[:2] == path != named

    def _beside_element(
        self, text: str, made: Def, traced: Provenance, variables: bool
    ) -> str | Refusal | None:
        """What is known of ``text``, where the source is an element of the same attribute."""
        source = made.path[:3]
        element = source[2].startswith("[")
        beside = (
            made_of_element(self._project, self._tracer, self._view, text, source)
            if element
            else None
        )
        if isinstance(beside, Refusal):
            return beside
        passed = not variables and any(d.kind is Kind.PARAM for d in traced.defs)
        # Of what an op makes there, no caller has made another.
        if passed and not (element and is_new_element(self._project, self._view, source)):
            return f"`{text}` was not computed from `{text_of(made.path)}`"
        return beside

    def taken_from(self, made: Def) -> str | None:
        """The attribute of which it is one of several: ``x, t = self.coords``."""
        path = path_of(made.value) if made.kind in _TAKEN and made.value is not None else None
        own = path is not None and len(path) > 1 and path[0] == self._view.kinds.self_name
        return path[1].lstrip(".") if path is not None and own else None

    def _meant_by(self, attribute: str | None) -> list[str]:
        """The attribute, or those that it reads if it is a property."""
        if attribute is None or self._view.cls is None:
            return [] if attribute is None else [attribute]
        method = self._project.effects(self._view.unit).method(self._view.cls, attribute)
        if method is None or not method.decorator_list:
            return [attribute]
        return [attribute, *sorted(self._tracer.method(self._view, attribute).attributes)]

    def _beside(
        self, text: str, name: str, traced: Provenance, attribute: str
    ) -> str | Refusal | None:
        """What is known of ``self.name``, and of an attribute that is the source."""
        project, tracer, view = self._project, self._tracer, self._view
        if attribute in traced.attributes or (
            attribute != name and share(project, tracer, view, attribute, traced)
        ):
            return wrong(text, "computed in another method", f"`self.{attribute}`", keeps=name)
        if attribute == name:
            return None
        if may_share(project, view, attribute, traced):
            return f"`{text}` was not computed from `self.{attribute}`"
        handed = self._handed_in_with(attribute, name, traced, text)
        if handed is not None:
            return handed
        if (
            is_handed_in(project, tracer, view, attribute, traced)
            or (traced.values and is_set_by_text(project, view, attribute))
            or is_handed_unseen(project, tracer, view, traced)
        ):
            return f"`{text}` was not computed from `self.{attribute}`"
        return None

    def _handed_in_with(
        self, attribute: str, name: str, traced: Provenance, text: str
    ) -> str | Refusal | None:
        """What is known of two attributes that one method makes of parameters of its own."""
        shown = f"`self.{attribute}`"
        kept = attribute_values(self._project, self._view, name)
        # Of one tensor handed in twice, what was made before the tape opens is lost.
        computed = any(path_of(v) is None for v in kept)
        return self._handed_in(attribute, traced, text, shown, computed)

    def _unseen(
        self, text: str, name: str, traced: Provenance, leaves: list[Leaf], entered: bool
    ) -> str | Refusal | None:
        """What is known of an attribute of which not all that it was made of is seen."""
        project, view = self._project, self._view
        variables = any(x.variables for x in leaves)
        unknown = f"`{text}` was not computed from {names_of(leaves)}"
        if traced.blind or traced.calls or not variables:
            return unknown
        kept = [
            (project.view(unit, project.scope_of(unit, value)), value)
            for attribute in sorted(traced.attributes | {name})
            for unit, value in (
                *((view.unit, value) for value in attribute_values(project, view, attribute)),
                *inherited_values(project, view, attribute),
            )
        ]
        computed = any(path_of(value) is None for _, value in kept)
        handed = {d for d in traced.defs if d.kind is Kind.PARAM}
        calls, linear = self._by_callers.calls, self._by_callers.linear
        for inner in dict.fromkeys(inner for inner, _ in kept):
            own = handed.intersection(inner.flow.defs.values())
            handed -= own
            for each in sorted({d.path[0] for d in own} - {inner.kinds.self_name}):
                asked = Asked(VARIABLES, each, linear=linear, computed=computed, above=entered)
                verdict = calls.at_all_calls(inner, asked)
                # What may be a network's by its origin, and is a size by its name, is not settled.
                if isinstance(verdict, CallSite) and not is_size(f".{name}"):
                    how = f"given by the caller in {verdict.place(view.unit)}"
                    return wrong(text, f"{how}, out of what may hold variables", "the variables")
                called_by_none = entered and not verdict and calls.is_called_by_none(inner)
                if verdict is not True and not called_by_none:
                    return unknown
        return unknown if handed else None

    def _handed_in(
        self, attribute: str, traced: Provenance, text: str, shown: str, computed: bool
    ) -> str | Refusal | None:
        for value in attribute_values(self._project, self._view, attribute):
            scope = self._project.scope_of(self._view.unit, value)
            inner = self._project.view(self._view.unit, scope)
            behind = backward(inner.flow.uses_in(value)).made
            mine = sorted((d for d in behind if d.kind is Kind.PARAM), key=lambda d: d.path)
            own = set(inner.flow.defs.values())
            others = {d for d in traced.defs if d.kind is Kind.PARAM and d in own}
            for source in mine:
                for other in sorted(others - {source}, key=lambda d: d.path):
                    passed = other.path[0]
                    if inner.kinds.self_name in (passed, source.path[0]):
                        continue
                    verdict = self._by_callers.calls.at_all_calls(
                        inner,
                        Asked(source, passed, linear=self._by_callers.linear, computed=computed),
                    )
                    if isinstance(verdict, CallSite):
                        where = verdict.place(self._view.unit)
                        how = f"computed from the source by the caller in {where}"
                        return wrong(text, how, shown)
                    if not verdict:
                        return f"`{text}` was not computed from {shown}"
        return None

    def is_module(self, name: str) -> bool:
        """Whether ``self.name`` holds an object that is called, not a tensor."""
        view = self._view
        if view.cls is None:
            return False
        called = view.unit.once(_called)
        if view.cls not in called:
            called[view.cls] = frozenset(
                node.func.attr
                for node in walk(view.cls)
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                # ``tf.gradients(…)`` is no call of ``self.gradients``.
                and view.unit.names.qualified(node.func) is None
            )
        return name in called[view.cls]


def _called(unit: Unit) -> dict[ast.ClassDef, frozenset[str]]:
    return {}

"""What a tape's correctness rests on beyond its own function, whether callers bear it out."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from itertools import permutations

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.effects import CHANGERS
from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.aliases import perhaps, with_aliases
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.captured import (
    captured,
    is_set_inside,
    outer_definitions,
)
from tapemigrate.rules.proof.elements import Elements
from tapemigrate.rules.proof.globals_read import globals_read
from tapemigrate.rules.proof.guards import come_with
from tapemigrate.rules.proof.hidden_reads import HiddenReads, stored_reads
from tapemigrate.rules.proof.imported_beside import imported_beside
from tapemigrate.rules.proof.independence import Asked, Independence, attribute_of
from tapemigrate.rules.proof.new_graph import opens_with_graph
from tapemigrate.rules.proof.one_object import comes_with, holders, tensors_in
from tapemigrate.rules.proof.other_names import aliased, passed_on
from tapemigrate.rules.proof.own_graph import begins_here
from tapemigrate.rules.proof.shared_origin import is_handed_in, may_share, share
from tapemigrate.rules.proof.siblings import given_beside, unpacked_beside
from tapemigrate.rules.proof.steps import Steps
from tapemigrate.rules.proof.verdicts import (
    NOTHING_PASSED,
    kept_together,
    name_of,
    names_of,
    parts_beside,
    wrong,
)
from tapemigrate.rules.values.constants import function_of_class, is_constant_of_class
from tapemigrate.rules.values.counts import is_count
from tapemigrate.rules.values.estimators import is_fed_data
from tapemigrate.rules.values.module_variables import are_variables
from tapemigrate.rules.values.optional import is_no_function
from tapemigrate.rules.values.owners import is_part_of_owner
from tapemigrate.rules.values.provenance import Provenance, Tracer
from tapemigrate.rules.values.shape_evidence import attribute_values, global_values
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.leaf import Leaf, taken_for_variables
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal

# Names by which configuration is passed about everywhere; it holds no tensors.
_CONFIGURATION = frozenset(
    {"args", "FLAGS", "flags", "config", "hps", "hparams", "hp", "conf", "cfg", "options", "opts"}
    | {"opt", "params", "settings", "env", "ob_space", "ac_space", "mode", "np", "FLAG", "arg"}
    | {"observation_space", "action_space"}
)

_READERS = frozenset({"keys", "items", "values", "get", "index", "count", "copy"})
# What a tensor knows of itself without an op.
_STATIC = frozenset({".shape", ".dtype", ".name", ".type", ".get_shape"})
_PLAIN = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN)
_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
# Stands for the variables of a collection, which no name in the code holds.
_VARIABLES = Def(("<variables>",), Kind.ASSIGN, None)


@dataclass(frozen=True, slots=True)
class Given:
    """What a tape from outside must have recorded: parameters, and attributes of ``self``.

    ``assumptions``: why that is enough.
    """

    parameters: frozenset[str]
    attributes: frozenset[str]
    assumptions: list[str]


class Judge:
    """Judges the regions of one scope. ``assumptions`` empty means proved."""

    def __init__(self, project: Project, tracer: Tracer, view: View) -> None:
        self._project = project
        self._tracer = tracer
        self._view = view
        self._calls = Independence(project, tracer)
        self._ancestry = Ancestry(project, tracer)
        self._linear = False
        self._steps: Steps | None = None
        scope = view.scope
        self._parameters = (
            frozenset()
            if isinstance(scope, ast.Module)
            else frozenset(a.arg for a in parameters(scope.args)) - {view.kinds.self_name}
        )

    def judge(self, region: Region, recorded: frozenset[Path] = frozenset()) -> list[str] | Refusal:
        """The assumptions on which ``region`` rests, or why it would be wrong.

        ``recorded`` are attributes that the tape has recorded elsewhere.
        """
        also_named = {x: aliased(x, self._view) for x in region.sources.leaves}
        sources = [
            replace(
                x,
                defs=x.defs
                if x.variables or taken_for_variables(x.watch or "") in region.assumptions
                else x.defs | passed_on(x, self._view) | also_named[x],
            )
            for x in region.sources.leaves
            if (x.outside or x.found or also_named[x])
            and not (x.fresh or begins_here(x, self._view))
        ]
        hidden = [
            replace(x, variables=x.variables or x.found or self._may_be_variables(x))
            for x in sources
        ]
        assumptions = list(region.assumptions)
        if (beside := kept_together(region, self._view)) is not None:
            return beside
        listed = Elements(self._project, self._calls, self._view).judge(region)
        if isinstance(listed, Refusal):
            return listed
        assumptions += [s for s in listed if s not in assumptions]
        self._steps = Steps(self._project, self._view, region)
        if (late := self._steps.made_late()) is not None:
            return late
        if opens_with_graph(self._project, region, self._view):
            return assumptions
        if not hidden:
            return assumptions + [
                s for s in parts_beside(region, self._view) if s not in assumptions
            ]
        self._linear = is_linear(region)
        roots = [*region.roots, *captured(region, self._view)]
        for root in sorted(roots, key=lambda d: d.path):
            if any(root.path[: len(path)] == path for path in recorded):
                continue
            others = [own for x in hidden if (own := self._as_passed(root, x, region)) is not None]
            if not others or is_count(root, self._view, region.request.stmt):
                continue
            verdict = self._root(root, others)
            if isinstance(verdict, Refusal) and root.kind is Kind.PARAM and len(root.path) == 1:
                stmt, name = region.request.stmt, root.path[0]
                if (guard := come_with(self._project, self._view, stmt, name)) is not None:
                    verdict = f"`{guard}` is given wherever `{name}` is"
            if isinstance(verdict, str) and is_part_of_owner(root, region, self._view):
                return wrong(
                    text_of(root.path), "computed where its object was made", names_of(others)
                )
            if isinstance(verdict, Refusal):
                return verdict
            verdict = self._before(root, verdict)
            if verdict and verdict not in assumptions:
                assumptions.append(verdict)
        for root in globals_read(self._project, region, self._view):
            if isinstance(verdict := self._root(root, hidden), Refusal):
                return verdict
        for one, other in permutations(sources, 2):
            made_elsewhere = () if other.variables else other.defs - one.defs
            for made in sorted(made_elsewhere, key=lambda d: d.path):
                verdict = self._root(made, [one]) if made.kind in _OUTSIDE else None
                if isinstance(verdict, Refusal):
                    return verdict
                if verdict and not one.variables and verdict not in assumptions:
                    assumptions.append(verdict)
        stored = stored_reads(self._project, self._view, region, hidden)
        imported = imported_beside(self._project, self._view, region)
        for sentence in (*stored, *imported, *parts_beside(region, self._view)):
            if sentence not in assumptions:
                assumptions.append(sentence)
        for verdict in self._methods().of(region, hidden, recorded):
            if isinstance(verdict, Refusal):
                return verdict
            if verdict not in assumptions:
                assumptions.append(verdict)
        return assumptions

    def _as_passed(self, root: Def, leaf: Leaf, region: Region) -> Leaf | None:
        """What of a source another value may have been made from; None where it is the source.

        A source that is made anew round a loop of ``root`` may be what was passed, at first.
        """
        if root not in leaf.defs or comes_with(root, leaf, self._view):
            return leaf
        own = {d for x in region.sources.leaves for d in x.defs if x.watch == leaf.watch}
        passed = frozenset(d for d in own & leaf.defs if d.kind in _OUTSIDE)
        return replace(leaf, defs=passed) if passed and root not in own else None

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

    def _methods(self) -> HiddenReads:
        # Made anew each time: no circle of references keeps a tree alive.
        return HiddenReads(
            self._project, self._tracer, self._view, self._kept, self._is_module, self._steps
        )

    def given(self, region: Region) -> Given | Refusal:
        """What a tape from outside must have recorded for ``region``."""
        targets: set[str] = set()
        own: dict[str, list[str | Refusal]] = {}
        assumptions: list[str] = []
        for root in sorted(region.roots, key=lambda d: d.path):
            if root.path[0] in self._parameters:
                if any(step in _STATIC for step in root.path):
                    continue
                if not all(step.startswith("[") for step in root.path[1:]):
                    return wrong(text_of(root.path), "made out of sight", "the source")
                targets.add(root.path[0])
                continue
            verdict = self._root(root, region.sources.leaves)
            if verdict is not None and self._is_own(root):
                told = verdict if isinstance(verdict, Refusal) else self._before(root, verdict)
                own.setdefault(root.path[1].lstrip("."), []).append(told or verdict)
                continue
            if isinstance(verdict, Refusal):
                return verdict
            if verdict:
                assumptions.append(verdict)
        behind = backward(self._view.flow.uses_in(region.request.target)).made
        for one, other in permutations(region.sources.leaves, 2):
            # No caller looks for a way from one source to another that goes on in here.
            for made in sorted((other.defs - one.defs) & behind, key=lambda d: d.path):
                verdict = self._root(made, [one]) if made.kind is Kind.PARAM else None
                if isinstance(verdict, Refusal):
                    return verdict
                if verdict:
                    assumptions.append(verdict)
        run = [d.value for d in behind if d.value is not None]
        for verdict in self._methods().of(region, region.sources.leaves, frozenset(), run):
            if isinstance(verdict, Refusal) and verdict.keeps:
                own.setdefault(verdict.keeps, []).append(verdict)
                continue
            if isinstance(verdict, Refusal):
                return verdict
            if verdict not in assumptions:
                assumptions.append(verdict)
        # Where callers pass what is differentiated, they need not know what else there is.
        for name, found in list(own.items()) if targets else ():
            if not any(isinstance(each, Refusal) for each in found):
                assumptions += [str(each) for each in own.pop(name)]
        if not targets and not own:
            return NOTHING_PASSED
        return Given(frozenset(targets), frozenset(own), assumptions)

    def _before(self, root: Def, sentence: str | None) -> str | None:
        """``sentence`` of what an attribute held until, on some ways, the method set it."""
        own = root.kind is Kind.ENTRY and root.path[0] == self._view.kinds.self_name
        defs = self._view.flow.defs.values() if own and len(root.path) == 2 else ()
        again = any(d.path == root.path and d.kind in (Kind.ASSIGN, Kind.ELEMENT) for d in defs)
        return f"{sentence} before this method" if sentence and again else sentence

    def _is_own(self, root: Def) -> bool:
        """Whether it is an attribute of the object of the method, or an element of such a one."""
        path = root.path
        own = path[0] == self._view.kinds.self_name and len(path) > 1
        return own and all(step.startswith("[") for step in path[2:])

    # -- one value that enters ------------------------------------------------------------------

    def _root(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        view = self._view
        while len(root.path) > 1 and root.path[-1].lstrip(".") in CHANGERS | _READERS:
            root = replace(root, path=root.path[:-1])  # what the method is called on
        text = text_of(root.path)
        if self._is_plain(root):
            imported = root.kind is Kind.ENTRY and root.path[0] in self._project.imported(view.unit)
            return self._descent(root, leaves, called=True) if imported else None
        whole = next((x for x in leaves if comes_with(root, x, view)), None)
        if whole is not None and not any(map(_is_size, root.path[1:])):
            if root.path not in _called_paths(view.scope):
                return wrong(text, "computed where its object was made", f"`{whole.watch}`")
        sources = [d for x in leaves for d in x.defs]
        variables = any(x.variables for x in leaves)
        if root.path[0] != view.kinds.self_name and any(
            len(d.path) > 1 and d.path[0] == root.path[0] and not _is_below(root, d)
            for d in sources
        ):
            return wrong(text, "computed where its object was made", f"`{name_of(leaves)}`")
        if len(root.path) > 1 and not any(map(_is_size, root.path[1:])):
            beside = [x for x in leaves if any(d.path == root.path[:1] for d in x.defs)]
            taken = [x for x in beside if x.watch and x.watch.split(".")[0] != root.path[0]]
            if taken and root.path not in _called_paths(view.scope):
                # ``model.get_layer("conv").output`` and ``model.output``.
                return wrong(text, "computed where its object was made", f"`{taken[0].watch}`")
        if root.kind is Kind.PARAM or root.path[0] in self._parameters:
            if self._steps is not None and self._steps.leave_out(root.path[0]):
                return None
            return self._parameter(root, leaves) or self._descent(root, leaves)
        if root.path[0] == view.kinds.self_name and len(root.path) > 1:
            name = root.path[1].lstrip(".")
            if self._steps is not None and self._steps.settle(name):
                return None
            traced = self._tracer.attribute(view, name)
            if len(root.path) > 2 and variables and traced.blind:
                return wrong(text, "an object made elsewhere", "the variables")
            verdict = self._kept(text, name, traced, leaves) or self._descent(root, leaves, name)
            if isinstance(verdict, Refusal) and self._steps is not None:
                return self._steps.left_over(name) or verdict
            return verdict
        if len(root.path) > 1:
            if any(d.path[0] == root.path[0] for d in sources):
                return wrong(text, "computed where its object was made", f"`{name_of(leaves)}`")
            if variables and not self._is_element(root):
                return wrong(text, "computed where its object was made", "the variables")
        return self._global(root, leaves) or self._descent(root, leaves)

    def _descent(
        self, root: Def, leaves: list[Leaf], keeps: str = "", called: bool = False
    ) -> str | Refusal | None:
        """What is known of a value that comes of a source by another way, or another name."""
        text = text_of(root.path)
        if called and root.path in _called_paths(self._view.scope):
            text = f"{text}(…)"
        for leaf in leaves if not self._linear else ():
            found = self._ancestry.leads_to(self._view, root, leaf.defs)
            if found:
                return wrong(text, "computed elsewhere", f"`{name_of([leaf])}`", keeps=keeps)
            if found is None:
                return f"`{text}` was not computed from `{name_of([leaf])}`"
        return None

    def _is_element(self, root: Def) -> bool:
        """Whether it is an element of a list or dict that is kept at module level."""
        return bool(global_values(self._view.unit, root.path[0])) and all(
            step.startswith("[") for step in root.path[1:]
        )

    def _is_plain(self, root: Def) -> bool:
        """Whether the root is an import, or configuration by its name."""
        steps = [s.lstrip(".") for s in root.path]
        if steps[0] == self._view.kinds.self_name:
            steps = steps[1:]
        if len(steps) > 1 and steps[0] in _CONFIGURATION:
            return True
        if not steps:
            return False
        if steps[0] in ("FLAGS", "flags", "hps", "hparams"):
            return True
        if is_constant_of_class(self._project, self._view.unit, root.path):
            return True
        if function_of_class(self._project, self._view.unit, root.path) is not None:
            return True
        return root.kind is Kind.ENTRY and root.path[0] in self._project.imported(self._view.unit)

    def _kept(
        self, text: str, name: str, traced: Provenance, leaves: list[Leaf]
    ) -> str | Refusal | None:
        """A value kept on ``self`` by another method."""
        for leaf in leaves:
            if leaf.variables and traced.network:
                if self._is_module(name) or self._tracer.holds_variables(self._view, name):
                    continue
                return wrong(text, "computed in another method", "the variables", keeps=name)
            if traced.foreign:
                return wrong(text, "set on the object by other code", names_of(leaves))
            if any(d.kind is Kind.PARAM for d in leaf.defs & traced.defs):
                return wrong(text, "kept from an earlier call", names_of(leaves))
            for made in leaf.defs or (_VARIABLES,):
                attribute = attribute_of(made, self._view)
                if attribute == name and len(made.path) > 2 and text_of(made.path) != text:
                    passed = any(d.kind is Kind.PARAM for d in traced.defs)
                    if passed and not leaf.variables:
                        return f"`{text}` was not computed from `{text_of(made.path)}`"
                for each in self._meant_by(attribute):
                    if (beside := self._beside(text, name, traced, each)) is not None:
                        return beside
                if attribute is None and made.kind is Kind.PARAM:
                    said = _given_by_a_call(leaf)
                    verdict = self._by_callers(
                        made, attribute=name, traced=traced, text=text, said=said
                    )
                    if verdict is not None:
                        return verdict
        variables = any(x.variables for x in leaves)
        unseen = traced.blind or ((traced.outside or traced.calls) and variables)
        for leaf in leaves if traced.values else ():
            for whole in holders(leaf, self._view):
                if any(path_of(v) is None or len(path_of(v) or ()) > 1 for v in traced.values):
                    return wrong(text, "computed in another method", f"`{leaf.watch}`")
                part = leaf.watch or ""
                verdict = self._by_callers(whole, text, None, name, traced, part=part)
                if verdict is not None:
                    return verdict
        if unseen and not self._is_module(name):
            return f"`{text}` was not computed from {names_of(leaves)}"
        return None

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
        if is_handed_in(project, tracer, view, attribute, traced) or (
            traced.values and tracer.is_set_by_text(view, attribute)
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
                    verdict = self._calls.at_all_calls(
                        inner, Asked(source, passed, linear=self._linear, computed=computed)
                    )
                    if isinstance(verdict, CallSite):
                        line = (
                            f"computed from the source by the caller in line {verdict.call.lineno}"
                        )
                        return wrong(text, line, shown)
                    if not verdict:
                        return f"`{text}` was not computed from {shown}"
        return None

    def _is_module(self, name: str) -> bool:
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
            )
        return name in called[view.cls]

    def _parameter(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        for leaf in leaves:
            name = root.path[0]
            runs = leaf.variables and root in passed_on(leaf, self._view)
            if runs and not is_no_function(self._project, self._view, name):
                return f"`{name}` runs its forward pass where it is called, not where it was made"
            if leaf.variables and is_fed_data(self._project, self._view, name):
                continue
            for whole in holders(leaf, self._view):
                verdict = self._by_callers(whole, name, name, part=leaf.watch or "")
                if verdict is not None:
                    return verdict
            for made in leaf.defs or (_VARIABLES,):
                verdict = self._by_callers(made, name, name, said=_given_by_a_call(leaf))
                if verdict is not None:
                    return verdict
        return None

    def _global(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        name, view = root.path[0], self._view
        text = text_of(root.path)
        if isinstance(view.scope, ast.Module):
            return None
        outer = outer_definitions(self._project, self._view, root.path)
        if outer is not None:
            return self._closure(text, *outer, leaves)
        traced = self._tracer.global_name(view, name)
        sources = {d.path[0] for x in leaves for d in x.defs if d.kind is Kind.ENTRY}
        module = self._project.view(view.unit, view.unit.tree)
        own = [d for d in module.flow.defs.values() if d.path[0] in sources]
        made = [d for d in module.flow.defs.values() if d.path == (name,)]
        beside = unpacked_beside(self._project, module, [*made, *traced.defs], own)
        if beside:
            return wrong(text, "computed at module level", f"`{name_of(leaves)}`")
        unpacked = frozenset(d for d in made if d.kind is Kind.ELEMENT)
        for source in [d for x in leaves for d in x.defs if unpacked and d.kind is Kind.PARAM]:
            verdict = self._by_callers(source, text, closure=unpacked)
            if verdict is not None:
                return verdict
        if not module.flow.given(name) and beside is not None:
            return None
        if self._is_rebound(name):
            return f"`{text}` was not computed from {names_of(leaves)}"
        if are_variables(self._project, view.unit, name):
            return None
        named = with_aliases(frozenset(own), module)
        if traced.globals & sources or any(d in named or d.path[0] in sources for d in traced.defs):
            return wrong(text, "computed at module level", f"`{name_of(leaves)}`")
        if traced.network and any(x.variables for x in leaves):
            return wrong(text, "computed at module level", "the variables")
        if traced.defs & perhaps(named, module):
            return f"`{text}` was not computed from {names_of(leaves)}"
        part = next((x for x in leaves if traced.defs and holders(x, view)), None)
        if part is not None:
            return wrong(text, "computed at module level", f"`{part.watch}`")
        for source in [d for x in leaves for d in x.defs if traced.defs and d.kind is Kind.PARAM]:
            verdict = self._by_callers(source, text, closure=frozenset(traced.defs))
            met = tensors_in(module, frozenset(traced.defs))
            if verdict is not None and (met or isinstance(verdict, Refusal)):
                return verdict
        if traced.network or traced.calls or traced.blind or beside is None:
            return f"`{text}` was not computed from {names_of(leaves)}"
        return None

    def _is_rebound(self, name: str) -> bool:
        """Whether functions of the file may give a module-level name another value."""
        for node in self._view.unit.parents:
            if isinstance(node, ast.Global) and name in node.names:
                return True
            if isinstance(node, ast.Name) and node.id == "globals":
                return True
            if isinstance(node, ast.Attribute) and node.attr == "modules":
                return True  # by the module itself: ``sys.modules[__name__]``
        return False

    def _closure(
        self, text: str, holder: View, made: list[Def], leaves: list[Leaf]
    ) -> str | Refusal | None:
        """A value that an enclosing function made, held against where that one made the source."""
        if {d.kind for d in made} <= {Kind.IMPORT, Kind.CLASS}:
            return None
        behind = backward([u for d in made for u in (Use(d), *d.uses)]).made
        # What a function is handed by TensorFlow is another tensor than what was handed in; only
        # the very same tensor would be seen twice where execution is eager.
        same = frozenset(made).union(
            *(origins(d.uses) for d in made if d.value is not None and path_of(d.value) is not None)
        )
        if is_set_inside(self._project, holder, made[0].path[0]):
            return f"`{text}` was not computed from {names_of(leaves)}"
        plain = all(d.value is not None and holder.kinds.make(d.value) in _PLAIN for d in made)
        if plain:
            return None
        for leaf in leaves:
            if leaf.variables:
                traced = Provenance()
                for each in made:
                    if each.value is not None:
                        traced.add(self._tracer.value(holder, each.value))
                if traced.network:
                    return wrong(text, "computed in the enclosing function", "the variables")
                continue
            for source in leaf.defs:
                defs = holder.flow.defs.values()
                mine = frozenset(d for d in defs if d.path == source.path[: len(d.path)])
                mine = with_aliases(mine, holder)
                if source.kind is Kind.ENTRY and source.path != made[0].path:
                    beside = given_beside(self._project, holder, behind, mine)
                    if mine & behind or beside:
                        return wrong(text, "computed in the enclosing function", names_of(leaves))
                    if beside is None:
                        return f"`{text}` was not computed from {names_of(leaves)}"
                    if perhaps(mine, holder) & behind:
                        return f"`{text}` was not computed from {names_of(leaves)}"
                if source.kind is Kind.PARAM:
                    verdict = self._by_callers(source, text, closure=frozenset(behind), same=same)
                    if verdict is not None:
                        return verdict
            for whole in holders(leaf, self._view):
                found = self._by_callers(
                    whole, text, closure=frozenset(behind), same=same, part=leaf.watch or ""
                )
                if found is not None:
                    return found
        return None

    # -- callers --------------------------------------------------------------------------------

    def _by_callers(
        self,
        source: Def,
        text: str,
        parameter: str | None = None,
        attribute: str | None = None,
        traced: Provenance | None = None,
        closure: frozenset[Def] | None = None,
        same: frozenset[Def] = frozenset(),
        part: str = "",
        said: str = "",
    ) -> str | Refusal | None:
        """Whether every caller passes a source from which the other value was not made.

        ``part``: the source is that part of the object that ``source`` is. ``said``: the name of
        the source in the sentence, where ``source`` is only what it may have been taken from.
        """
        plain = f"`{text}`, a parameter," if parameter else f"`{text}`"
        shown = text_of(source.path) if source.kind in (Kind.PARAM, Kind.ENTRY) else ""
        shown = part or shown
        sentence = f"{plain} was not computed from " + (
            f"`{said or shown}`" if shown else "the variables"
        )
        verdict = self._calls.at_all_calls(
            self._view,
            Asked(
                source, parameter, attribute, traced, closure, same, self._linear, part=bool(part)
            ),
        )
        if isinstance(verdict, CallSite):
            return wrong(
                text,
                f"computed from the source by the caller in line {verdict.call.lineno}",
                f"`{shown}`" if shown else "the variables",
                threads=parameter is not None,
            )
        return None if verdict else sentence


def _given_by_a_call(leaf: Leaf) -> str:
    """What the scope calls the source, if a call gave it that may hand back what it was handed."""
    return (leaf.watch or "") if leaf.found else ""


def _called_paths(scope: ast.AST) -> set[Path | None]:
    """What is called, of what stands in the scope: methods are code, and no tensors."""
    return {path_of(n.func) for n in walk(scope) if isinstance(n, ast.Call)}


def _is_size(step: str) -> bool:
    return step in _STATIC or any(word in step for word in ("shape", "size", "dim", "num_"))


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


def _called(unit: Unit) -> dict[ast.ClassDef, frozenset[str]]:
    return {}


def _is_below(root: Def, source: Def) -> bool:
    return root.path[: len(source.path)] == source.path

"""What the forward pass reads without being handed it: state that outlives calls, and attributes
that methods read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, looked_up, path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callers import has_plain_decorators
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.asked import attribute_of
from tapemigrate.rules.proof.callers.code_given import keeps_finding
from tapemigrate.rules.proof.kept.handed_later import may_be_tensors
from tapemigrate.rules.proof.kept.held import means_above, own_methods, reads_state
from tapemigrate.rules.proof.kept.kept_below import kept_below
from tapemigrate.rules.proof.kept.kept_results import KeptResults, method_of
from tapemigrate.rules.proof.kept.kept_results import above as above_of
from tapemigrate.rules.proof.kept.kept_values import KeptValues
from tapemigrate.rules.proof.objects.constructor_above import constructors_elsewhere
from tapemigrate.rules.proof.objects.read_above import read_above
from tapemigrate.rules.proof.objects.replacements import is_written_below, replacements
from tapemigrate.rules.proof.objects.steps import Steps
from tapemigrate.rules.proof.sources.new_sources import are_new_there
from tapemigrate.rules.proof.state.globals_read import given_late, read_outside
from tapemigrate.rules.proof.state.state_read import state_read
from tapemigrate.rules.proof.verdicts import names_of, wrong
from tapemigrate.rules.values.computed import Computed, makes_objects
from tapemigrate.rules.values.containers.list_signs import may_be_container
from tapemigrate.rules.values.objects.attributes import filled_by
from tapemigrate.rules.values.objects.captured import captured_functions
from tapemigrate.rules.values.objects.kept_functions import is_function_of_parts, parts_known
from tapemigrate.rules.values.objects.put_in import put_in_by_methods, put_in_by_others
from tapemigrate.rules.values.plain.class_constants import is_constant_of_object
from tapemigrate.rules.values.plain.counts import is_count_in
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.rules.values.variables.module_variables import are_variables
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import calls_in, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import INDEPENDENT, Make
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED, STATIC
from tapemigrate.tape.ops.syntax import SETTINGS, giving
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

# What tensors, layers and variables know of themselves without an op.
_STATIC = (".dtype", ".name", ".shape")


def stored_reads(project: Project, view: View, region: Region, leaves: list[Leaf]) -> list[str]:
    """What functions that are called in the region read that outlives their calls."""
    if are_new_there(view, region, leaves):
        return []
    run: list[ast.AST] = [*region.block.body[region.first : region.last + 1]]
    run.append(region.request.target)
    # What the region is handed by statements before it, they may have read there.
    sources = frozenset(d for leaf in leaves for d in leaf.defs)
    before = backward(view.flow.uses_in(region.request.target), sources).made - sources
    # What ran to make a source may be what put something aside.
    making = {d.stmt for d in sources}
    found = [d for d in before if d.kind is not Kind.MUTATE or d.stmt not in making]
    run += [d.value for d in found if d.value is not None and d.stmt not in run]
    run += own_methods(project, view, run)
    kept = _stored(project, view, run, region)
    for value in _kept_parts(project, view, run, sources):
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        made = (d.value for d in backward(inner.flow.uses_in(value)).made)
        kept |= _stored(project, inner, [value, *(v for v in made if v is not None)])
    # A variable's value may change, but no gradient goes through what was assigned to it.
    names = [name for name in sorted(kept) if not are_variables(project, view.unit, name)]
    for above in constructors_elsewhere(project, view, run):
        inner = project.view(above.unit, above.method)
        more = _stored(project, inner, [above.method, *own_methods(project, inner, [above.method])])
        names += [n for n in sorted(more) if not are_variables(project, above.unit, n)]
    names = [name for name in dict.fromkeys(names) if not name.endswith(_STATIC)]
    return [said for name in names if (said := _said(name, leaves))]


def _said(name: str, leaves: list[Leaf]) -> str:
    """What is assumed of what has the name; nothing of a source itself, which is watched."""
    others = [x for x in leaves if x.watch != name]
    if any((x.watch or "").startswith((f"{name}.", f"{name}[")) for x in others):
        return f"no other part of `{name}` was computed from {names_of(others)}"
    return f"`{name}` holds nothing that was computed from {names_of(others)}" if others else ""


def _kept_parts(
    project: Project, view: View, run: Sequence[ast.AST], sources: frozenset[Def]
) -> Iterator[ast.expr]:
    """What other methods of the object gave the attributes that ``run`` reads, sources left out."""
    me = view.kinds.self_name
    nodes = (n for root in run for n in walk(root) if isinstance(n, ast.Attribute))
    names = {n.attr for n in nodes if path_of(n.value) == (me,) and isinstance(n.ctx, ast.Load)}
    names -= {d.path[1].lstrip(".") for d in sources if len(d.path) > 1 and d.path[0] == me}
    for name in sorted(names):
        for value in attribute_values(project, view, name):
            if project.scope_of(view.unit, value) is not view.scope:
                yield value


def _stored(
    project: Project, view: View, run: Sequence[ast.AST], region: Region | None = None
) -> set[str]:
    """The same but for what the scope itself puts there, and not only after ``region`` read it."""
    kept = state_read(project, view, run)
    if not kept or isinstance(view.scope, ast.Module):
        return kept
    # What a function gives a value itself is followed from there.
    made = [d.path for d in view.flow.defs.values() if d.kind is Kind.ASSIGN]
    own = {path[0] for path in made if len(path) == 1}.union(map(text_of, made))
    own &= kept
    if own and region is not None:
        own -= given_late(region, view)
        own -= read_outside(project, region, view)
    return kept - own


_GIVEN = (Kind.PARAM, Kind.ENTRY)
_COLLECTED = frozenset({Make.VARIABLES, Make.ANY_VARIABLES})


class HiddenReads:
    """What the methods that a scope calls read of their object.

    ``kept`` judges what is kept as an attribute.
    """

    def __init__(
        self,
        project: Project,
        tracer: Tracer,
        view: View,
        kept: KeptValues,
        steps: Steps | None,
    ) -> None:
        self._project = project
        self._tracer = tracer
        self._view = view
        self._kept = kept
        self._steps = steps
        self._results = KeptResults(project, tracer)

    def of(
        self,
        region: Region,
        leaves: list[Leaf],
        recorded: frozenset[Path],
        run: Sequence[ast.AST] = (),
    ) -> list[str | Refusal]:
        """The same for what methods of the class read, those that ``run`` calls included."""
        view = self._view
        found: list[str | Refusal] = []
        if view.cls is None:
            return found
        body: list[ast.AST] = [*region.block.body[region.first : region.last + 1], *run]
        body += [*captured_functions(region, view), region.request.target]
        nodes = [n for s in body for n in walk(s)]
        called = {n.func for n in nodes if isinstance(n, ast.Call)}
        for node in nodes:
            used = node.func if isinstance(node, ast.Call) else node
            if used is not node and path_of(used) == (view.kinds.self_name,):
                if (itself := self._own_call()) is not None:
                    found += self._read_by(region, node, itself.name, leaves)
                    found += self._read_below(region, itself.name, leaves)
                continue
            if not isinstance(used, ast.Attribute) or not isinstance(used.ctx, ast.Load):
                continue
            if isinstance(node, ast.Call) and means_above(view, used):
                found += self._read_above(region, used, leaves)
                found += self._read_elsewhere(region, node, leaves)
            if path_of(used.value) != (view.kinds.self_name,) or path_of(used) in recorded:
                continue
            method = self._project.effects(view.unit).method(view.cls, used.attr)
            if not isinstance(node, ast.Call) and method is None:
                # What is called elsewhere runs here as well, by whom it is handed to.
                if node not in called and self._kept.is_module(used.attr):
                    found += self._held_function(region, used.attr, leaves)
                continue
            asked = not isinstance(node, ast.Call) and node in called  # its call is asked about
            if asked and method is not None and has_plain_decorators(method):
                continue
            if method is None:
                found += self._held_function(region, used.attr, leaves)
                values = attribute_values(self._project, view, used.attr)
                if any(isinstance(value, ast.Lambda) for value in values):
                    found += self._read_by(region, node, used.attr, leaves)
            elif (
                view.kinds.effects.remembers(method)
                if isinstance(node, ast.Call)
                else not (_is_property(method) or has_plain_decorators(method))
            ):
                found += self._remembered(used.attr, leaves)
            else:
                found += self._read_by(region, node, used.attr, leaves)
                found += self._read_below(region, used.attr, leaves)
        return found

    def _read_above(
        self, region: Region, used: ast.Attribute, leaves: list[Leaf]
    ) -> list[str | Refusal]:
        """The same for what a method of a class above reads: ``super().build(x)``."""
        cls, effects = self._view.cls, self._project.effects(self._view.unit)
        assert cls is not None
        above = effects.methods_above(cls, used.attr)
        if above and effects.method(cls, used.attr) is above[0]:
            return self._read_by(region, used, used.attr, leaves)
        scope = self._view.scope
        first = isinstance(scope, NamedFunction) and scope.name == used.attr == "__init__"
        if first or not (above or effects.touched.is_unseen_above(cls)):
            return []  # the object has nothing yet but what is set here; or it is a library's
        found: list[str | Refusal] = []
        if above:
            base = self._project.view(self._view.unit, above[0])
            found += self._read_by(region, used, used.attr, leaves, base)
        what = ast.unparse(used)
        # The class itself has another method of that name, or of those that it calls.
        return [*found, f"`{what}` reads nothing that was computed from {names_of(leaves)}"]

    def _read_elsewhere(
        self, region: Region, call: ast.Call, leaves: list[Leaf]
    ) -> list[str | Refusal]:
        """The same for constructors of other files: what is no part of the object itself yet."""
        found: list[str | Refusal] = []
        for above in constructors_elsewhere(self._project, self._view, [call]):
            me = above.method.args.args[0].arg
            nodes = (n for n in walk(above.method) if isinstance(n, ast.Attribute))
            read = {
                n.attr for n in nodes if isinstance(n.ctx, ast.Load) and path_of(n.value) == (me,)
            }
            there = {n for n in read if self._is_set_before(region, call, n) or self._is_method(n)}
            found += self._kept_above(frozenset(read - there), leaves)
        return found

    def _is_method(self, name: str) -> bool:
        """Whether a class above, in whatever file, has a method of that name."""
        view = self._view
        assert view.cls is not None
        method = method_of([*above_of(self._project, view.unit, view.cls)], name)[1]
        return method is not None and not method.decorator_list

    def only_calls(self, region: Region) -> bool:
        """Whether all that the region does with the object as a whole is to call it, as seen."""
        name, unit = self._view.kinds.self_name, self._view.unit
        if self._view.cls is None or self._own_call() is None:
            return False
        body = [*region.block.body[region.first : region.last + 1], region.request.target]
        nodes = (n for s in body for n in walk(s) if isinstance(n, ast.Name) and n.id == name)
        above = ((n, unit.parents.get(n)) for n in nodes)
        return all(
            isinstance(over, ast.Attribute) or (isinstance(over, ast.Call) and over.func is n)
            for n, over in above
        )

    def _own_method(self, call: ast.Call) -> str | None:
        """The method of the object that is called: ``self.part("x")``, ``self("x")``."""
        path = path_of(call.func)
        if path == (self._view.kinds.self_name,):
            itself = self._own_call()
            return itself.name if itself is not None else None
        own = path is not None and len(path) == 2 and path[0] == self._view.kinds.self_name
        return path[1].lstrip(".") if path is not None and own else None

    def _own_call(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The method that runs where the object is called: Keras, for one, calls ``call``."""
        assert self._view.cls is not None
        effects = self._project.effects(self._view.unit)
        methods = (effects.method(self._view.cls, name) for name in RUN_WHEN_CALLED)
        return next((m for m in methods if m is not None), None)

    def _read_below(self, region: Region, name: str, leaves: list[Leaf]) -> list[str | Refusal]:
        """What else may run in place of the method, on objects of subclasses or on some."""
        if any(x.variables for x in leaves):
            kept = kept_below(self._project, self._results, self._view, region, name)
            if kept is not None:
                text = f"self.{kept[0]}` of `{kept[1]}"
                return [wrong(text, "computed in another method", "the variables")]
        found = replacements(self._project, self._tracer, self._view, name)
        return [f"{each} reads nothing that was computed from {names_of(leaves)}" for each in found]

    def _remembered(self, name: str, leaves: list[Leaf]) -> list[str | Refusal]:
        """A property that is computed once, perhaps before: ``@lazy_property``."""
        traced = self._tracer.method(self._view, name)
        if any(x.variables for x in leaves):
            return [wrong(f"self.{name}", "computed when it was first asked for", "the variables")]
        attributes = {attribute_of(d, self._view) for x in leaves for d in x.defs}
        if attributes & traced.attributes:
            shown = names_of(leaves)
            return [wrong(f"self.{name}", "computed when it was first asked for", shown)]
        return [f"`self.{name}` was not computed from {names_of(leaves)}"]

    def _is_named(self, leaf: Leaf, attribute: str) -> bool:
        """Whether a source that has a name of its own is that part of the object."""
        return any(attribute_of(d, self._view) == attribute for d in leaf.defs)

    def _read_by(
        self,
        region: Region,
        where: ast.AST,
        name: str,
        leaves: list[Leaf],
        base: View | None = None,
    ) -> list[str | Refusal]:
        """What a method of the class, or of ``base``, reads that is not passed to it.

        It runs at ``where``.
        """
        found: list[str | Refusal] = []
        assert self._view.cls is not None
        traced = self._tracer.method(base or self._view, name)
        variables = any(x.variables for x in leaves)
        sentence = f"`self.{name}` reads nothing that was computed from {names_of(leaves)}"
        # What was found may be what was passed in, or is kept, and no variable.
        passed = any(d.kind in _GIVEN for x in leaves if x.found for d in x.defs)
        itself = [x for x in leaves if x.found]
        called = self._called_by(name)
        if functions := {each for each in called if self._holds_function_of(each)}:
            found.append(sentence)
        # An object that is called may have been made of the source, as one that is called here.
        for each in sorted(called - functions):
            found += self._held_function(region, each, leaves)
        looked_up_there = self._looked_up_by(name) - traced.attributes
        filled = {each for method in self._run_by(name) for each in filled_by(method)}
        for attribute in sorted(traced.attributes | looked_up_there):
            if self._kept.is_module(attribute) or self._is_set_before(region, where, attribute):
                continue
            named = [x for x in itself if self._is_named(x, attribute)]
            if named:  # the source, which a method gives
                found += [] if all(_is_watched(x, where) for x in named) else [sentence]
                continue
            if is_constant_of_object(self._project, self._view, attribute):
                continue
            asked = self._project.effects(self._view.unit).method(self._view.cls, attribute)
            if asked is not None and _is_property(asked):
                continue  # it runs there, and what it reads is among these
            if self._steps is not None and self._steps.settle(attribute):
                continue
            if is_count_in(self._project, self._view, name, attribute):
                continue
            inner = self._tracer.attribute(self._view, attribute)
            unmade = not inner.attributes and not inner.blind and not inner.network
            unmade = unmade and not inner.foreign
            looked_up = [x for x in leaves if self._comes_out_of(x, attribute, where)]
            if looked_up:
                shown = " or ".join(f"`{x.watch}`" for x in looked_up)
                found.append(f"no other part of `self.{attribute}` was computed from {shown}")
                continue
            held = leaves
            if variables and not passed and unmade and not self._is_handed(inner):
                # Who makes an object has no variables of its yet, but others of the graph.
                object_ = self._is_object(attribute)
                older = [x for x in leaves if not object_ and self._are_of_graph(x)]
                held = [x for x in leaves if not x.variables or x in older]
                if not held:
                    continue
            verdict = self._kept.judge(f"self.{attribute}", attribute, inner, held, entered=True)
            if isinstance(verdict, Refusal) and self._steps is not None:
                verdict = self._steps.left_over(attribute) or verdict
            there = attribute in filled or not self._is_computed(attribute)
            if isinstance(verdict, Refusal) and variables and there:
                verdict = sentence
            if verdict:
                found.append(sentence if attribute in looked_up_there else verdict)
        if traced.blind and not traced.attributes:
            found.append(sentence)
        return found

    def _is_object(self, attribute: str) -> bool:
        """Whether methods take parts of it, or call it, by a name of theirs: ``net = self.net``.

        Or it holds settings by its name.
        """
        if attribute in SETTINGS:
            return True
        cls, me = self._view.cls, self._view.kinds.self_name
        assert cls is not None
        for each in self._view.kinds.effects.lineage(cls):
            for method in (s for s in each.body if isinstance(s, NamedFunction)):
                pairs = [pair for node in walk(method) for pair in each_given(node)]
                own = (to for to, value in pairs if path_of(value) == (me, f".{attribute}"))
                names = {path for to in own if (path := path_of(to)) is not None}
                for node in walk(method) if names else ():
                    used = node.func if isinstance(node, ast.Call) else node
                    if used is not node and path_of(used) in names:
                        return True
                    if isinstance(used, ast.Attribute) and f".{used.attr}" not in STATIC:
                        if path_of(used.value) in names:
                            return True
        return False

    def _are_of_graph(self, leaf: Leaf) -> bool:
        """Whether variables are not of the object alone: those of the graph, or of the module."""
        view = self._view
        for made in leaf.defs:
            name = attribute_of(made, view)
            if name is None and made.kind in _GIVEN:
                return True
            kept = attribute_values(self._project, view, name) if name is not None else []
            values = kept if made.value is None else [made.value]
            makes = {view.kinds.make(call) for value in values for call in calls_in(value)}
            if not makes.isdisjoint(_COLLECTED):
                return True
        return not leaf.defs

    def _comes_out_of(self, leaf: Leaf, attribute: str, where: ast.AST) -> bool:
        """Whether a method may have looked up the source in the list or dict ``self.attribute``.

        Not where it runs for the source itself.
        """
        project, view = self._project, self._view
        for made in leaf.defs:
            call = giving(made.value)
            name = self._own_method(call) if isinstance(call, ast.Call) else None
            if name is None or call is where or not isinstance(call, ast.Call):
                continue
            if view.kinds.is_new(call) or view.kinds.gives_tensors(call):
                continue
            if attribute in self._tracer.method(view, name).attributes:
                values = attribute_values(project, view, attribute)
                scopes = ((project.scope_of(view.unit, value), value) for value in values)
                return any(
                    may_be_container(project, project.view(view.unit, scope), value)
                    for scope, value in scopes
                )
        return False

    def _is_handed(self, kept: Provenance) -> bool:
        """Whether a method keeps what it was handed, and that may be made of variables."""
        return may_be_tensors(self._project, self._view, kept.defs)

    def _called_by(self, name: str) -> set[str]:
        """The attributes that hold what a method calls, or the methods that it calls in turn."""
        effects, cls = self._view.kinds.effects, self._view.cls
        assert cls is not None
        called = {each for method in self._run_by(name) for each in self._calls_own(method)}
        return {each for each in called if effects.method(cls, each) is None}

    def _run_by(self, name: str) -> list[NamedFunction]:
        """A method, and those that it calls, or that these call in turn."""
        assert self._view.cls is not None
        found: list[NamedFunction] = []
        seen, pending = {name}, [name]
        while pending:
            method = self._view.kinds.effects.method(self._view.cls, pending.pop())
            if method is not None:
                found.append(method)
                new = self._calls_own(method) - seen
                seen |= new
                pending += sorted(new)
        return found

    def _calls_own(self, method: NamedFunction) -> set[str]:
        """What a method calls of its object: ``self.net(x)``, ``getattr(self, "net")(x)``."""
        named = {
            target.id: path_of(value)
            for node in walk(method)
            for target, value in each_given(node)
            if isinstance(target, ast.Name)
        }
        called = (looked_up(call.func) or call.func for call in calls_in(method))
        # ``net = self.net``, and ``net(x)``
        paths = (named.get(f.id) if isinstance(f, ast.Name) else path_of(f) for f in called)
        me = self._view.kinds.self_name
        return {p[1].lstrip(".") for p in paths if p is not None and len(p) == 2 and p[0] == me}

    def _looked_up_by(self, name: str) -> set[str]:
        """All that the class sets, if the method may look up any of it: ``getattr(self, name)``."""
        cls, me = self._view.cls, self._view.kinds.self_name
        assert cls is not None
        asks = (
            call.func.id == "getattr" and path_of(call.args[0]) == (me,)
            for method in self._run_by(name)
            for call in calls_in(method)
            if isinstance(call.func, ast.Name) and call.args and looked_up(call) is None
        )
        if not any(asks):
            return set()
        nodes = (n for each in self._view.kinds.effects.lineage(cls) for n in walk(each))
        own = (n for n in nodes if isinstance(n, ast.Attribute) and path_of(n.value) == (me,))
        return {n.attr for n in own if isinstance(n.ctx, ast.Store)}

    def _holds_function_of(self, attribute: str) -> bool:
        """Whether ``self.attribute`` is a function that reads what an op made before.

        Or other code gives it another one.
        """
        foreign = self._tracer.attribute(self._view, attribute).foreign
        return foreign or self._is_made_of_computed(attribute)

    def _is_made_of_computed(self, attribute: str) -> bool:
        """Whether ``self.attribute`` is a function that was handed, or reads, what an op made."""
        unit, computed = self._view.unit, self._project.once(Computed)
        values = attribute_values(self._project, self._view, attribute)
        return any(not makes_objects(v) and computed.may_be(unit, v) for v in values)

    def _is_computed(self, attribute: str) -> bool:
        """Whether ``self.attribute`` is the result of an op on the result of a network."""
        values = attribute_values(self._project, self._view, attribute)
        made = any(self._view.kinds.make(v) is Make.TENSOR for v in values)
        return made or self._results.keeps(self._view, attribute)

    def _is_set_before(self, region: Region, where: ast.AST, attribute: str) -> bool:
        """Whether the function itself gives ``self.attribute`` its value before ``where``.

        What it gives it later is there only if the function runs once more, and may then be made
        of the source by another tape.
        """
        block, parents = region.block.body, self._view.unit.parents
        above: ast.AST | None = where
        while above is not None and above not in block:
            above = parents.get(above)
        body = block[: region.first if above is None else block.index(above)]
        return any(
            d.path == (self._view.kinds.self_name, f".{attribute}")
            and d.kind is Kind.ASSIGN
            and d.stmt in body
            for d in self._view.flow.defs.values()
        )

    def _held_function(self, region: Region, name: str, leaves: list[Leaf]) -> list[str | Refusal]:
        """What is called of ``self`` and is no method of the class: one of subclasses, or kept."""
        values = attribute_values(self._project, self._view, name)
        if not values and is_written_below(self._project, self._view, name):
            return [*self._read_below(region, name, leaves)]
        if not values and not any(x.variables for x in leaves):
            read = read_above(self._project, self._view, name)
            if read is not None:
                return self._kept_above(read, leaves)
        verdict = self._kept_function(name, values, leaves)
        return [verdict] if verdict is not None else []

    def _kept_above(self, read: frozenset[str], leaves: list[Leaf]) -> list[str | Refusal]:
        """What is known of attributes that a method of another file reads."""
        found: list[str | Refusal] = []
        for name in sorted(read):
            if self._steps is not None and self._steps.settle(name):
                continue
            traced = self._tracer.attribute(self._view, name)
            verdict = self._kept.judge(f"self.{name}", name, traced, leaves)
            if verdict is not None:
                found.append(verdict)
        return found

    def _kept_function(
        self, name: str, values: Sequence[ast.expr], leaves: list[Leaf]
    ) -> str | Refusal | None:
        """A function or an object kept on ``self`` that is called: what it was made of counts."""
        if not values and any(x.variables for x in leaves):
            kept = self._results.inherited(self._view, name)
            if kept:
                return wrong(f"self.{kept}", "computed in another method", "the variables")
        if not values or reads_state(self._project, self._view, name):
            return f"`self.{name}` reads nothing that was computed from {names_of(leaves)}"
        if any(x.variables for x in leaves):
            called = (self._view.kinds.self_name or "", f".{name}", ".__call__")
            if self._results.gives_kept(self._view, called):
                return wrong(f"self.{name}", "computed where its object was made", "the variables")
            more = self._is_handed_more(name) or self._is_made_of_computed(name)
            if more or keeps_finding(self._project, self._view, name):
                return f"`self.{name}` holds nothing that was computed from {names_of(leaves)}"
            return None
        return self._kept.judge(
            f"self.{name}", name, self._tracer.attribute(self._view, name), leaves
        )

    def _is_handed_more(self, name: str) -> bool:
        """Whether what may be a tensor is put into a function that ``self.name`` holds.

        Or into what that was made with: ``self.f = partial(net, state=self.state)``.
        """
        view, parts = self._view, set[str]()
        for value in attribute_values(self._project, view, name):
            if is_function_of_parts(value):
                inner = self._project.view(view.unit, self._project.scope_of(view.unit, value))
                parts |= {name, *parts_known(inner, value)}
        return any(
            at.kinds.make(value) not in INDEPENDENT
            for each in sorted(parts)
            for put in (put_in_by_methods, put_in_by_others)
            for at, value in put(self._project, view, each)
        )


def _is_property(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the property runs anew each time that it is asked for."""
    return all(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list)


def _is_watched(leaf: Leaf, where: ast.AST) -> bool:
    """Whether what runs at ``where`` gives the source its name, or comes after that."""
    given = [d for d in leaf.defs if d.value is not None and d.stmt is not None]
    return bool(given) and all(
        (d.value is not None and any(where is node for node in walk(d.value)))
        or (d.stmt is not None and isinstance(where, ast.expr) and end(d.stmt) <= begin(where))
        for d in given
    )

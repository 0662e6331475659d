"""Where the values that a class keeps on ``self``, or a caller passes, come from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tapemigrate.flow.components import components
from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.functions import Function, NamedFunction, free_names
from tapemigrate.flow.paths import is_super, looked_up, names_class, path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.assigned import (
    attribute_values,
    given_in_body,
    global_values,
    waits,
)
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.descriptors import is_descriptor
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.imported import import_paths, leads_to
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View, self_name
from tapemigrate.rules.unseen.found import found_in_graph
from tapemigrate.rules.values.computed_state import may_be_computed_state
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.imported_functions import imported_functions
from tapemigrate.rules.values.objects.asking_views import AskingViews
from tapemigrate.rules.values.objects.attributes import (
    contents,
    inherited_values,
    set_below,
)
from tapemigrate.rules.values.objects.kept_functions import is_function_of_parts, parts_known
from tapemigrate.rules.values.objects.operators import is_operator, is_whole, operators
from tapemigrate.rules.values.objects.put_by_calls import (
    Put,
    put_by,
    put_in_attribute,
    put_in_name,
)
from tapemigrate.rules.values.objects.put_in import (
    put_in_by_another_name,
    put_in_by_methods,
    put_in_by_others,
)
from tapemigrate.rules.values.objects.whole_objects import read_of_whole
from tapemigrate.rules.values.traces import Key, Provenance, Steps, Traced
from tapemigrate.rules.values.variables.filled_below import filled_below, given_below
from tapemigrate.rules.values.variables.variable_values import (
    PLAIN,
    VARIABLE,
    is_set_by_text,
    is_variable,
    parts,
    root_of,
)
from tapemigrate.rules.values.variables.variables_named import names_variables
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.operands import Operands
from tapemigrate.tape.ops.plain_calls import makes_none
from tapemigrate.tape.ops.symbols import short

# What of ``tf.contrib`` makes no variables.
_NO_NETWORKS = (
    "nest.",
    "contrib.data.",
    "contrib.framework.is_tensor",
    "contrib.framework.nest.",
    "contrib.image.",
    "contrib.lookup.",
    "contrib.signal.",
    "contrib.staging.",
    "contrib.summary.",
    "contrib.training.HParams",
)
# Methods that texts alone have: ``parser.register("type", "bool", lambda v: v.lower() == "true")``.
_OF_TEXTS = frozenset({"lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith"})
_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert)


class Tracer:
    """Traces values through one class and one file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        # What each tells to those that are traced through it, and what it tells itself.
        self._seen: dict[Key, Provenance] = {}
        self._traced: dict[Key, Provenance] = {}
        # What stands in a place does not change while others are worked out.
        self._places: dict[Key, Steps] = {}
        self._values: dict[tuple[View, ast.expr], Steps] = {}
        self._globals: dict[tuple[ast.Module, str], Steps] = {}
        self._asking = AskingViews(project)
        self._behind: dict[tuple[ast.AST, ast.expr], frozenset[Def]] = {}
        self._looking: set[int] = set()

    def value(self, view: View, node: ast.expr) -> Provenance:
        """Where the value of ``node``, an expression of the scope of ``view``, comes from."""
        return self._followed(self._steps_of(view, node))

    def _steps_of(self, view: View, node: ast.expr) -> Steps:
        steps = self._values.get((view, node))
        if steps is None:
            steps = self._values[view, node] = Steps()
            made = self._behind_puts(view, node, steps)
            steps.own.defs |= made
            for each in made:
                self._definition(view, each, steps)
            values = [node, *(d.value for d in made if d.value is not None)]
            changes = {d.value for d in made if d.kind is Kind.MUTATE}
            self._calls(view, (v for v in values if v not in changes), steps)
            self._calls(view, (v for v in values if v in changes), steps, change=True)
            self._read_of_whole(view, (n for value in values for n in walk(value)), steps)
            steps.own.blind |= found_in_graph(self._project, view.unit, values)
        return steps

    def _read_of_whole(self, view: View, nodes: Iterable[ast.AST], steps: Steps) -> None:
        whole = read_of_whole(view, nodes)
        steps.own.blind |= whole.unseen
        for name, called in whole.parts:
            self._look_up(Traced.METHOD if called else Traced.ATTRIBUTE, view, name, steps)
            steps.own.attributes |= set() if called else {name}

    def _followed(self, steps: Steps) -> Provenance:
        found = Provenance(parameters=set(steps.own.parameters))
        found.add(replace(steps.own, parameters=set()))
        self._follow(steps.further)
        found.add_all(self._seen[key] for key in steps.further)
        return found

    def _follow(self, keys: Iterable[Key]) -> None:
        """Works out what all that ``keys`` lead to tells.

        What leads to each other tells the same, so that it is put together once. Only what a method
        reads, where it is a value, shows as it goes: from there on, it leads to that as well.
        """
        wanted = [key for key in keys if key not in self._seen]
        values: dict[Key, Steps] = {}

        def steps(key: Key) -> Steps:
            if key in values:
                return values[key]
            if self._is_method_as_value(key):
                values[key] = self._as_value(key)
                return values[key]
            if key not in self._places:
                self._places[key] = self._steps_at(*key)
            return self._places[key]

        while wanted:
            found: dict[Key, Provenance] = {}
            called = (self._called(key) for key in [*values])
            for part in components([*wanted, *called], lambda k: steps(k).further, self._seen):
                told = Provenance()
                told.add_all(steps(key).own for key in part)
                inside = set(part)
                ahead = (k for key in part for k in steps(key).further if k not in inside)
                told.add_all(found[k] if k in found else self._seen[k] for k in ahead)
                found |= dict.fromkeys(part, told)
            more = [self._grows(key, each, found) for key, each in values.items()]
            if not any(more):
                self._seen |= found
                return

    def _grows(self, key: Key, steps: Steps, found: Mapping[Key, Provenance]) -> bool:
        """Takes in what a method reads that is a value; whether that is more than before."""
        called = self._called(key)
        own = found.get(called) or self._seen.get(called)
        if own is None:
            return True  # not asked for yet
        new = own.attributes - steps.own.attributes
        steps.own.attributes |= new
        for each in sorted(new):
            asking = self._asking.of(key[1], each, method=False)
            steps.further[Traced.ATTRIBUTE, asking, each] = None
        return bool(new)

    def _behind_puts(self, view: View, node: ast.expr, steps: Steps) -> frozenset[Def]:
        """All behind a value but for calls of which it is seen what they put in, if anything."""
        made = self.behind(view, node)
        idle = frozenset(d for d in made if self._is_shown(view, d, steps))
        if not idle:
            return made
        rest = backward((Use(d) for d in self._first(view, node)), passed=idle).made
        return (made & rest) - idle

    def _first(self, view: View, node: ast.expr) -> Iterator[Def]:
        for path in Operands(view.kinds).paths(node):
            yield from (use.made for use in view.flow.uses_in(path))

    def _is_shown(self, view: View, made: Def, steps: Steps) -> bool:
        """Whether all is seen that the call at ``made`` puts in; takes in what that is made of."""
        put = put_by(self._project, view, made)
        return put is not None and self._is_taken(put, steps)

    def _is_taken(self, put: Put, steps: Steps) -> bool:
        """Takes in what calls put in; whether that is all."""
        if not put.unseen and not put.values:
            return True
        if id(put) in self._looking:
            return False
        self._looking.add(id(put))
        found = [self._steps_of(at, value) for at, value in put.values]
        self._looking.discard(id(put))
        for each in found:
            steps.take(each)
        # What the caller of somebody else passes is not followed.
        unseen = put.unseen or any(each.own.parameters for each in found)
        steps.own.calls |= unseen
        steps.own.filled |= unseen
        return not unseen

    def _handed_to_objects(self, put: Put, steps: Steps) -> None:
        steps.own.filled |= put.unseen or any(at.kinds.make(v) not in PLAIN for at, v in put.values)

    def _is_of_texts(self, name: str) -> bool:
        """Whether texts alone have a method of that name, and no class at hand."""
        return name in _OF_TEXTS and not any(
            self._project.effects(unit).functions(name)
            for unit in self._project.units.defining(name)
        )

    def put_in(self, put: Put) -> Provenance:
        """What comes into a list or dict by what calls put in."""
        steps = Steps()
        self._is_taken(put, steps)
        return self._followed(steps)

    def behind(self, view: View, node: ast.expr) -> frozenset[Def]:
        """All definitions of which a gradient could flow into the value of ``node``."""
        key = (view.scope, node)
        if key not in self._behind:
            self._behind[key] = _behind(view, node)
        return self._behind[key]

    def _definition(self, view: View, made: Def, steps: Steps) -> None:
        if made.kind is Kind.PARAM:
            if made.path[0] != view.kinds.self_name:
                steps.own.parameters.add(made.path[0])
        elif made.kind is Kind.ENTRY:
            if made.path[0] == view.kinds.self_name and len(made.path) > 1:
                self._look_up(Traced.ATTRIBUTE, view, made.path[1].lstrip("."), steps)
                steps.own.attributes.add(made.path[1].lstrip("."))
            elif len(made.path) == 1 and made.path[0] not in (
                view.kinds.self_name,
                HIDDEN[0],
            ):
                steps.own.globals.add(made.path[0])
                around = self._around(view, made, steps)
                steps.own.network |= not around and self._is_variable(view, made.path[0])
        elif made.kind is Kind.EXCEPT:
            steps.own.blind = True  # whatever it was raised with
        elif made.kind is Kind.FUNCTION:
            node = made.value if made.value is not None else made.stmt
            if isinstance(node, Function) and view.cls is not None:
                inner = self._project.view(view.unit, node)
                steps.further[Traced.FUNCTION, inner, ""] = None
        elif made.value is not None and view.kinds.make(made.value) in VARIABLE:
            steps.own.network = True

    def _is_variable(self, view: View, name: str) -> bool:
        return names_variables(self._project, view.unit, name)

    def _are_variables(self, view: View, value: ast.expr) -> bool:
        """Whether it is nothing but variables of the module, by their names."""
        names = [part.id if isinstance(part, ast.Name) else "" for part in parts(value)]
        own = view.flow.own_names
        return bool(names) and all(n not in own and self._is_variable(view, n) for n in names)

    def _around(self, view: View, made: Def, steps: Steps) -> bool:
        """What a function around made the value of, for an inner one; whether one did."""
        found = outer_definitions(self._project, view, made.path)
        if found is None:
            return False
        holder, given = found
        behind = backward(Use(d) for d in given if d.kind is not Kind.FUNCTION).made
        steps.own.defs |= behind
        for each in behind:
            self._definition(holder, each, steps)
        self._calls(holder, (d.value for d in behind if d.value is not None), steps)
        return True

    def _calls(
        self, view: View, nodes: Iterable[ast.AST], steps: Steps, change: bool = False
    ) -> None:
        """``change``: they only change what is read, as ``super().build()`` does."""
        for root in nodes:
            for node in walk(root):
                if isinstance(node, ast.Call):
                    self._call(view, node, steps, change)
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
                    if is_super(node.value) and view.cls is not None and not change:
                        self._above(view, node.attr, steps)
                    # ``Holder().net``: what an object made while it was made itself.
                    steps.own.calls |= view.kinds.makes_object(node.value)

    def _call(self, view: View, call: ast.Call, steps: Steps, change: bool = False) -> None:
        name = view.kinds.name(call.func)
        if view.kinds.make(call) in VARIABLE:
            steps.own.network = True
            return
        if name is not None:
            if (
                ".layers." in name
                or ".keras." in name
                or (".contrib." in name and not (short(name) or "").startswith(_NO_NETWORKS))
                or "get_variable" in name
            ):
                steps.own.network = True
            elif not name.startswith("tensorflow"):
                calls = not makes_none(name, call) and not self._is_class(view, name)
                steps.own.calls |= calls
                self._imported(view, call.func, steps) if calls else None
            return
        if view.kinds.make(call) is not Make.UNKNOWN:
            return
        func = call.func
        owner = path_of(func.value) if isinstance(func, ast.Attribute) else None
        root = root_of(func)
        if root is not None and self._is_plain_object(view, root):
            return
        if isinstance(func, ast.Attribute) and _is_of_plain_library(view, func.value):
            return
        if isinstance(func, ast.Attribute) and self._is_of_texts(func.attr):
            return
        if isinstance(func, ast.Attribute) and owner == (view.kinds.self_name,) and view.cls:
            self._look_up(Traced.METHOD, view, func.attr, steps)
        elif isinstance(func, ast.Attribute) and is_super(func.value) and not change and view.cls:
            return  # told where what is called is read
        elif isinstance(func, ast.Name) and names_class(func.id):
            return
        elif isinstance(func, ast.Name) and self._project.effects(view.unit).functions(func.id):
            for function in self._project.effects(view.unit).functions(func.id):
                inner = self._project.view(view.unit, function)
                steps.further[Traced.FUNCTION, inner, ""] = None
        else:
            steps.own.calls = True
            self._imported(view, func, steps)

    def _above(self, view: View, name: str, steps: Steps) -> None:
        """What ``super().name(…)`` reads of the object."""
        assert view.cls is not None
        found = self._project.effects(view.unit).methods_above(view.cls, name)
        for method in found:
            self._run(view, method, steps)
        known = classes(self._project)
        elsewhere = [
            self._project.view(unit, stmt)
            for each in sorted(known.above(view.cls.name))
            for unit, cls in known.named(each)
            if unit is not view.unit
            for stmt in cls.body
            if isinstance(stmt, NamedFunction) and stmt.name == name
        ]
        for inner in elsewhere:
            nodes = walk(inner.scope)
            self._read(view, inner.kinds.self_name, nodes, steps, inner.unit)
        steps.own.calls |= not found

    def _imported(self, view: View, func: ast.expr, steps: Steps) -> None:
        """Whether what is called in another file makes variables, ``fc`` of the user's layers."""
        for inner in imported_functions(self._project, view, func):
            steps.further[Traced.FUNCTION, inner, ""] = None

    def _look_up(self, what: Traced, view: View, name: str, steps: Steps) -> None:
        if view.cls is None:
            steps.own.blind = True
        else:
            asking = self._asking.of(view, name, what is Traced.METHOD)
            steps.further[what, asking, name] = None

    def _is_class(self, view: View, path: str) -> bool:
        """Whether a path leads to a class at hand, of which what is made is no tensor."""
        name = path.rpartition(".")[2]
        return names_class(name) and any(
            leads_to(self._project, path, view.unit, unit, name)
            for unit, _ in classes(self._project).named(name)
        )

    def _trace(self, key: Key) -> Provenance:
        if key not in self._traced:
            self._follow([key])
            known = key in self._places
            self._traced[key] = self._followed(self._places[key]) if known else self._seen[key]
        return self._traced[key]

    def _is_method_as_value(self, key: Key) -> bool:
        what, view, name = key
        return what is Traced.ATTRIBUTE and self._method_of(view, name) is not None

    def _called(self, key: Key) -> Key:
        """The call of a method, in place of its value."""
        _, view, name = key
        return Traced.METHOD, self._asking.of(view, name, method=True), name

    def _as_value(self, key: Key) -> Steps:
        """A method itself, as a value: it has not run, but what it reads is there."""
        steps = Steps()
        method = self._method_of(key[1], key[2])
        if method is not None and method.decorator_list:
            steps.further[self._called(key)] = None
        return steps

    def _steps_at(self, what: Traced, view: View, name: str) -> Steps:
        match what:
            case Traced.ATTRIBUTE:
                return self._attribute(view, name)
            case Traced.METHOD:
                return self._method(view, name)
        # What a function of this file makes is judged by the calls that it holds, and what it
        # makes inside of a method by what it reads of the object there as well.
        steps = Steps()
        assert isinstance(view.scope, Function)
        read = sorted(free_names(view.scope) & view.unit.once(filled_state))
        steps.own.filled = any(may_be_computed_state(self._project, view.unit, n) for n in read)
        body = view.scope.body if isinstance(view.scope.body, list) else [view.scope.body]
        if view.cls is not None and view.scope not in view.cls.body:
            nodes = [node for each in body for node in walk(each)]
            self._read(view, view.kinds.self_name, nodes, steps)
            self._read_of_whole(view, nodes, steps)
        self._calls(view, body, steps)
        return steps

    def _method_of(self, view: View, name: str) -> NamedFunction | None:
        assert view.cls is not None
        return self._project.effects(view.unit).method(view.cls, name)

    def _is_plain_object(self, view: View, name: str) -> bool:
        """Whether a module-level name holds numbers, or what makes them (``rng = np.random…``)."""
        values = global_values(view.unit, name)
        return bool(values) and all(view.kinds.make(v) is Make.PYTHON for v in values)

    def attribute(self, view: View, name: str) -> Provenance:
        """Where ``self.name`` comes from, whichever method of the class assigns it."""
        assert view.cls is not None or not name
        if view.cls is None:
            return Provenance(blind=True)
        asking = self._asking.of(view, name, method=False)
        return self._trace((Traced.ATTRIBUTE, asking, name))

    def _attribute(self, view: View, name: str) -> Steps:
        steps = Steps()
        assert view.cls is not None
        given = [(view.unit, value) for value in attribute_values(self._project, view, name)]
        given += inherited_values(self._project, view, name)
        if (
            not given
            or set_below(self._project, view, name)
            or filled_below(self._project, view, name)
            or given_below(self._project, view, name)
            or is_set_by_text(self._project, view, name)
        ):
            steps.own.blind = True
        lineage = self._project.effects(view.unit).lineage(view.cls)
        steps.own.blind |= any(is_descriptor(self._project, each, name) for each in lineage)
        strangers = self._project.foreign_stores(view.unit, view.cls, name)
        steps.own.foreign = any(view.kinds.make(v) not in PLAIN for v in strangers) or any(
            at.kinds.make(v) not in PLAIN for at, v in put_in_by_others(self._project, view, name)
        )
        in_bodies = (value for each in lineage for value in given_in_body(each, name))
        steps.own.foreign |= waits([*in_bodies, *(value for _, value in given)])
        for unit, value in given:
            if view.kinds.make(value) in PLAIN:
                continue
            scope = self._project.scope_of(unit, value)
            if self._are_variables(self._project.view(unit, scope), value):
                continue
            steps.own.values.add(value)
            made = self._steps_of(self._project.view(unit, scope), value)
            steps.take(made)
            # No call shows what an operator is handed.
            handed = bool(made.own.parameters)
            steps.own.blind |= handed and is_operator(getattr(scope, "name", ""))
        for unit, value in given:
            inner = self._project.view(unit, self._project.scope_of(unit, value))
            for put in put_in_by_another_name(inner, value, name):
                steps.take(self._steps_of(inner, put))
            if is_function_of_parts(value):
                for part in parts_known(inner, value):
                    self._look_up(Traced.ATTRIBUTE, inner, part, steps)
        filled = [
            (self._project.view(unit, self._project.scope_of(unit, value)), value)
            for unit, value in contents(self._project, view, name)
        ]
        for inner, value in [*filled, *put_in_by_methods(self._project, view, name)]:
            if not is_variable(inner, value):
                steps.take(self._steps_of(inner, value))
        self._handed_to_objects(put_in_attribute(self._project, view, name), steps)
        return steps

    def method(self, view: View, name: str) -> Provenance:
        """What calling ``self.name(…)`` reads that is not passed to it."""
        if view.cls is None:
            return Provenance(blind=True)
        asking = self._asking.of(view, name, method=True)
        return self._trace((Traced.METHOD, asking, name))

    def _method(self, view: View, name: str) -> Steps:
        steps = Steps()
        method = self._method_of(view, name)
        if method is None:
            values = attribute_values(self._project, view, name)
            self._look_up(Traced.ATTRIBUTE, view, name, steps)
            steps.own.calls = True
            steps.own.blind |= not values
            for unit, heir in beside(self._project, view.cls) if view.cls is not None else ():
                below = self._project.effects(unit).method(heir, name)
                if below is not None:
                    self._look_up(Traced.METHOD, self._project.view(unit, below), name, steps)
            for value in values:
                if isinstance(value, ast.Lambda):
                    scope = self._project.scope_of(view.unit, value)
                    me = self_name(view.unit, scope)
                    self._read(view, me, walk(value.body), steps)
            return steps
        self._run(view, method, steps)
        return steps

    def _run(self, view: View, method: NamedFunction, steps: Steps) -> None:
        """What a method reads that runs on an object of the class of ``view``."""
        inner = self._project.view(view.unit, method)
        # What is only asked whether it is so goes into no value.
        asked = {n for m in walk(method) if isinstance(m, _ASKING) for n in walk(m.test)}
        nodes = [n for n in walk(method) if n not in asked]
        self._read(view, inner.kinds.self_name, nodes, steps)
        self._read_of_whole(inner, nodes, steps)
        self._calls(inner, method.body, steps)

    def _read(
        self,
        view: View,
        me: str | None,
        nodes: Iterable[ast.AST],
        steps: Steps,
        home: Unit | None = None,
    ) -> None:
        """Adds what the nodes read of ``self``, by its methods and properties as well.

        They stand in the file ``home``, or in that of the class.
        """
        assert view.cls is not None
        home = home or view.unit
        effects = self._project.effects(view.unit)
        for node in nodes:
            if is_whole(node, me, home):
                for unit, each in operators(self._project, view.cls):
                    if effects.method(view.cls, each.name) is None:
                        steps.own.blind = True
                    elif unit is view.unit:
                        self._look_up(Traced.METHOD, view, each.name, steps)
                continue
            part = looked_up(node) or node
            if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name):
                continue
            if part.value.id != me or not isinstance(part.ctx, ast.Load):
                continue
            parent = home.parents[node]
            if isinstance(parent, ast.Call) and parent.func is node:
                self._look_up(Traced.METHOD, view, part.attr, steps)
                continue
            steps.own.attributes.add(part.attr)
            self._look_up(Traced.ATTRIBUTE, view, part.attr, steps)
            method = effects.method(view.cls, part.attr)
            if method is not None and method.decorator_list:
                self._look_up(Traced.METHOD, view, part.attr, steps)

    def global_name(self, view: View, name: str) -> Provenance:
        """Where a name of the module comes from, whichever of its statements set or fill it."""
        key = (view.unit.tree, name)
        if key not in self._globals:
            self._globals[key] = self._steps_to(view.unit, name)
        return self._followed(self._globals[key])

    def _steps_to(self, unit: Unit, name: str) -> Steps:
        """What a name of the module is given, and filled with, by any of its statements."""
        steps = Steps()
        steps.own.filled = may_be_computed_state(self._project, unit, name)
        module = self._project.view(unit, unit.tree)
        self._handed_to_objects(put_in_name(self._project, module, name), steps)
        others: list[Use] = []
        path = import_paths(unit).get(name)
        imported = path is not None and self._project.units.paths_meant(unit.filename, path)
        for made in module.flow.given(name):
            if imported and made.kind is Kind.MUTATE:
                continue  # what calls put into a module, names of that hold
            value = made.value if made.kind is not Kind.MUTATE else None
            if value is not None and module.kinds.make(value) in PLAIN:
                continue
            if value is not None and made.kind is Kind.ASSIGN:
                steps.take(self._steps_of(module, value))
                continue
            put = put_by(self._project, module, made)
            if put is not None and not put.unseen and not put.values:
                continue
            others += [Use(made), *made.uses]
        behind = backward(others).made
        steps.own.defs |= behind
        for each in behind:
            self._definition(module, each, steps)
        self._calls(module, [d.value for d in behind if d.value is not None], steps)
        return steps


def _is_of_plain_library(view: View, owner: ast.expr) -> bool:
    """Whether a local object is one of a library that knows no tensors (``env = gym.make(…)``).

    Or a part of such an object: ``env = env.unwrapped``.
    """
    pending = [*origins(view.flow.uses_in(owner))]
    met = set(pending)
    for made in pending:  # which grows meanwhile
        value = made.value if made.kind is Kind.ASSIGN else None
        if isinstance(value, ast.Call) and _is_plain(view, value):
            continue
        behind = origins(view.flow.uses_in(value)) if isinstance(value, ast.Attribute) else ()
        if not behind or path_of(value) is None:
            return False
        pending += set(behind) - met
        met |= behind
    return bool(pending)


def _is_plain(view: View, call: ast.Call) -> bool:
    name = view.kinds.name(call.func)
    return name is not None and makes_none(name, call)


def _behind(view: View, node: ast.expr) -> frozenset[Def]:
    if view.kinds.make(node) in PLAIN:
        return frozenset()
    paths = Operands(view.kinds).paths(node)
    uses = frozenset(u for p in paths for u in view.flow.uses_in(p))
    every = backward(uses).made
    passed = frozenset(d for d in every if d.kind is Kind.MUTATE and _takes_numbers(view, d))
    plain = {
        d
        for d in every
        if d.kind is Kind.ASSIGN and d.value is not None and view.kinds.make(d.value) in PLAIN
    }
    return backward(uses, frozenset(plain), passed=passed).made - frozenset(
        d
        for d in plain
        if d.value is not None
        and path_of(d.value) is None
        and view.kinds.make(d.value) is Make.PYTHON
    )


def _takes_numbers(view: View, made: Def) -> bool:
    """Whether its method is called with numbers and texts: ``env.seed(int(args["seed"]))``."""
    call = made.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    given = arguments_of(call)
    own = path_of(call.func.value) == made.path
    return own and bool(given) and all(view.kinds.make(a) is Make.PYTHON for a in given)

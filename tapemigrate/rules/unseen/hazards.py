"""What in a file keeps a tape from seeing what ``tf.gradients`` sees."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.bindings import bound_parts, last_name, parts
from tapemigrate.rules.unseen.collected import Collected
from tapemigrate.rules.unseen.given import Handed
from tapemigrate.rules.unseen.imports import references
from tapemigrate.rules.unseen.methods import may_be_of
from tapemigrate.rules.unseen.names_of_gradients import goes_by_names
from tapemigrate.rules.unseen.objects import (
    given_by,
    is_called,
    is_number,
    is_run,
    is_used_whole,
    runs_unnamed,
    standing_for,
)
from tapemigrate.rules.unseen.own_graphs import outside_own_graphs
from tapemigrate.rules.unseen.reasons import (
    BY_NAME,
    CHANGED,
    DEFUN,
    HUB,
    HUB_MODULE,
    IN_LIBRARIES,
    KERAS,
    KERAS_ENDS,
    LOOKING_UP,
    MAKING_OPS,
    OVERRIDE,
    OVERRIDING,
    RAW_OPS,
    RUNS_OVERRIDDEN,
    SPREADING,
    TAINTING,
    UNDER,
    UNSEEN,
    WALKING,
)
from tapemigrate.rules.unseen.registered import asking_for_more
from tapemigrate.rules.unseen.rewired import rewires
from tapemigrate.rules.unseen.switches import turning_on
from tapemigrate.rules.unseen.variable_settings import set_by
from tapemigrate.rules.unseen.whole_file import done_by, overriding, told_by
from tapemigrate.rules.unseen.words import is_defun, last_of, may_hold
from tapemigrate.source.trees import arguments_of, kept, walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.plan import Insert
from tapemigrate.tape.request import Refusal, Request

# What beside definitions and calls tells what is done by hand.
_TELLING = (ast.Name, ast.Attribute, ast.Constant)

# What they give runs the function that they are handed.
_WRAPPING = frozenset(
    {
        "partial",
        "staticmethod",
        "classmethod",
        "make_template",
        "function",
        "defun",
        "custom_gradient",
    }
)


def _never(_: ast.expr) -> bool:
    return False


def _always(_: str) -> bool:
    return True


#: Why a tape would miss what a name of another file runs.
Foreign = Callable[[ast.expr], Refusal | None]


@dataclass(slots=True)
class Hazards:
    """What one file holds of such things. ``imports``: of a graph; not all calls are about it.

    ``methods`` are those of other files that objects which are made here may have, ``made`` what
    may be a function that such a function gives, ``around`` the functions that other files call
    where something is open that a tape ignores, ``replaced`` what classes of other files have in
    the place of what those of this one have; ``is_computed`` tells of the names of properties.
    """

    unit: Unit
    whole: Refusal | None
    defuns: bool
    switches: list[ast.stmt]
    tainted: dict[str, Refusal]
    foreign: Foreign | None = None
    gives: Callable[[ast.expr], bool] = _never
    keras: bool | None = None
    collections: Collected | None = None
    imports: Refusal | None = None
    objects: Mapping[str, Refusal] = field(default_factory=dict)
    made: Mapping[str, Refusal] = field(default_factory=dict)
    methods: Mapping[str, Refusal] = field(default_factory=dict)
    given: Handed = field(default_factory=Handed)
    around: Mapping[str, Refusal] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    is_computed: Callable[[str], bool] = _always

    def refuse(self, request: Request) -> Refusal | None:
        """Why ``request`` cannot go on a tape, whatever its own function looks like."""
        if self.whole is not None:
            return self.whole
        if self.defuns and not self._in_defun(request):
            return Refusal(
                "the file defines functions with `Defun`, and a tape does not see through calls of "
                "them",
                "Turn the `Defun` into a `tf.function` (with `@tf.custom_gradient` for its own "
                "gradient).",
            )
        if self.around and (refusal := self._called_under(request)) is not None:
            return refusal
        for expr in (request.target, request.sources):
            for node in walk(expr):
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr in KERAS_ENDS
                    and self._is_keras(node)
                ):
                    return Refusal(
                        f"`{ast.unparse(node)}` is a symbolic Keras tensor, which no tape records",
                        "Make an input of your own and call the model on it under the tape: "
                        "`with tf.GradientTape() as tape: tape.watch(x); y = model(x)`.",
                    )
        return None

    def _called_under(self, request: Request) -> Refusal | None:
        node: ast.AST | None = request.call
        while node is not None:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in self.around:
                return self.around[node.name]
            node = self.unit.parents.get(node)
        return None

    def looked_up(self, named: bool) -> Refusal | None:
        """Why a call cannot lose the names of its ops: it gives them, or the file goes by them."""
        if self.unit.once(goes_by_names):
            return Refusal(
                "the file finds the ops of gradients by their names, and a tape names its own",
                "Keep the gradient in a variable instead of looking it up.",
            )
        if (
            named
            and may_hold(self.unit, LOOKING_UP)
            and any(last_of(n) in LOOKING_UP for n in self.unit.parents)
        ):
            return Refusal(
                "it names its ops, and the file looks ops up by name; a tape names its own",
                "Keep the gradient in a variable instead of looking it up.",
            )
        return None

    def unseen(self, nodes: Iterable[ast.AST]) -> Refusal | None:
        """Why a tape would miss what these nodes run, directly or in functions they call."""
        for root in nodes:
            for node in walk(root):
                name = last_of(node)
                if name is None:
                    refusal = self._call(node) if isinstance(node, ast.Call) else None
                    if refusal is not None:
                        return refusal
                    continue
                if name in UNSEEN and self._is_meant(name, node):
                    return UNSEEN[name]
                if name in IN_LIBRARIES and (refusal := self.of_library(node)) is not None:
                    return refusal
                if isinstance(node, ast.Attribute) and name in KERAS_ENDS and self._is_keras(node):
                    return KERAS
                if name in self.tainted:
                    return self.tainted[name]
                if name in self.objects and is_used_whole(self.unit, node):
                    return self.objects[name]
                if name in self.made and is_run(self.unit, node):
                    return self.made[name]
                if name in self.methods and isinstance(node, ast.Attribute):
                    runs = not is_number(self.unit, node, self.is_computed)
                    if runs and may_be_of(self.unit, node, self._makes, self.replaced):
                        return _of_object(node, self.methods[name])
                if (refusal := self._handed_in(node, name)) is not None:
                    return refusal
                if self.foreign is not None and isinstance(node, ast.expr):
                    refusal = self.foreign(node)
                    if refusal is not None and not refusal.gathers:
                        return refusal
        return None

    def run_by(self, value: ast.expr) -> Refusal | None:
        """Why a tape would miss what ``value`` runs, where it is handed on as a function.

        A lambda, a method of an object, a function of the file, also one inside another.
        """
        if isinstance(value, ast.Lambda):
            refusal = self.unseen([value.body])
            return None if refusal is KERAS else refusal
        for part in _functions_in(value):
            name = last_of(part) or ""
            if name in self.tainted:
                return self.tainted[name]
            if name in self.methods and isinstance(part, ast.Attribute):
                if may_be_of(self.unit, part, self._makes, self.replaced):
                    return _of_object(part, self.methods[name])
        return None

    def _makes(self, maker: ast.expr) -> bool:
        """Whether what ``maker`` gives may have such a method."""
        foreign = self.foreign(maker) if self.foreign is not None else None
        return last_of(maker) in self.tainted or (foreign is not None and not foreign.gathers)

    def makes_function(self, maker: ast.expr) -> bool:
        """Whether ``maker`` is of the kind, and gives a function that may be."""
        return self.gives(maker) and self._makes(maker)

    def _handed_in(self, node: ast.AST, name: str) -> Refusal | None:
        """Why a tape would miss what is handed in, if the node calls it, or its method."""
        methods = self.given.methods
        if name in methods and isinstance(node, ast.Attribute):
            if last_name(node.value) in self.given.objects:
                return _of_object(node, methods[name])
        parent = self.unit.parents.get(node)
        running = self.given.running.get(name)
        if running is not None and isinstance(parent, ast.Call) and parent.func is node:
            for each in filter(self._may_have_such, arguments_of(parent)):
                whose = f"`{ast.unparse(node)}` may run for `{ast.unparse(each)}` a method"
                return replace(running, reason=f"{whose} {running.reason}")
        refusal = self.given.called.get(name)
        if refusal is None or not is_called(self.unit, node):
            return None
        what = f"`{ast.unparse(node)}` may be what a caller hands in: {refusal.reason}"
        return replace(refusal, reason=what)

    def _may_have_such(self, value: ast.expr) -> bool:
        """Whether it may be an object with methods of the kind."""
        if last_name(value) in self.given.objects:
            return True
        made = constructors(self.unit, value)
        return made is not None and any(map(self._makes, made))

    def walks_graph(self) -> bool:
        """Whether anything in the file looks tensors up in the graph."""
        return may_hold(self.unit, WALKING)

    def walked(self, values: Iterable[ast.AST]) -> Refusal | None:
        """Whether the values come out of the graph, which may hold what was made of a source."""
        return BY_NAME if any(self.unseen([v]) is BY_NAME for v in values) else None

    def symbolic(self, values: Iterable[ast.expr]) -> Refusal | None:
        """Whether one of the values is an input of Keras, which is no tensor."""
        calls = (n for value in values for n in walk(value) if isinstance(n, ast.Call))
        found = any(last_of(n.func) == "Input" and self._is_meant("Input", n.func) for n in calls)
        return KERAS if found else None

    def collected(self, nodes: Iterable[ast.AST]) -> str:
        """What these nodes read out of a graph collection, in words; empty for nothing."""
        if self.collections is None:
            self.collections = Collected(self.unit, self.foreign)
        return self.collections.read_by(nodes)

    def made_by_hand(self, node: ast.AST) -> Refusal | None:
        """Why a tape would miss what ``node`` runs, wherever the tape opens."""
        if isinstance(node, ast.FunctionDef):
            return DEFUN if any(map(is_defun, node.decorator_list)) else None
        if isinstance(node, ast.keyword | ast.arguments | ast.Dict | ast.Assign):
            return set_by(node)
        if isinstance(node, ast.Call):
            if (why := set_by(node)) is not None:
                return why
            if is_defun(node):
                return DEFUN
            if not self.unit.once(_may_make_ops):
                return None
            return RAW_OPS if self._call(node) is RAW_OPS else None
        if not isinstance(node, _TELLING):
            return None
        word = last_of(node) or ""
        if UNSEEN.get(word) is RAW_OPS and self._is_meant(word, node):
            return RAW_OPS
        if (rewired := rewires(self.unit, node, "it")) is not None:
            return rewired
        changed = overriding(self.unit, node)
        if changed is not None:
            return Refusal(f"it {CHANGED[changed]}", OVERRIDING)
        return self.of_library(node) or SPREADING.get(word)

    def of_library(self, node: ast.AST) -> Refusal | None:
        """Why a tape would miss what ``node`` runs, if it is such a function of a library."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        if not self.unit.once(_may_use_libraries):
            return None
        path = self.unit.names.qualified(node) or ""
        does = done_by(path)
        if does is None:
            return None
        overrides = does is RUNS_OVERRIDDEN
        return Refusal(f"it uses `{path}`, {does}", OVERRIDING, overrides=overrides)

    def by_hand(self, nodes: Iterable[ast.AST]) -> Refusal | None:
        """Why a tape would miss what functions of other files run for these nodes."""
        for root in nodes if self.foreign is not None else ():
            for node in walk(root):
                if isinstance(node, ast.Name | ast.Attribute):
                    refusal = self.foreign(node) if self.foreign is not None else None
                    if refusal is not None and not refusal.gathers:
                        return refusal
        return None

    def _call(self, call: ast.Call) -> Refusal | None:
        path = self.unit.names.qualified(call.func) or ""
        name = short(path) or ""
        if path == HUB_MODULE or name.startswith("saved_model.load"):
            return RAW_OPS
        if path.startswith("tensorflow.") and path.endswith(".Operation"):
            return RAW_OPS
        return None

    def _is_meant(self, name: str, node: ast.AST) -> bool:
        if name == "Input":
            path = self.unit.names.qualified(node) if isinstance(node, ast.expr) else None
            return path is not None and "keras" in path
        if name == "initial_value":
            return isinstance(node, ast.Attribute)
        if name == "NodeDef":
            # ``isinstance(op, tf.NodeDef)``, as functions for ``tf.device`` ask, makes none.
            parent = self.unit.parents.get(node)
            return isinstance(parent, ast.Call) and parent.func is node
        return name != "total_loss" or self._is_keras_file()

    def _is_keras_file(self) -> bool:
        if self.keras is None:
            references = self.unit.names.references()
            self.keras = any("keras" in path.split(".") for _, path in references)
        return self.keras

    def _is_keras(self, node: ast.Attribute) -> bool:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return False
        return self._is_keras_file()

    def _in_defun(self, request: Request) -> bool:
        node: ast.AST | None = request.call
        while node is not None:
            if isinstance(node, ast.FunctionDef):
                if any(map(is_defun, node.decorator_list)) or node.name in self._wrapped():
                    return True
            node = self.unit.parents.get(node)
        return False

    def _wrapped(self) -> frozenset[str]:
        """The functions that are given to a ``Defun(…)`` by name."""
        calls = self.unit.nodes(ast.Call)
        wraps = [n for n in calls if isinstance(n.func, ast.Call) and is_defun(n.func)]
        return frozenset(a.id for n in wraps for a in n.args if isinstance(a, ast.Name))

    def ops(self) -> list[Insert]:
        """The switches that turn on what a tape needs in a file that turned TensorFlow 2 off."""
        calls = [s.value for s in self.switches if isinstance(s, ast.Expr)]
        switches = [turning_on(self.unit, c) for c in calls if isinstance(c, ast.Call)]
        return [op for op in switches if op is not None]


def hazards(
    unit: Unit,
    gives: Callable[[ast.expr], bool],
    foreign: Foreign | None = None,
    methods: Mapping[str, Refusal] | None = None,
    given: Handed | None = None,
    around: Mapping[str, Refusal] | None = None,
    replaced: frozenset[str] = frozenset(),
    is_computed: Callable[[str], bool] = _always,
) -> Hazards:
    """What ``unit`` holds that a tape cannot see or that it needs to be turned on.

    ``gives`` tells of what is called whether it may give a function.
    """
    told = told_by(unit)
    found = Hazards(
        unit,
        told.whole,
        told.defuns,
        told.switches,
        {},
        foreign,
        gives,
        imports=told.imports,
        methods=methods or {},
        given=given or Handed(),
        around=around or {},
        replaced=replaced,
        is_computed=is_computed,
    )
    _taint(found)
    return found


def opens(node: ast.AST) -> Refusal | None:
    """What is to say of what runs where a node of this kind stands in a ``with`` statement."""
    if isinstance(node, ast.keyword):
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        return None if is_none or node.arg == OVERRIDE else UNDER.get(node.arg or "")
    return UNDER[OVERRIDE] if last_of(node) == OVERRIDE else None


def _taint(found: Hazards) -> None:
    """Names the functions and classes that run such things, through each other as well."""
    found.tainted |= asking_for_more(found.unit)
    if found.foreign is None and not found.tainted and not may_hold(found.unit, TAINTING):
        return
    found.tainted |= dict.fromkeys(_modules(found.unit), RAW_OPS)
    pending = found.unit.definitions
    imported = _from_elsewhere(found)
    of_classes = _making_objects(found, imported) if any(map(runs_unnamed, found.methods)) else ()
    # What of other files runs such things may hang on any class that does.
    always = frozenset((*found.methods, *found.given.running))
    known: set[str] | None = None
    while True:
        now = {*found.tainted, *found.objects, *found.made}
        new = always.union(now - known) if known is not None else None
        known = now
        rest = []
        for node in pending:
            refusal = None
            if new is None or not new.isdisjoint(kept(node, _names_in)):
                refusal = found.unseen(_run_when_called(found.unit, node))
            if refusal is None or refusal is KERAS:
                rest.append(node)
            else:
                found.tainted[node.name] = refusal
        found.tainted |= _second_names(found)
        if found.tainted or imported:
            whose = next(iter({**imported, **found.tainted}.values()))
            names = standing_for(found.unit, found.tainted, frozenset(of_classes))
            found.objects = dict.fromkeys(names, whose)
            found.made = dict.fromkeys(given_by(found.unit, found.makes_function), whose)
        if {*found.tainted, *found.objects, *found.made} == known:
            return
        pending = rest


def _run_when_called(unit: Unit, node: ast.FunctionDef | ast.ClassDef) -> list[ast.AST]:
    """What of a function runs when it is called, or of a class; and when it is defined."""
    body = outside_own_graphs(unit, node) if isinstance(node, NamedFunction) else node.body
    return [*body, *node.decorator_list, *getattr(node, "bases", ())]


def _names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(filter(None, map(last_of, walk(node))))


def _second_names(found: Hazards) -> dict[str, Refusal]:
    """The names that such functions and classes are given: ``OPS = {"flip": flip}``."""
    more: dict[str, Refusal] = {}
    for name, each in bound_parts(found.unit):
        for part in _functions_in(each) if name not in found.tainted else ():
            refusal = found.tainted.get(last_of(part) or "")
            if refusal is None and found.foreign is not None:
                refusal = found.foreign(part)
            if refusal is not None and not refusal.gathers:
                more[name] = refusal
    return more


def _functions_in(value: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes that ``value`` may stand for, also in what wraps a function."""
    for part in parts(value):
        if isinstance(part, ast.Name | ast.Attribute):
            yield part
        elif isinstance(part, ast.Call) and last_of(part.func) in _WRAPPING:
            for each in arguments_of(part):
                yield from _functions_in(each)


def _of_object(node: ast.Attribute, refusal: Refusal) -> Refusal:
    reason = f"`{ast.unparse(node)}` may be a method {refusal.reason}"
    return replace(refusal, reason=reason)


def _from_elsewhere(found: Hazards) -> dict[str, Refusal]:
    """The imported names of what runs such things, or gives what does."""
    if found.foreign is None:
        return {}
    asked = [(last_of(node) or "", found.foreign(node)) for node, _ in references(found.unit)]
    return {name: each for name, each in asked if each is not None and not each.gathers}


def _making_objects(found: Hazards, imported: Iterable[str]) -> list[str]:
    """Those of the ``imported`` that may make objects: classes, by their capital letter, mostly."""
    giving = {last_of(node) for node, _ in references(found.unit) if found.gives(node)}
    return [name for name in imported if name[:1].isupper() or name in giving]


def _modules(unit: Unit) -> Iterator[str]:
    """The names of modules from the hub, which import a graph wherever they are called."""
    for node in unit.nodes(ast.Assign) if HUB in unit.text else ():
        value = node.value
        if isinstance(value, ast.Call) and unit.names.qualified(value.func) == HUB_MODULE:
            yield from filter(None, map(last_of, node.targets))


def _may_use_libraries(unit: Unit) -> bool:
    """Whether something may be one of the functions that ``done_by`` tells of."""
    return may_hold(unit, IN_LIBRARIES)


def _may_make_ops(unit: Unit) -> bool:
    """Whether a call may be one for which ``_call`` gives ``RAW_OPS``."""
    return may_hold(unit, MAKING_OPS)

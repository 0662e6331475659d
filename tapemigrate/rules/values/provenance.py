"""Where the values that a class keeps on ``self``, or a caller passes, come from."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.fixpoint import Fixpoint
from tapemigrate.flow.paths import looked_up, path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, kinds_of
from tapemigrate.rules.project import Project, View, self_name
from tapemigrate.rules.values.attributes import (
    contents,
    inherited_values,
    set_below,
    sets_without_name,
)
from tapemigrate.rules.values.containers import is_filled_in_sight
from tapemigrate.rules.values.operators import is_operator, is_whole, operators
from tapemigrate.rules.values.put_in import put_in_by_methods, put_in_by_others
from tapemigrate.rules.values.shape_evidence import attribute_values, global_values
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.kinds import Kinds, Make
from tapemigrate.tape.operands import Operands
from tapemigrate.tape.plain_calls import makes_none
from tapemigrate.tape.symbols import short

_PLAIN = (Make.PYTHON, Make.LEAF)
# What of ``tf.contrib`` makes no variables.
_NO_NETWORKS = ("nest.", "contrib.staging.")
_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert)
_VARIABLE = (Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES)


@dataclass(slots=True)
class Provenance:
    """What a value may be made of, as far as the code shows.

    ``attributes`` of ``self``, ``parameters`` of the function at hand, ``globals``; ``network``:
    it passes through variables or layers; ``calls``: through calls that may use some; ``outside``:
    it was passed to another function; ``blind``: something on the way cannot be seen; ``foreign``:
    it is set on the object from outside of its class. ``defs`` are all definitions that were met,
    ``values`` what was assigned to the attributes among them.
    """

    attributes: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    network: bool = False
    calls: bool = False
    outside: bool = False
    blind: bool = False
    foreign: bool = False
    defs: set[Def] = field(default_factory=set)
    values: set[ast.expr] = field(default_factory=set)

    def add(self, other: Provenance) -> None:
        """Takes in all that ``other`` found, but for the parameters of another function."""
        self.attributes |= other.attributes
        self.globals |= other.globals
        self.network |= other.network
        self.calls |= other.calls
        self.outside |= other.outside or bool(other.parameters)
        self.blind |= other.blind
        self.foreign |= other.foreign
        self.defs |= other.defs
        self.values |= other.values


class _Traced(Enum):
    ATTRIBUTE = auto()
    METHOD = auto()
    FUNCTION = auto()


class Tracer:
    """Traces values through one class and one file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._traced = Fixpoint[tuple[_Traced, View, str], Provenance](Provenance())
        self._behind: dict[tuple[ast.AST, ast.expr], frozenset[Def]] = {}

    def value(self, view: View, node: ast.expr) -> Provenance:
        """Where the value of ``node``, an expression of the scope of ``view``, comes from."""
        found = Provenance()
        made = self.behind(view, node)
        found.defs |= made
        for each in made:
            self._definition(view, each, found)
        self._calls(view, [node, *(d.value for d in made if d.value is not None)], found)
        return found

    def behind(self, view: View, node: ast.expr) -> frozenset[Def]:
        """All definitions of which a gradient could flow into the value of ``node``."""
        key = (view.scope, node)
        if key not in self._behind:
            self._behind[key] = _behind(view, node)
        return self._behind[key]

    def _definition(self, view: View, made: Def, found: Provenance) -> None:
        if made.kind is Kind.PARAM:
            if made.path[0] != view.kinds.self_name:
                found.parameters.add(made.path[0])
        elif made.kind is Kind.ENTRY:
            if made.path[0] == view.kinds.self_name and len(made.path) > 1:
                found.add(self.attribute(view, made.path[1].lstrip(".")))
                found.attributes.add(made.path[1].lstrip("."))
            elif len(made.path) == 1 and made.path[0] not in (
                view.kinds.self_name,
                "<hidden state>",
            ):
                found.globals.add(made.path[0])
        elif made.value is not None and view.kinds.make(made.value) in _VARIABLE:
            found.network = True

    def _calls(self, view: View, nodes: Iterable[ast.AST], found: Provenance) -> None:
        for root in nodes:
            for node in walk(root):
                if isinstance(node, ast.Call):
                    self._call(view, node, found)

    def _call(self, view: View, call: ast.Call, found: Provenance) -> None:
        name = view.kinds.name(call.func)
        if view.kinds.make(call) in _VARIABLE:
            found.network = True
            return
        if name is not None:
            if (
                ".layers." in name
                or ".keras." in name
                or (".contrib." in name and not (short(name) or "").startswith(_NO_NETWORKS))
                or "get_variable" in name
            ):
                found.network = True
            elif not name.startswith("tensorflow"):
                found.calls |= not makes_none(name, call) and not self._is_class(view, name)
            return
        make = view.kinds.make(call)
        if make in _VARIABLE:
            found.network = True
        if make is not Make.UNKNOWN:
            return
        func = call.func
        owner = path_of(func.value) if isinstance(func, ast.Attribute) else None
        root = _root(func)
        if root is not None and self._is_plain_object(view, root):
            return
        if isinstance(func, ast.Attribute) and _is_of_plain_library(view, func.value):
            return
        if isinstance(func, ast.Attribute) and owner == (view.kinds.self_name,) and view.cls:
            found.add(self.method(view, func.attr))
        elif isinstance(func, ast.Name) and func.id[:1].isupper():
            return
        elif isinstance(func, ast.Name) and self._project.effects(view.unit).functions(func.id):
            self._function(view, func.id, found)
        else:
            found.calls = True

    def _is_class(self, view: View, path: str) -> bool:
        """Whether a path leads to a class at hand, of which what is made is no tensor."""
        name = path.rpartition(".")[2]
        return name[:1].isupper() and any(
            leads_to(self._project, path, view.unit, unit, name)
            for unit, _ in classes(self._project).named(name)
        )

    def _function(self, view: View, name: str, found: Provenance) -> None:
        """What a function of this file makes, judged by the calls that it holds."""
        for function in self._project.effects(view.unit).functions(name):
            inner = self._project.view(view.unit, function)
            found.add(self._traced.of((_Traced.FUNCTION, inner, ""), self._trace))

    def _trace(self, key: tuple[_Traced, View, str]) -> Provenance:
        what, view, name = key
        match what:
            case _Traced.ATTRIBUTE:
                return self._attribute(view, name)
            case _Traced.METHOD:
                return self._method(view, name)
        found = Provenance()
        assert isinstance(view.scope, ast.FunctionDef | ast.AsyncFunctionDef)
        self._calls(view, view.scope.body, found)
        return found

    def _is_plain_object(self, view: View, name: str) -> bool:
        """Whether a module-level name holds numbers, or what makes them (``rng = np.random…``)."""
        values = global_values(view.unit, name)
        return bool(values) and all(view.kinds.make(v) is Make.PYTHON for v in values)

    def attribute(self, view: View, name: str) -> Provenance:
        """Where ``self.name`` comes from, whichever method of the class assigns it."""
        assert view.cls is not None or not name
        if view.cls is None:
            return Provenance(blind=True)
        return self._traced.of((_Traced.ATTRIBUTE, view, name), self._trace)

    def _attribute(self, view: View, name: str) -> Provenance:
        found = Provenance()
        assert view.cls is not None
        effects = self._project.effects(view.unit)
        if (method := effects.method(view.cls, name)) is not None:
            own = self.method(view, name)
            if method.decorator_list:
                found.add(own)
            # The method itself, as a value: it has not run, but what it reads is there.
            found.attributes |= own.attributes
            for each in sorted(own.attributes):
                found.add(self.attribute(view, each))
            return found
        given = [(view.unit, value) for value in attribute_values(self._project, view, name)]
        given += inherited_values(self._project, view, name)
        if not given or set_below(self._project, view, name) or self.is_set_by_text(view, name):
            found.blind = True
        strangers = self._project.foreign_stores(view.unit, view.cls, name)
        found.foreign = any(view.kinds.make(v) not in _PLAIN for v in strangers)
        found.foreign |= any(
            at.kinds.make(v) not in _PLAIN for at, v in put_in_by_others(self._project, view, name)
        )
        for unit, value in given:
            if view.kinds.make(value) in _PLAIN:
                continue
            found.values.add(value)
            scope = self._project.scope_of(unit, value)
            inner = self._project.view(unit, scope)
            traced = self.value(inner, value)
            found.add(traced)
            # No call shows what an operator is handed.
            found.blind |= bool(traced.parameters) and is_operator(getattr(scope, "name", ""))
        for unit, value in given:
            inner = self._project.view(unit, self._project.scope_of(unit, value))
            for put in _put_in_by_another_name(inner, value, name):
                found.add(self.value(inner, put))
        filled = [
            (self._project.view(unit, self._project.scope_of(unit, value)), value)
            for unit, value in contents(self._project, view, name)
        ]
        for inner, value in [*filled, *put_in_by_methods(self._project, view, name)]:
            if not is_variable(inner, value):
                found.add(self.value(inner, value))
        return found

    def holds_variables(self, view: View, name: str) -> bool:
        """Whether ``self.name`` is a variable, or a list or dict of such, and nothing else."""
        if view.cls is None or self._project.foreign_stores(view.unit, view.cls, name):
            return False
        if set_below(self._project, view, name) or self.is_set_by_text(view, name):
            return False
        given = [(view.unit, value) for value in attribute_values(self._project, view, name)]
        given += inherited_values(self._project, view, name)
        given += contents(self._project, view, name)
        alone = all(view.kinds.make(v) in (Make.VARIABLE, Make.FROZEN) for _, v in given)
        if not alone and not is_filled_in_sight(self._project, name):
            return False
        return bool(given) and all(
            not isinstance(unit.parents[value], ast.AugAssign)
            and is_variable(self._project.view(unit, self._project.scope_of(unit, part)), part)
            for unit, value in given
            for part in parts(value)
        )

    def is_set_by_text(self, view: View, name: str) -> bool:
        """Whether the attribute may be given a value without standing there: by ``setattr``."""
        if sets_without_name(self._project, view):
            return True
        return bool(set_by_text(self._project, view.unit, name))

    def method(self, view: View, name: str) -> Provenance:
        """What calling ``self.name(…)`` reads that is not passed to it."""
        if view.cls is None:
            return Provenance(blind=True)
        return self._traced.of((_Traced.METHOD, view, name), self._trace)

    def _method(self, view: View, name: str) -> Provenance:
        found = Provenance()
        assert view.cls is not None
        method = self._project.effects(view.unit).method(view.cls, name)
        if method is None:
            values = attribute_values(self._project, view, name)
            found.add(self.attribute(view, name))
            found.calls = True
            found.blind |= not values
            for value in values:
                if isinstance(value, ast.Lambda):
                    scope = self._project.scope_of(view.unit, value)
                    me = self_name(view.unit, scope)
                    self._read(view, me, walk(value.body), found)
            return found
        inner = self._project.view(view.unit, method)
        # What is only asked whether it is so goes into no value.
        asked = {n for m in walk(method) if isinstance(m, _ASKING) for n in walk(m.test)}
        self._read(view, inner.kinds.self_name, (n for n in walk(method) if n not in asked), found)
        self._calls(inner, method.body, found)
        return found

    def _read(
        self, view: View, me: str | None, nodes: Iterable[ast.AST], found: Provenance
    ) -> None:
        """Adds what the nodes read of ``self``, by its methods and properties as well."""
        assert view.cls is not None
        effects = self._project.effects(view.unit)
        for node in nodes:
            if is_whole(node, me, view.unit):
                for unit, each in operators(self._project, view.cls):
                    if effects.method(view.cls, each.name) is None:
                        found.blind = True
                    elif unit is view.unit:
                        found.add(self.method(view, each.name))
                continue
            part = looked_up(node) or node
            if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name):
                continue
            if part.value.id != me or not isinstance(part.ctx, ast.Load):
                continue
            parent = view.unit.parents[node]
            if isinstance(parent, ast.Call) and parent.func is node:
                found.add(self.method(view, part.attr))
                continue
            found.attributes.add(part.attr)
            found.add(self.attribute(view, part.attr))
            method = effects.method(view.cls, part.attr)
            if method is not None and method.decorator_list:
                found.add(self.method(view, part.attr))

    def global_name(self, view: View, name: str) -> Provenance:
        """Where a name of the module comes from, whichever of its statements set or fill it."""
        found = Provenance()
        module = self._project.view(view.unit, view.unit.tree)
        for made in module.flow.given(name):
            value = made.value if made.kind is not Kind.MUTATE else None
            if value is not None and module.kinds.make(value) in _PLAIN:
                continue
            if value is not None and made.kind is Kind.ASSIGN:
                found.add(self.value(module, value))
                continue
            behind = backward([Use(made), *made.uses]).made
            found.defs |= behind
            for each in behind:
                self._definition(module, each, found)
            self._calls(module, [d.value for d in behind if d.value is not None], found)
        return found


def _is_of_plain_library(view: View, owner: ast.expr) -> bool:
    """Whether a local object is one of a library that knows no tensors (``env = gym.make(…)``)."""
    values = [d.value if d.kind is Kind.ASSIGN else None for d in origins(view.flow.uses_in(owner))]
    return bool(values) and all(isinstance(v, ast.Call) and _is_plain(view, v) for v in values)


def _is_plain(view: View, call: ast.Call) -> bool:
    name = view.kinds.name(call.func)
    return name is not None and makes_none(name, call)


def _behind(view: View, node: ast.expr) -> frozenset[Def]:
    if view.kinds.make(node) in _PLAIN:
        return frozenset()
    paths = Operands(view.kinds).paths(node)
    uses = frozenset(u for p in paths for u in view.flow.uses_in(p))
    plain = {
        d
        for d in backward(uses).made
        if d.kind is Kind.ASSIGN and d.value is not None and view.kinds.make(d.value) in _PLAIN
    }
    return backward(uses, frozenset(plain)).made - frozenset(
        d
        for d in plain
        if d.value is not None
        and path_of(d.value) is None
        and view.kinds.make(d.value) is Make.PYTHON
    )


def _put_in_by_another_name(view: View, value: ast.expr, name: str) -> list[ast.expr]:
    """What is put into a list or dict that ``self.name`` keeps, where it has another name."""
    own, path = (view.kinds.self_name, f".{name}"), path_of(value)
    if path is None and not isinstance(value, ast.List | ast.Dict | ast.Set):
        return []
    found: list[ast.expr] = []
    for made in view.flow.defs.values():
        if made.kind is not Kind.MUTATE or made.path not in (own, path):
            continue
        if isinstance(made.value, ast.Call):
            found += arguments_of(made.value)
        elif isinstance(made.stmt, ast.Assign | ast.AugAssign):
            found.append(made.stmt.value)
    return found


def parts(value: ast.expr) -> list[ast.expr]:
    """The elements of a list or dict that is written out; else the value."""
    match value:
        case ast.List() | ast.Tuple():
            return value.elts
        case ast.Dict():
            return value.values
        case ast.ListComp():
            return [value.elt]
    return [value]


def is_variable(view: View, value: ast.expr) -> bool:
    """Whether the value is a new variable: by its own text, or by what the function gives."""
    made = origins(view.flow.uses_in(value)) if path_of(value) is not None else frozenset()
    values = [d.value for d in made] if made else [value]
    for each in values:
        if each is None:
            return False
        function = view.kinds.called(each) if isinstance(each, ast.Call) else None
        ends = [n.value for n in walk(function) if isinstance(n, ast.Return)] if function else []
        if view.kinds.make(each) in (*_VARIABLE, *_PLAIN):
            continue
        if function is not None and function.decorator_list:
            return False
        if not ends or not all(e is not None and view.kinds.make(e) in _VARIABLE for e in ends):
            return False
    return True


def _root(node: ast.expr) -> str | None:
    """``rng`` of ``rng.randn(3).astype(…)``."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
            node = node.func
        else:
            return None
    return node.id


def filled_state(unit: Unit) -> frozenset[str]:
    """What functions put values into that outlives them, other than variables.

    Dicts, lists and objects at module level, classes, and functions that have a list for a default,
    or attributes.
    """
    tree = unit.tree
    effects = effects_of(unit)
    kinds = kinds_of(unit)
    names = {
        target.id
        for stmt in tree.body
        if isinstance(stmt, ast.Assign) and _holds_values(stmt.value, kinds)
        for target in stmt.targets
        if isinstance(target, ast.Name)
    } | {stmt.name for stmt in tree.body if isinstance(stmt, ast.ClassDef)}
    functions = {stmt.name for stmt in tree.body if isinstance(stmt, ast.FunctionDef)}
    methods = {
        (cls.name, f".{each.name}")
        for cls in tree.body
        if isinstance(cls, ast.ClassDef)
        for each in cls.body
        if isinstance(each, ast.FunctionDef)
        and [path_of(d) for d in each.decorator_list] in ([], [("staticmethod",)])
    }
    found: set[str] = set()
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        shared = {n for s in walk(function) if isinstance(s, ast.Global) for n in s.names}
        for node in walk(function):
            if node.__class__ not in _FILLING:
                continue
            if isinstance(node, ast.Assign | ast.AugAssign) and shared:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if kinds.make(node.value) not in (*_VARIABLE, *_PLAIN):
                    found |= {t.id for t in targets if isinstance(t, ast.Name)} & shared
            name, values = _filled(node)
            if isinstance(node, ast.Call) and path_of(node.func) in methods:
                continue  # what it puts into the class stands in its own body
            keeps = name in names or (name in functions and isinstance(node, ast.Assign))
            if keeps and not all(kinds.make(v) in (*_VARIABLE, *_PLAIN) for v in values):
                found.add(name or "")
            if isinstance(node, ast.FunctionDef) and (
                _fills_a_default(node) or effects.remembers(node)
            ):
                found.add(node.name)
    return frozenset(found)


# What ``filled_state`` looks at.
_FILLING = frozenset({ast.Assign, ast.AugAssign, ast.Call, ast.FunctionDef})


def _fills_a_default(function: ast.FunctionDef) -> bool:
    args = function.args
    named = [*args.posonlyargs, *args.args]
    lists = {
        a.arg
        for a, d in zip(named[len(named) - len(args.defaults) :], args.defaults, strict=True)
        if isinstance(d, ast.List | ast.Dict | ast.Set)
    }
    return bool(lists) and any(_filled(node)[0] in lists for node in walk(function))


def _holds_values(value: ast.expr, kinds: Kinds) -> bool:
    return _is_container(value) or (isinstance(value, ast.Call) and kinds.makes_object(value))


def _is_container(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("dict", "list", "set", "defaultdict", "OrderedDict")
    return isinstance(value, ast.Dict | ast.List | ast.Set)


def _filled(node: ast.AST) -> tuple[str | None, list[ast.expr]]:
    """The name of what is put into, and the values."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript | ast.Attribute):
                if (root := _root(target)) is not None:
                    return root, [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.args or node.keywords:
            return _root(node.func), arguments_of(node)
    return None, []

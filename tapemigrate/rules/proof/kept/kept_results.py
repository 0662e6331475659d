"""What methods of other objects, and inherited ones, read: whether networks gave it before.

``self.critic.get_output()`` runs where it is called, and still its result may be older.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, is_super, looked_up, names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import assigned_in, given_in_body
from tapemigrate.rules.callgraph.callers import of_class
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import bases, classes, is_of_library
from tapemigrate.rules.callgraph.instances import instances, instances_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.read_of_whole import read_of_whole
from tapemigrate.rules.values.objects.attributes import filled_by, put_by_class
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.variables.variables_named import names_variables
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED

# What keeps what it is handed, and computes nothing of it.
_HOLDING = frozenset({"dict", "list", "tuple", "set", "partial", "deque", "OrderedDict", "iter"})

Class = tuple[Unit, ast.ClassDef]

# Through how many objects, functions and attributes a value is followed.
_DEPTH = 5
# Objects that keep what they are made of: ``tf.distributions.Normal(mean, scale)``.
_DISTRIBUTIONS = ".distributions."
# What is made by functions of TensorFlow that are no ops.
_NO_TENSORS = ("initializer", "regularizer", "template", "scope", "optimizer", "saver")


@dataclass(slots=True)
class _Known:
    """What was found of classes, by the names of methods and attributes, and how far it went."""

    read: dict[tuple[ast.ClassDef, str, int], str] = field(default_factory=dict)
    kept: dict[tuple[ast.ClassDef, str, int], bool] = field(default_factory=dict)
    handed: dict[tuple[NamedFunction, str, int], bool] = field(default_factory=dict)


def _known(_: Project) -> _Known:
    return _Known()


@dataclass(frozen=True, slots=True)
class KeptResults:
    """Looks at classes in sight, in whichever files they stand."""

    project: Project
    tracer: Tracer

    def gives_kept(self, view: View, method: Path) -> bool:
        """Whether ``method``, of an object that is no ``self``, reads what networks gave before."""
        return self._gives(view, method, _DEPTH)

    def read_by(self, unit: Unit, cls: ast.ClassDef, method: str) -> str:
        """The attribute with such a result that the method of the class reads, or ''."""
        return self._read(unit, cls, method, _DEPTH)

    def inherited(self, view: View, method: str) -> str:
        """The attribute with such a result that ``self.method``, of another file, reads; or ''."""
        return self._read(view.unit, view.cls, method, _DEPTH) if view.cls is not None else ""

    def keeps(self, view: View, name: str) -> bool:
        """Whether ``self.name`` holds what networks gave."""
        if view.cls is None:
            return False
        return self.is_kept_by(view.unit, view.cls, name)

    def is_kept_by(self, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
        """Whether an object of the class holds under the name what networks gave."""
        return self._is_kept(list(self._lineage(unit, cls)), name, _DEPTH)

    def kept_of(
        self, view: View, owner: Path, steps: Sequence[str], names: frozenset[str], whole: bool
    ) -> str:
        """Which of ``names`` networks gave an object that ``steps`` lead to from ``owner``.

        Or which of its methods reads such a result. Empty where there is none. ``whole``: which
        parts are read when is not told, so that only what constructors give counts.
        """
        found = instances(self.project, view, owner).classes
        if len(owner) == 2 and view.cls is not None:
            found += self._parts(list(self._lineage(view.unit, view.cls)), owner[1].lstrip("."))
        for step in steps:
            if any(self.is_kept_by(*each, step) for each in found):
                return step  # ``self.pi.dist.prob(a)``: whatever is asked of it
            found = [c for each in found for c in self._parts(list(self._lineage(*each)), step)]
        return next(
            (
                name
                for name in sorted(names)
                if any(
                    self.is_kept_by(*each, name) or self.read_by(*each, name)
                    for each in found
                    if not whole or self._is_given_by_constructor(*each, name)
                )
            ),
            "",
        )

    def _is_given_by_constructor(self, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
        """Whether an object has the attribute once it is made, by what its constructor shows."""
        return any(
            getattr(self.project.scope_of(home, value), "name", "__init__") == "__init__"
            for home, each in self._lineage(unit, cls)
            for value in (*assigned_in(home, each).get(name, ()), *given_in_body(each, name))
            if not isinstance(value, ast.Constant)
        )

    def asks_for_result(self, view: View, value: ast.expr) -> bool:
        """Whether ``value``, or what its name was given, is such a result that an object kept."""
        made = origins(view.flow.uses_in(value)) if path_of(value) is not None else frozenset()
        for each in (value, *(d.value for d in made)):
            match each:
                case ast.Call(func=ast.Attribute() as asked) | (ast.Attribute() as asked):
                    name, found = asked.attr, instances_of(self.project, view, asked.value).classes
                    if any(self.is_kept_by(*c, name) or self.read_by(*c, name) for c in found):
                        return True
        return False

    def is_result(self, view: View, value: ast.expr) -> bool:
        """Whether ``value``, of the scope of ``view``, is a tensor that networks gave."""
        return self._is_result(view, value, _DEPTH)

    def _gives(self, view: View, method: Path, depth: int) -> bool:
        owner, name = method[:-1], method[-1].lstrip(".")
        if not owner or not depth or not name:
            return False
        found = instances(self.project, view, owner).classes
        return any(self._read(*each, name, depth - 1) for each in found)

    def _read(self, unit: Unit, cls: ast.ClassDef, name: str, depth: int) -> str:
        """What the method, and those of its object that it calls, read and do not set."""
        # Objects that all have each other are led to in as many ways as there are rows of them.
        known, key = self.project.once(_known).read, (cls, name, depth)
        if key not in known:
            known[key] = self._look_into(unit, cls, name, depth)
        return known[key]

    def _look_into(self, unit: Unit, cls: ast.ClassDef, name: str, depth: int) -> str:
        lineage = list(self._lineage(unit, cls))
        read: dict[str, None] = {}
        given: set[str] = set()
        pending = [*RUN_WHEN_CALLED] if name == "__call__" else [name]
        met: set[ast.AST] = set()
        upward = set[str]()
        while pending:
            each = pending.pop(0)
            found = methods_of(lineage, each, each in upward)
            if not found:
                read[each] = None
            for home, method in found:
                if method in met:
                    continue
                met.add(method)
                if each != name and self._remembers_result(home, method, depth):
                    return each
                given |= filled_by(method)
                me = self.project.view(home, method).kinds.self_name
                pending += sorted(read_of_whole(self.project, lineage, home, method, me))
                for node in (looked_up(n) or n for n in walk(method)):
                    if not isinstance(node, ast.Attribute):
                        continue
                    if leads_up(lineage, node.value):
                        upward.add(node.attr)
                        pending.append(node.attr)
                    elif path_of(node.value) == (me,):
                        if isinstance(node.ctx, ast.Load):
                            pending.append(node.attr)
                        else:
                            given.add(node.attr)
        kept = [each for each in read if each not in given and met]
        first = next((each for each in kept if self._is_kept(lineage, each, depth)), "")
        if first or depth <= 0:
            return first
        called = {name for method in met for name in called_in(method)}
        named = {n.attr for method in met for n in walk(method) if isinstance(n, ast.Attribute)}
        for each in kept:
            for unit_, part in self._parts(lineage, each):
                if any(self._read(unit_, part, name, depth - 1) for name in sorted(called)):
                    return each
                below = list(self._lineage(unit_, part))
                if any(self._is_kept(below, name, depth - 1) for name in sorted(named)):
                    return each
        return ""

    def _remembers_result(self, unit: Unit, method: NamedFunction, depth: int) -> bool:
        """Whether a method gives again what networks gave when it was first asked: ``@lazy``."""
        if not self.project.effects(unit).remembers(method):
            return False
        view = self.project.view(unit, method)
        values = (end.value for end in view.flow.returns)
        return any(self._is_result(view, each, depth) for each in values if each is not None)

    def _parts(self, lineage: list[Class], name: str) -> Iterator[Class]:
        """The classes of what an object of the class makes, and keeps under the name."""
        for unit, cls in lineage:
            for value in (*assigned_in(unit, cls).get(name, ()), *_put(unit, cls, name)):
                view = self.project.view(unit, self.project.scope_of(unit, value))
                for each in elements_of(value):
                    if isinstance(each, ast.Call):
                        yield from instances_of(self.project, view, each).classes

    def _is_kept(self, lineage: list[Class], name: str, depth: int) -> bool:
        """Whether an object of the class keeps a result under the name."""
        known, key = self.project.once(_known).kept, (lineage[0][1], name, depth)
        if key not in known:
            known[key] = any(
                self._is_result(self.project.view(home, self.project.scope_of(home, v)), v, d)
                for home, cls in lineage
                for v in (
                    *assigned_in(home, cls).get(name, ()),
                    *_put(home, cls, name),
                    *given_in_body(cls, name),
                )
                if (d := depth - 1) > 0
            )
        return known[key]

    def _is_result(self, view: View, value: ast.expr, depth: int) -> bool:
        """Whether the value is a tensor that networks, or what may be such, gave."""
        if depth <= 0:
            return False
        match value:
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.ListComp():
                return any(self._is_result(view, each, depth) for each in elements_of(value))
            case ast.IfExp():
                return any(self._is_result(view, e, depth) for e in (value.body, value.orelse))
            case ast.Lambda():
                defaults = [d for d in value.args.kw_defaults if d is not None]
                inside = [*value.args.defaults, *defaults, value.body]
                return any(self._is_result(view, each, depth) for each in inside)
            case ast.BinOp():
                operands = [value.left, value.right]
                computed = self.tracer.value(view, value).network
                return (
                    computed
                    or self._names_variables(view, value)
                    or any(self._is_result(view, each, depth) for each in operands)
                )
            case ast.UnaryOp():
                variables = self._names_variables(view, value)
                return variables or self._is_result(view, value.operand, depth)
            case ast.Subscript():
                return self._is_result(view, value.value, depth)
            case ast.Attribute(value=ast.Call() as made):
                found = instances_of(self.project, view, made).classes
                return any(self._is_kept([*self._lineage(*c)], value.attr, depth) for c in found)
            case ast.Name() | ast.Attribute():
                return self._named(view, value, depth)
            case ast.Call():
                return self._called(view, value, depth)
        return False

    def _named(self, view: View, value: ast.expr, depth: int) -> bool:
        for made in origins(view.flow.uses_in(value)):
            if made.kind is Kind.ASSIGN and made.value is not None:
                if self._is_result(view, made.value, depth - 1):
                    return True
            elif made.kind is Kind.ENTRY and len(made.path) == 2:
                if made.path[0] == view.kinds.self_name and view.cls is not None:
                    lineage = list(self._lineage(view.unit, view.cls))
                    if self._is_kept(lineage, made.path[1].lstrip("."), depth - 1):
                        return True
            elif made.kind is Kind.PARAM and len(made.path) == 1:
                if self._is_handed(view, made, depth - 1):
                    return True
        return False

    def _is_handed(self, view: View, parameter: Def, depth: int) -> bool:
        """Whether who makes the object hands such a result to its constructor."""
        scope = view.scope
        if view.cls is None or not isinstance(scope, NamedFunction) or scope.name != "__init__":
            return False
        known, key = self.project.once(_known).handed, (scope, parameter.path[0], depth)
        if key not in known:
            known[key] = self._hands(view, view.cls, scope, parameter.path[0], depth)
        return known[key]

    def _hands(
        self, view: View, cls: ast.ClassDef, scope: NamedFunction, name: str, depth: int
    ) -> bool:
        for site in of_class(self.project, view.unit, cls).calls:
            given = argument_for(site.call, scope, name, True)
            if given is not None:
                passed = any(given is each for each in arguments_of(site.call))
                at, node = (site.unit, site.call) if passed else (view.unit, scope)
                caller = self.project.view(at, self.project.scope_of(at, node))
                if self._is_result(caller, given, depth):
                    return True
        return False

    def _called(self, view: View, call: ast.Call, depth: int) -> bool:
        name = (path_of(call.func) or ("",))[-1].lstrip(".")
        if self._holds_what_it_is_handed(view, call):
            return any(self._is_result(view, each, depth - 1) for each in arguments_of(call))
        library = view.unit.names.qualified(call.func)
        if library is not None:
            if _DISTRIBUTIONS in library and names_class(name):
                return any(self._is_result(view, each, depth - 1) for each in arguments_of(call))
            if names_class(name) or name.endswith(_NO_TENSORS):
                return False
            if view.kinds.make(call) is not Make.TENSOR:
                return False
            traced = self.tracer.value(view, call)
            if traced.network or traced.calls or self._names_variables(view, call):
                return True
            return any(self._is_result(view, each, depth - 1) for each in call.args)
        path = path_of(call.func)
        if path is not None and path[:-1] == (view.kinds.self_name,):
            return self._own_gives(view, name, depth)
        function = view.kinds.called(call)
        if function is not None:
            inner = self.project.view(view.unit, function)
            ends = [end for end in inner.flow.returns if end.value is not None]
            return any(self._is_result(inner, end.value, depth - 1) for end in ends if end.value)
        if path is None or len(path) < 2:
            return False
        return self._gives(view, path, depth - 1) or self._computes(view, path, depth - 1)

    def _names_variables(self, view: View, value: ast.expr) -> bool:
        """Whether variables of the module stand there, of which no flow may tell."""
        own = frozenset() if isinstance(view.scope, ast.Module) else view.flow.own_names
        names = {n.id for n in walk(value) if isinstance(n, ast.Name)} - own
        return any(names_variables(self.project, view.unit, name) for name in names)

    def _own_gives(self, view: View, name: str, depth: int) -> bool:
        """Whether a method of the object, here or in a subclass, gives a result."""
        if view.cls is None:
            return False
        found = [*self._lineage(view.unit, view.cls), *beside(self.project, view.cls)]
        inside = (self.project.view(unit, method) for unit, method in methods_of(found, name, True))
        ends = ((inner, end.value) for inner in inside for end in inner.flow.returns)
        for at, end in ends:
            # Of several that are unpacked, it is not told which one is kept.
            parts = end.elts if isinstance(end, ast.Tuple) else [end] if end is not None else []
            if parts and all(self._is_result(at, each, depth - 1) for each in parts):
                return True
        return False

    def _holds_what_it_is_handed(self, view: View, call: ast.Call) -> bool:
        """Whether the call makes a container, or an object of a class that is no library's."""
        name = (path_of(call.func) or ("",))[-1].lstrip(".")
        path = view.unit.names.qualified(call.func)
        if name in _HOLDING:
            return path is None or not path.startswith("tensorflow")
        return names_class(name) and not is_of_library(path or ".")

    def _computes(self, view: View, path: Path, depth: int) -> bool:
        """Whether the method of another object gives a result."""
        if depth <= 0:
            return False
        for unit, cls in instances(self.project, view, path[:-1]).classes:
            home, method = method_of(list(self._lineage(unit, cls)), path[-1].lstrip("."))
            if home is not None and method is not None:
                inner = self.project.view(home, method)
                for end in inner.flow.returns:
                    if end.value is not None and self._is_result(inner, end.value, depth):
                        return True
        return False

    def _lineage(self, unit: Unit, cls: ast.ClassDef) -> Iterator[Class]:
        return above(self.project, unit, cls)


def above(project: Project, unit: Unit, cls: ast.ClassDef) -> Iterator[Class]:
    """The class and those above it, in whichever files."""
    pending, seen = [(unit, cls)], {cls}
    while pending:
        home, current = pending.pop(0)
        yield home, current
        for base in bases(current):
            found = [each for each in classes(project).named(base) if each[1] not in seen]
            seen |= {each for _, each in found}
            pending += found


def _put(unit: Unit, cls: ast.ClassDef, name: str) -> list[ast.expr]:
    """What methods put into a dict or list by a key: ``self.layers["out"] = self.decode(z)``."""
    return put_by_class(unit, cls).get(name, [])


def elements_of(value: ast.expr) -> list[ast.expr]:
    """What is listed, where it is written out; else the value itself."""
    match value:
        case ast.List() | ast.Tuple() | ast.Set():
            return value.elts
        case ast.Dict():
            return value.values
        case ast.ListComp():
            return [value.elt]
    return [value]


def called_in(method: ast.AST) -> Iterator[str]:
    """The names of the methods that are called there; objects may be called as well."""
    for node in walk(method):
        if isinstance(node, ast.Call):
            yield "__call__"
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr


def methods_of(
    lineage: list[Class], name: str, inherited: bool
) -> list[tuple[Unit, NamedFunction]]:
    """The method of that name, and, where they may run as well, those that it overrides."""
    found = [
        (unit, stmt)
        for unit, cls in lineage
        for stmt in cls.body
        if isinstance(stmt, NamedFunction) and stmt.name == name
    ]
    return found if inherited else found[:1]


def leads_up(lineage: list[Class], owner: ast.expr) -> bool:
    """Whether it is a class of ``lineage``: ``super().forward(x)``, ``Base.forward(self, x)``."""
    return is_super(owner) or path_of(owner) in {(cls.name,) for _, cls in lineage}


def method_of(lineage: list[Class], name: str) -> tuple[Unit, NamedFunction] | tuple[None, None]:
    """The method of that name, of the first of the classes that has one, and its file."""
    for unit, cls in lineage:
        for stmt in cls.body:
            if isinstance(stmt, NamedFunction) and stmt.name == name:
                return unit, stmt
    return None, None

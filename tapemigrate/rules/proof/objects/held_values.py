"""What values have to do with variables: one of them, made of them, or of neither.

Everything counts as made of them that is not seen to be a variable, an object, or made of none.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.fixpoint import Fixpoint
from tapemigrate.flow.functions import NamedFunction, free_names, parameters, shared_names
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import assigned_in, given_in_body
from tapemigrate.rules.callgraph.callers import of_class
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.descriptors import is_descriptor
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import (
    Class,
    above,
    method_of,
)
from tapemigrate.rules.proof.objects.holding import Held, of_object, of_op
from tapemigrate.rules.proof.objects.meant_functions import MeantFunctions, Place
from tapemigrate.rules.proof.objects.passed_objects import objects_passed
from tapemigrate.rules.unseen.collected import ASKING, is_harmless
from tapemigrate.rules.unseen.reasons import LOOKING_UP
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.objects.attributes import contents
from tapemigrate.rules.values.objects.put_in import put_in_by_methods, put_in_by_others
from tapemigrate.rules.values.objects.unnamed import is_set_without_name
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import gives_no_tensors

# What is made by functions of TensorFlow that are no ops.
_NO_TENSORS = ("initializer", "regularizer", "scope", "optimizer", "saver")
_WITH_TENSORS = ("tensorflow", "keras", "sonnet")
_VARIABLE = (Make.VARIABLE, Make.FROZEN)
_VARIABLES = (Make.VARIABLES, Make.ANY_VARIABLES)
_BUILTIN = frozenset(dir(builtins))
# The methods of Keras' layers that make them.
_WEIGHTS = frozenset({"add_weight", "add_variable"})
_HOLDING = frozenset(
    {"dict", "list", "tuple", "set", "zip", "sorted", "reversed", "enumerate", "filter"}
    | {"partial", "deque", "OrderedDict", "iter", "next", "getattr"}
    | {"_replace"}
)
# The methods of queues, readers and iterators that give what was put into them.
_TAKING_OUT = frozenset({"dequeue", "dequeue_many", "dequeue_up_to", "get_next", "read"})
_CODE = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)


class _Attribute(NamedTuple):
    cls: ast.ClassDef
    name: str


class _Function(NamedTuple):
    place: Place


class _Made(NamedTuple):
    place: Place
    made: Def


class _Maker(NamedTuple):
    """What the called function was made of, where the call hands it what holds ``given``."""

    place: Place
    call: ast.Call
    given: tuple[Held, ...]


_Key = _Attribute | _Function | _Made | _Maker


class HeldValues:
    """Looks through functions, classes and modules, at each definition once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._homes: dict[ast.ClassDef, Unit] = {}
        self._functions = MeantFunctions(project, self._homes)
        self._held = Fixpoint[_Key, Held](Held.NOTHING, max)
        self._numbers: dict[Def, bool] = {}

    # -- attributes -----------------------------------------------------------------------------

    def attribute(self, unit: Unit, cls: ast.ClassDef, name: str) -> Held:
        """What an object of the class holds under the name."""
        self._homes[cls] = unit
        return self._held.of(_Attribute(cls, name), self._work_out)

    def given_by(self, function: View) -> Held:
        """What a function gives, whatever it is handed."""
        return self._held.of(_Function(Place(function, None)), self._work_out)

    def of_class(self, unit: Unit, cls: ast.ClassDef, view: View, value: ast.expr) -> Held:
        """What an expression gives in a scope of the class, which stands in ``unit``."""
        self._homes[cls] = unit
        return self._value(Place(view, cls), value)

    def _work_out(self, key: _Key) -> Held:
        if isinstance(key, _Attribute):
            return self._attribute(key)
        if isinstance(key, _Made):
            return self._made(*key)
        if isinstance(key, _Maker):
            return max(self._made_from(*key), default=Held.NOTHING)
        return self._given_back(key.place)

    def _attribute(self, key: _Attribute) -> Held:
        cls, name = key
        unit = self._homes[cls]
        lineage = list(above(self._project, unit, cls))
        held = [Held.NOTHING]
        met: set[ast.expr] = set()
        for home, each in lineage:
            view = self._in_class(home, each)
            values: list[tuple[View, ast.expr]] = [
                (self._project.view(home, self._project.scope_of(home, value)), value)
                for value in (
                    *assigned_in(home, each).get(name, ()),
                    *self._project.foreign_stores(home, each, name),
                    *given_in_body(each, name),
                )
            ]
            if view is not None:
                values += (
                    (self._project.view(there, self._project.scope_of(there, value)), value)
                    for there, value in contents(self._project, view, name)
                )
                values += put_in_by_methods(self._project, view, name)
                values += put_in_by_others(self._project, view, name)
            for inner, value in values:
                if value not in met:
                    met.add(value)
                    given = self._value(Place(inner, cls), value)
                    unsure = given is not Held.NOTHING and _may_be_put(inner.unit, value)
                    held.append(Held.UNKNOWN if unsure else given)
                    if isinstance(inner.unit.parents.get(value), ast.AugAssign):
                        held.append(of_op(held))
            if is_descriptor(self._project, each, name):
                met |= set(given_in_body(each, name))
                held.append(Held.UNKNOWN)
            unnamed = view is not None and not met and is_set_without_name(self._project, each)
            if unnamed or set_by_text(self._project, home, name):
                held.append(Held.UNKNOWN)
        if not met:
            held += self._field(lineage, name)
            # A class without methods has what those above it set by its name.
            if any(is_set_without_name(self._project, each) for _, each in lineage):
                held.append(Held.UNKNOWN)
        if not met and classes(self._project).has_unseen_bases(unit, cls):
            held.append(Held.UNKNOWN)
        if not met and method_of(lineage, "__getattr__")[1] is not None:
            held.append(Held.UNKNOWN)
        return max(held)

    def _field(self, lineage: list[Class], name: str) -> Iterator[Held]:
        """What is passed for a field that a dataclass declares, where its objects are made."""
        fields = list(dict.fromkeys(f for _, cls in reversed(lineage) for f in _fields(cls)))
        for site in of_class(self._project, *lineage[0]).calls if name in fields else ():
            place = self._in(
                self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            )
            passed = {k.arg: k.value for k in site.call.keywords}
            passed |= dict(zip(fields, site.call.args, strict=False))
            yield self._value(place, passed.get(name))

    def _in_class(self, unit: Unit, cls: ast.ClassDef) -> View | None:
        first = next((s for s in cls.body if isinstance(s, NamedFunction)), None)
        return None if first is None else self._project.view(unit, first)

    # -- values ---------------------------------------------------------------------------------

    def _in(self, view: View) -> Place:
        """A scope of a method of an object of its own class."""
        if view.cls is not None:
            self._homes[view.cls] = view.unit
        return Place(view, view.cls)

    def _value(self, place: Place, value: ast.expr | None) -> Held:
        if value is None:
            return Held.NOTHING
        made = place.view.kinds.make(value)
        if made in (Make.PYTHON, Make.LEAF):
            return Held.NOTHING
        if made in _VARIABLES:
            return Held.OBJECTS
        if made in _VARIABLE and isinstance(value, ast.Call):
            return Held.VARIABLE
        each = partial(self._value, place)
        match value:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return Held.NOTHING
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return of_object(map(each, parts))
            case ast.Dict(values=parts):
                return of_object(map(each, parts))
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
                return of_object([each(part)])
            case ast.DictComp(value=part):
                return of_object([each(part)])
            case ast.IfExp(body=one, orelse=other):
                return max(each(one), each(other))
            case ast.BoolOp(values=parts):
                return max(map(each, parts))
            case ast.NamedExpr(value=part) | ast.Starred(value=part):
                return each(part)
            case ast.BinOp(left=one, right=other):
                if isinstance(one, ast.List) or isinstance(other, ast.List):
                    return max(each(one), each(other))
                return of_op([each(one), each(other)])
            case ast.UnaryOp(operand=part):
                return of_op([each(part)])
            case ast.Lambda():
                return self._captured(place, value)
            case ast.Call():
                return self._call(place, value)
            case ast.Subscript():
                whole = each(value.value)
                return Held.COMPUTED if whole is Held.VARIABLE else whole
            case ast.Name() | ast.Attribute():
                return self._named(place, value)
        return Held.UNKNOWN

    def _captured(self, place: Place, value: ast.Lambda) -> Held:
        """A function, as a value, holds what it captures, and its defaults."""
        found = [self._definition(place, d) for d in _met(place.view.flow.uses_in(value))]
        found += self._given_later(place, free_names(value))
        found += self._defaults(place, value.args)
        return max((h for h in found if h >= Held.UNKNOWN), default=Held.OBJECTS)

    def _defaults(self, place: Place, args: ast.arguments) -> list[Held]:
        """What defaults hold: they are worked out where the function is made."""
        return [self._value(place, each) for each in (*args.defaults, *args.kw_defaults)]

    def _named(self, place: Place, value: ast.Name | ast.Attribute) -> Held:
        view, path = place.view, path_of(value)
        if path is None:
            inner = self._value(place, value.value) if isinstance(value, ast.Attribute) else None
            return Held.UNKNOWN if inner is None else inner
        if view.unit.names.qualified(value) is not None:
            return Held.NOTHING
        found = _met(view.flow.uses_in(value))
        if not found:
            return Held.NOTHING if path[0] in _BUILTIN else Held.UNKNOWN
        held = max(self._definition(place, d) for d in found)
        if held is Held.VARIABLE and any(len(d.path) < len(path) for d in found):
            return Held.NOTHING if path[-1] in (".shape", ".name", ".dtype") else Held.UNKNOWN
        return held

    def _definition(self, place: Place, made: Def) -> Held:
        return self._held.of(_Made(place, made), self._work_out)

    def _made(self, place: Place, made: Def) -> Held:
        view = place.view
        me = view.kinds.self_name
        if made.kind is Kind.FUNCTION:
            inside = [self._definition(place, d) for d in _met(made.uses) if d is not made]
            if isinstance(made.stmt, NamedFunction):
                inside += self._defaults(place, made.stmt.args)
                inside += self._given_later(place, free_names(made.stmt))
                inside += self._put_there(place, free_names(made.stmt))
            return max((h for h in inside if h >= Held.UNKNOWN), default=Held.OBJECTS)
        if made.path == (me,) or made.kind in _CODE or made.path[0] == HIDDEN[0]:
            return Held.OBJECTS
        if made.kind is Kind.PARAM:
            return self._parameter(place, made.path[0])
        if made.kind is Kind.ENTRY and made.path[0] == me and place.cls is not None:
            return self.attribute(self._homes[place.cls], place.cls, made.path[1].lstrip("."))
        if made.kind is Kind.ENTRY:
            part = self._part(place, made.path)
            return self._outer(place, made.path[0]) if part is None else part
        if made.kind is Kind.MUTATE:
            begun = [d for d in _met(made.before) if d is not made]
            before = [self._definition(place, d) for d in begun]
            if begun and self._begins_as_number(made, place.view):
                return max(before)  # nothing can be put into it
            return max([*before, self._put(place, made)])
        held = self._value(place, made.value)
        if made.kind is Kind.AUGMENT and isinstance(made.stmt, ast.AugAssign):
            earlier = [d for d in _met(view.flow.uses_in(made.stmt.target)) if d is not made]
            both = [held, *(self._definition(place, d) for d in earlier)]
            return max(both) if isinstance(made.value, ast.List) else of_op(both)
        return held

    def _begins_as_number(self, made: Def, view: View) -> bool:
        if made not in self._numbers:
            self._numbers[made] = all(_is_number(d, view) for d in origins(made.before))
        return self._numbers[made]

    def _put(self, place: Place, made: Def) -> Held:
        """What a statement adds to what it changes in place."""
        added = made.value if made.value is not None else getattr(made.stmt, "value", None)
        if not isinstance(added, ast.Call):
            if isinstance(made.stmt, ast.AugAssign):
                return of_op([self._value(place, added)])
            return Held.UNKNOWN if added is None else self._value(place, added)
        own = (made.path, made.path[:-1])
        others = (each for each in arguments_of(added) if path_of(each) not in own)
        given = max((self._value(place, each) for each in others), default=Held.NOTHING)
        if _puts_as_it_is(added):
            return given
        of_it = isinstance(added.func, ast.Attribute) and path_of(added.func.value) in own
        return given if of_it and given is Held.NOTHING else max(given, Held.UNKNOWN)

    def _given_later(self, place: Place, names: frozenset[str]) -> list[Held]:
        """What names of the scope are given, or what they hold is: functions find it at last."""
        made = (d for name in sorted(names) for d in place.view.flow.given(name))
        return [self._definition(place, d) for d in made]

    def _put_there(self, place: Place, names: frozenset[str]) -> Iterator[Held]:
        """What functions of the scope give names of it, or put into what these stand for."""
        for inner in walk(place.view.scope):
            if isinstance(inner, NamedFunction) and inner is not place.view.scope:
                view = self._project.view(place.view.unit, inner)
                for made in view.flow.defs.values():
                    if made.path[0] not in names or made.kind is Kind.ENTRY:
                        continue
                    whole = len(made.path) == 1 and made.kind is not Kind.MUTATE
                    if not whole or made.path[0] in shared_names(inner):
                        yield self._definition(Place(view, place.cls), made)

    def _parameter(self, place: Place, name: str) -> Held:
        if place.given is not None:
            return dict(place.given).get(name, Held.UNKNOWN)
        scope = place.view.scope
        if place.cls is None or not isinstance(scope, NamedFunction) or scope.name != "__init__":
            return Held.UNKNOWN
        sites = of_class(self._project, self._homes[place.cls], place.cls).calls
        held = [Held.NOTHING if sites else Held.UNKNOWN]
        for site in sites:
            value = argument_for(site.call, scope, name, True)
            at = self._project.scope_of(site.unit, site.call)
            passed = value is not None and any(value is a for a in arguments_of(site.call))
            caller = self._project.view(site.unit, at) if passed else place.view
            held.append(self._value(self._in(caller), value))
        return max(held)

    def _part(self, place: Place, path: Path) -> Held | None:
        """What an attribute holds of what a constructor is handed: ``config.batch_size``."""
        if place.given is not None or place.cls is None or len(path) != 2:
            return None
        found = objects_passed(
            self._project, (self._homes[place.cls], place.cls), place.view, path[0]
        )
        held = (self.attribute(*each, path[1].lstrip(".")) for each in found)
        return max(held, default=None) if path[1].startswith(".") else None

    def _outer(self, place: Place, name: str) -> Held:
        """What a name of the module holds, or of a function around."""
        unit = place.view.unit
        module = self._project.view(unit, unit.tree)
        if place.view.scope is unit.tree:
            return Held.NOTHING
        around = outer_definitions(self._project, place.view, (name,))
        if around is not None:
            outer, given = around
            return max(self._definition(Place(outer, place.cls), d) for d in given)
        made = [d for d in module.flow.defs.values() if d.path == (name,)]
        if name in unit.once(filled_state):
            return Held.UNKNOWN
        if not made:
            return Held.NOTHING if name in _BUILTIN else Held.UNKNOWN
        return max(self._definition(Place(module, None), d) for d in made)

    # -- calls ----------------------------------------------------------------------------------

    def _call(self, place: Place, call: ast.Call) -> Held:
        view = place.view
        given = [self._value(place, each) for each in arguments_of(call)]
        path = view.unit.names.qualified(call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = (path or (path_of(call.func) or (last,))[-1]).rpartition(".")[2].lstrip(".")
        if name in LOOKING_UP or (name in ASKING and not is_harmless(call)):
            return Held.UNKNOWN  # what others put into the graph
        if path is not None and (gives_no_tensors(path) or is_of_library(path)):
            if name.endswith(_NO_TENSORS) or gives_no_tensors(path):
                return Held.NOTHING
            if name.endswith("template"):
                return of_object(given)
            if not path.startswith(_WITH_TENSORS):  # ``functools``, ``copy``: it hands them on
                return of_object(given) if any(given) else Held.NOTHING
            if names_class(name):
                return of_object(given)
            if ".layers." in path or ".keras." in path or ".slim." in path:
                return Held.COMPUTED
            return of_op(self._operands(place, arguments_of(call)))
        if name == "map" and len(call.args) > 1:
            function, *over = call.args
            return of_object([self._call(place, ast.Call(function, over, []))])
        if isinstance(call.func, ast.Name) and path is None and name in _BUILTIN | _HOLDING:
            return of_object(given) if name in _HOLDING else of_op(given)
        if name in _HOLDING:
            return of_object(given)
        if name == "reduce" and Held.COMPUTED in given:
            return Held.COMPUTED  # an op of the elements, or a function that reads them
        if names_class(name):
            seen = path is None or classes(self._project).named(name)
            return of_object(given) if seen else Held.UNKNOWN
        if name in _WEIGHTS:
            return Held.VARIABLE
        found = list(self._functions.called(place, call, path, name))
        if not found:
            unseen = self._unseen(place, call, path, given)
            maker = _Maker(place, call, tuple(given))
            return unseen if path else max(unseen, self._held.of(maker, self._work_out))
        return max(self._of_function(inner, call, given, bound) for inner, bound in found)

    def _operands(self, place: Place, values: Iterable[ast.expr]) -> Iterator[Held]:
        """What an op reads: of a list that is written there, its elements, ``[batch, length]``."""
        for each in values:
            if isinstance(each, ast.List | ast.Tuple):
                yield from self._operands(place, each.elts)
            else:
                yield self._value(place, each)

    def _unseen(self, place: Place, call: ast.Call, path: str | None, given: list[Held]) -> Held:
        """What a call gives whose function is not at hand."""
        if isinstance(call.func, ast.Attribute) and path is None:
            given = [*given, self._value(place, call.func.value)]
            if call.func.attr in _TAKING_OUT and not any(given):
                return Held.NOTHING
        return Held.OBJECTS if max(given, default=Held.NOTHING) == Held.NOTHING else Held.UNKNOWN

    def _made_from(self, place: Place, call: ast.Call, given: tuple[Held, ...]) -> Iterator[Held]:
        """What the functions give that the called one was made of: ``tf.make_template("f", f)``."""
        for view, value in self._functions.values_of(place.view, call.func):
            there = Place(view, place.cls)
            parts = arguments_of(value) if isinstance(value, ast.Call) else []
            for each in (value, *parts):
                if isinstance(each, ast.Lambda):
                    yield self._value(there, each.body)
            run = {each: list(self._functions.by_value(there, each)) for each in parts}
            others = [self._value(there, each) for each in parts if not run[each]]
            whole = max([*given, *others], default=Held.NOTHING)
            for inner, bound in (one for found in run.values() for one in found):
                assert isinstance(inner.view.scope, NamedFunction)
                names = [a.arg for a in parameters(inner.view.scope.args)][bound:]
                names += _open_parameters(inner.view.scope)
                passed = tuple(sorted(dict.fromkeys(names, whole).items()))
                yield self._held.of(_Function(inner._replace(given=passed)), self._work_out)

    def _of_function(self, place: Place, call: ast.Call, given: list[Held], bound: bool) -> Held:
        function = place.view.scope
        assert isinstance(function, NamedFunction)
        names = [a.arg for a in parameters(function.args)][bound:]
        whole = max(given, default=Held.NOTHING)
        plain = not any(isinstance(a, ast.Starred) for a in call.args) and all(
            k.arg is not None for k in call.keywords
        )
        passed = dict.fromkeys(names, Held.NOTHING if plain else whole)
        if plain and len(call.args) <= len(names):
            passed |= dict(zip(names, given, strict=False))
            own = {k.arg: h for k, h in zip(call.keywords, given[len(call.args) :], strict=True)}
            passed |= {name: held for name, held in own.items() if name in passed and name}
            passed |= dict.fromkeys(_open_parameters(function), whole)
        else:
            passed = dict.fromkeys(names, whole)
        inner = place._replace(given=tuple(sorted(passed.items())))
        return self._held.of(_Function(inner), self._work_out)

    def _given_back(self, place: Place) -> Held:
        ends = [end.value for end in place.view.flow.returns]
        if place.view.flow.yields:
            nodes = walk(place.view.scope)
            ends += [n.value for n in nodes if isinstance(n, ast.Yield | ast.YieldFrom)]
        return max((self._value(place, end) for end in ends), default=Held.NOTHING)


def _is_number(made: Def, view: View) -> bool:
    """Whether it is a number or a text that is written out, or reckoned of such."""
    value = made.value
    plain = made.kind is Kind.ASSIGN and isinstance(value, ast.Constant | ast.BinOp | ast.UnaryOp)
    return plain and value is not None and view.kinds.make(value) is Make.PYTHON


def _met(uses: Iterable[Use]) -> list[Def]:
    """The definitions that are used, each once, those that change an object in place among them."""
    return list(dict.fromkeys(use.made for use in uses))


def _may_be_put(unit: Unit, value: ast.expr) -> bool:
    """Whether a call is handed the value that need not put it anywhere: ``Runner(env, h)``."""
    call = unit.parents.get(value)
    if isinstance(call, ast.keyword):
        call = unit.parents.get(call)
    if not isinstance(call, ast.Call) or value is call.func:
        return False
    return not _puts_as_it_is(call)


def _puts_as_it_is(call: ast.Call) -> bool:
    """Whether the call puts what it is handed into an object, and computes nothing of it."""
    return (path_of(call.func) or ("",))[-1].lstrip(".") in CHANGERS | {"setattr"}


def _fields(cls: ast.ClassDef) -> Iterator[str]:
    """The names that the body of a class annotates."""
    for stmt in cls.body:
        if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name):
            yield stmt.target.id


def _open_parameters(function: NamedFunction) -> Iterator[str]:
    """``*args`` and ``**kwargs``."""
    yield from (a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None)

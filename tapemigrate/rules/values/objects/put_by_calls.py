"""What a call puts into a list, a dict or an object that it is handed, or reads outside of itself.

``Net(sizes)`` hands in a list that was there before: who is handed it may fill it, or keep it for
others to fill. Where all that has it is at hand, that is read, through files and constructors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.functions import (
    Function,
    NamedFunction,
    Scope,
    free_names,
    is_static,
    parameters,
)
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.common_to_all import is_container
from tapemigrate.rules.values.containers.tensors_looked_up import only_looks_up_tensors
from tapemigrate.rules.values.objects.put_in import put_in_by_methods, put_in_by_others
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import puts_nothing

# Through how many functions it is followed.
_DEPTH = 6
_SETTING = frozenset({"setattr", "delattr", "vars"})

# Whether an expression is what is looked for, by itself and not as a part.
_Is = Callable[[ast.expr], bool]
# A function that may be called, where it stands, and whether it has an object in front.
_Callee = tuple[Unit, NamedFunction, bool]


@dataclass(slots=True)
class Put:
    """The ``values`` that may be put in, and whether something else may be, ``unseen``."""

    values: list[tuple[View, ast.expr]] = field(default_factory=list)
    unseen: bool = False


def put_by(project: Project, view: View, made: Def) -> Put | None:
    """What the call that changed ``made`` in place puts in; None where no call is looked into."""
    call = made.value
    if made.kind is not Kind.MUTATE or not isinstance(call, ast.Call):
        return None
    if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGERS:
        return None  # what it is handed is put in
    if len(made.path) == 2 and made.path[0] == view.kinds.self_name and view.cls is not None:
        return put_in_attribute(project, view, made.path[1].lstrip("."))
    if len(made.path) != 1 or not any(
        may_be_container(view, d.value) for d in origins([Use(made)])
    ):
        return None
    name = made.path[0]
    return _kept(project, (view.scope, call, name), lambda look: look.of(view, call, name))


def put_in_name(project: Project, module: View, name: str) -> Put:
    """What objects put in that functions of a file hand it to, where a name of the module holds it.

    What the functions put in themselves is told by what they change.
    """
    if not any(may_be_container(module, d.value) for d in module.flow.given(name)):
        return Put()
    return _kept(project, (module.scope, name), lambda look: look.of_module(module, name))


def put_in_attribute(project: Project, view: View, name: str) -> Put:
    """The same where ``self.name`` holds it."""
    assert view.cls is not None
    given = attribute_values(project, view, name)
    scopes = (project.view(view.unit, project.scope_of(view.unit, value)) for value in given)
    if not any(map(may_be_container, scopes, given)):
        return Put()
    return _kept(project, (view.cls, name), lambda look: look.of_attribute(view, name))


def put_in_argument(project: Project, caller: View, given: ast.expr, view: View, name: str) -> Put:
    """What a function puts in by its calls that is handed it as the parameter ``name``."""
    if not may_be_container(caller, given) or only_looks_up_tensors(caller, given, view, name):
        return Put()
    return _kept(project, (view.scope, name), lambda look: look.of_parameter(view, name))


def _kept(project: Project, key: object, found: Callable[[_Look], Put]) -> Put:
    known = project.once(_known)
    if key not in known:
        known[key] = found(_Look(project))
    return known[key]


def _known(_: Project) -> dict[object, Put]:
    return {}


def may_be_container(view: View, value: ast.expr | None) -> bool:
    """Whether the value may be a list, a dict or a set that is made in sight."""
    pending = [value] if value is not None else []
    for each in pending:  # which grows meanwhile
        further: list[ast.expr] = []
        match each:
            case _ if is_container(each):
                return True
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
                further = [one, other]
            case ast.BoolOp(values=parts):
                further = parts
            case ast.Name():
                made = origins(view.flow.uses_in(each))
                further = [d.value for d in made if d.value is not None]
        pending += [part for part in further if part not in pending]
    return False


class _Look:
    """Follows one list, dict or object to all that has it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._put = Put()
        self._seen: set[object] = set()
        # Whether what is put in counts where the code at hand runs, and not only in constructors
        # and other files.
        self._counts = True

    def of(self, view: View, call: ast.Call, name: str) -> Put:
        self._called(view, call, _named({name}), _DEPTH)
        self._all_functions(view.unit, name)
        return self._put

    def of_module(self, module: View, name: str) -> Put:
        self._counts = False
        self._names(module, {name}, _DEPTH)
        self._all_functions(module.unit, name)
        return self._put

    def of_attribute(self, view: View, name: str) -> Put:
        self._counts = False
        self._kept(view, name, _DEPTH)
        return self._put

    def of_parameter(self, view: View, name: str) -> Put:
        self._names(view, {name}, _DEPTH)
        return self._put

    def _all_functions(self, unit: Unit, name: str) -> None:
        """Functions that have the name from outside, of the module or of a function around."""
        for scope in (*unit.nodes(ast.FunctionDef), *unit.nodes(ast.Lambda)):
            if isinstance(scope, Function) and name in free_names(scope):
                self._names(self._project.view(unit, scope), {name}, _DEPTH)

    def _add(self, values: Iterable[tuple[View, ast.expr]]) -> None:
        if self._counts:
            self._put.values += values

    def _unseen(self, is_so: bool = True) -> None:
        self._put.unseen |= is_so and self._counts

    def _called(self, view: View, call: ast.Call, it: _Is, depth: int) -> None:
        """``call`` may be handed what is looked for."""
        given = [*call.args, *(k.value for k in call.keywords)]
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        on_it = owner is not None and _carries(owner, it)
        if not on_it and not any(_carries(each, it) for each in given):
            return
        if isinstance(call.func, ast.Name) and call.func.id in _SETTING:
            self._add((view, each) for each in call.args[2:])
            self._unseen(call.func.id == "vars")
            return
        if on_it and isinstance(call.func, ast.Attribute) and call.func.attr in CHANGERS:
            self._add((view, each) for each in given)
            return
        if puts_nothing(view.unit.names, call):
            return
        callees = self._callees(view, call)
        if callees is None or depth == 0:
            self._unseen()
            return
        for unit, function, bound in callees:
            named = _parameters_given(call, function, bound, it)
            if named is None:
                self._unseen()
                continue
            if on_it:
                named |= {a.arg for a in function.args.args[:1]}
            if named:
                # What functions of the same file put in is told by what they change.
                away = function.name == "__init__" or unit is not view.unit
                counted, self._counts = self._counts, self._counts or away
                self._names(self._project.view(unit, function), named, depth - 1)
                self._counts = counted

    def _names(self, view: View, names: set[str], depth: int) -> None:
        """A function has it by these names."""
        names = _other_names(view.scope, names)
        key = (view.scope, frozenset(names), self._counts)
        if key not in self._seen:
            self._seen.add(key)
            self._used(view, list(walk(view.scope)), _named(names), depth)

    def _used(self, view: View, nodes: list[ast.AST], it: _Is, depth: int) -> None:
        called = {n.func for n in nodes if isinstance(n, ast.Call)}
        for node in nodes:
            match node:
                case ast.Call():
                    self._called(view, node, it, depth)
                case ast.Attribute(value=value, attr=attr) if (
                    attr in CHANGERS and node not in called and _carries(value, it)
                ):
                    self._unseen()  # ``map(rows.append, found)``
                case ast.Assign(targets=targets, value=value):
                    self._assigned(view, targets, value, it, depth)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assigned(view, [target], value, it, depth)
                case ast.AugAssign(target=target, value=value) if _carries(target, it):
                    self._add([(view, value)])
                case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                    self._unseen(_carries(value, it))
                case ast.YieldFrom(value=value) | ast.NamedExpr(value=value):
                    self._unseen(_carries(value, it))
                case ast.For(target=ast.Attribute() | ast.Subscript() as target):
                    self._unseen(_carries(target, it))

    def _assigned(
        self, view: View, targets: list[ast.expr], value: ast.expr, it: _Is, depth: int
    ) -> None:
        for target in targets:
            for each in walk(target):
                if not isinstance(each, ast.Attribute | ast.Subscript):
                    continue
                if isinstance(each.ctx, ast.Load):
                    continue
                if _carries(each.value, it):
                    self._add([(view, value)])
                if not _carries(value, it):
                    continue
                path = path_of(each)
                kept = path is not None and len(path) == 2 and isinstance(each, ast.Attribute)
                if kept and path is not None and path[0] == view.kinds.self_name and view.cls:
                    self._kept(view, path[1].lstrip("."), depth)
                else:
                    self._unseen()

    def _kept(self, view: View, name: str, depth: int) -> None:
        """The object of a class has it as ``name``."""
        assert view.cls is not None
        key = (view.cls, name, self._counts)
        if key in self._seen:
            return
        self._seen.add(key)
        self._add(put_in_by_methods(self._project, view, name))
        self._add(put_in_by_others(self._project, view, name))
        family = set(self._project.family(view.unit, view.cls))
        for unit in self._project.units.having(name):
            scopes: dict[Scope, set[ast.AST]] = {}
            for node in unit.nodes(ast.Attribute):
                if node.attr == name and isinstance(node.ctx, ast.Load):
                    scope = self._project.scope_of(unit, node)
                    there = self._project.view(unit, scope)
                    own = path_of(node.value) == (there.kinds.self_name,)
                    if not own or there.cls in family:
                        scopes.setdefault(scope, set()).add(node)
            for scope, found in scopes.items():
                there = self._project.view(unit, scope)
                nodes = list(walk(scope))
                named = _other_names(scope, set(), found.__contains__)
                self._used(there, nodes, _either(found.__contains__, _named(named)), depth)

    def _callees(self, view: View, call: ast.Call) -> list[_Callee] | None:
        """The functions and constructors that a call may run; None where one is out of sight."""
        func = call.func
        path = view.kinds.name(func)
        if path is not None:
            if is_of_library(path):
                return []
            return self._imported(view, path)
        effects = self._project.effects(view.unit)
        if isinstance(func, ast.Name):
            own = [f for f in effects.functions(func.id) if _is_no_method(view.unit, f)]
            cls = effects.class_named(func.id)
            if cls is not None:
                return self._constructors(view.unit, cls)
            return [(view.unit, f, False) for f in own] or None
        if isinstance(func, ast.Attribute):
            return self._methods(func.attr)
        return None

    def _imported(self, view: View, path: str) -> list[_Callee] | None:
        name = path.rpartition(".")[2]
        found: list[_Callee] = []
        for unit in self._project.units.defining(name):
            for function in self._project.effects(unit).functions(name):
                if _is_no_method(unit, function):
                    if leads_to(self._project, path, view.unit, unit, name) is not False:
                        found.append((unit, function, False))
        for unit, cls in classes(self._project).named(name):
            if leads_to(self._project, path, view.unit, unit, name) is not False:
                made_by = self._constructors(unit, cls)
                if made_by is None:
                    return None
                found += made_by
        return found or None

    def _constructors(self, unit: Unit, cls: ast.ClassDef) -> list[_Callee] | None:
        effects = self._project.effects(unit)
        if any(getattr(stmt, "name", "") == "__new__" for stmt in cls.body) or cls.keywords:
            return None
        made_by = effects.method(cls, "__init__")
        return [(unit, made_by, True)] if made_by is not None else None

    def _methods(self, name: str) -> list[_Callee] | None:
        """Whatever method has the name; an attribute of that name may be anything."""
        if any(self._project.effects(u).kept(name) for u in self._project.units.having(name)):
            return None
        found: list[_Callee] = []
        for unit in self._project.units.defining(name):
            for function in self._project.effects(unit).functions(name):
                found.append((unit, function, not _is_no_method(unit, function)))
        return found or None


def _parameters_given(
    call: ast.Call, function: NamedFunction, bound: bool, it: _Is
) -> set[str] | None:
    """The parameters for which it is passed; None where that cannot be told."""
    plain = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    decorators = [path_of(d) for d in function.decorator_list]
    if any(d not in (("staticmethod",), ("classmethod",), ("property",)) for d in decorators):
        return None
    if bound and not is_static(function):
        plain = plain[1:]
        owner = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
        if owner is not None and names_class(owner[-1]):
            return None  # ``Base.build(self, sizes)``
    found: set[str] = set()
    spread = False
    for place, each in enumerate(call.args):
        spread = spread or isinstance(each, ast.Starred)
        if _carries(each, it):
            if spread or place >= len(plain):
                return None
            found.add(plain[place])
    names = {a.arg for a in parameters(function.args)}
    for keyword in call.keywords:
        if _carries(keyword.value, it):
            if keyword.arg is None or keyword.arg not in names:
                return None
            found.add(keyword.arg)
    return found


def _other_names(scope: ast.AST, names: set[str], it: _Is = lambda node: False) -> set[str]:
    """The names that a function gives to it, or to its elements, too."""
    found = set(names)
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for node in walk(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs += [(target, value) for target in targets]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs.append((target, value))
            case ast.For(target=target, iter=whole) | ast.comprehension(target=target, iter=whole):
                pairs += [(target, each) for each in _gone_through(whole)]
    before = -1
    while len(found) > before:
        before = len(found)
        for target, value in pairs:
            if _carries(value, _either(_named(found), it)):
                stack = [target]
                for each in stack:  # which grows meanwhile
                    if isinstance(each, ast.Name):
                        found.add(each.id)
                    elif isinstance(each, ast.Tuple | ast.List):
                        stack += each.elts
                    elif isinstance(each, ast.Starred):
                        stack.append(each.value)
    return found


def _gone_through(whole: ast.expr) -> Iterator[ast.expr]:
    """What a loop takes its elements from: ``a`` and ``b`` of ``zip(a, b)``."""
    yield whole
    if isinstance(whole, ast.Call):
        yield from whole.args
        if isinstance(whole.func, ast.Attribute):
            yield whole.func.value  # ``scales.values()``


def _named(names: set[str]) -> _Is:
    return lambda node: isinstance(node, ast.Name) and node.id in names


def _either(one: _Is, other: _Is) -> _Is:
    return lambda node: one(node) or other(node)


def _carries(node: ast.expr, it: _Is) -> bool:
    """Whether the value may be what is looked for, a part of it, or something that holds it."""
    if it(node):
        return True
    match node:
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
            return _carries(value, it)
        case ast.NamedExpr(value=value):
            return _carries(value, it)
        case ast.IfExp(body=body, orelse=orelse):
            return _carries(body, it) or _carries(orelse, it)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return any(_carries(each, it) for each in parts)
        case ast.BoolOp(values=parts) | ast.Dict(values=parts):
            return any(_carries(each, it) for each in parts)
        case ast.Lambda():
            return any(isinstance(n, ast.expr) and it(n) for n in walk(node.body))
    return False


def _is_no_method(unit: Unit, function: NamedFunction) -> bool:
    return not isinstance(unit.parents.get(function), ast.ClassDef)

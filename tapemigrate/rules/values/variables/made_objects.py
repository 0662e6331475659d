"""What may have become of an object's variables while it was made: ``net = Net(x)``.

A constructor that computes with them puts aside what no tape that opens later has seen, and one
that is handed another network takes variables over that were in use before.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.classes import bases, classes, is_of_library
from tapemigrate.rules.callgraph.instances import Instances, instances_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import arguments_of, children, kept, walk
from tapemigrate.tape.leaf import Making
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import QUIET
from tapemigrate.tape.ops.syntax import SETTINGS

_Class = tuple[Unit, ast.ClassDef]

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
_VARIABLES = (Make.VARIABLE, Make.FROZEN)
_NUMBERS = (Make.PYTHON, Make.LEAF)
# What a tensor knows of itself.
_STATIC = frozenset({"shape", "dtype", "name", "T", "size", "ndim"})
# Functions of TensorFlow that compute nothing, by how their names end.
_NO_OPS = ("initializer", "regularizer", "scope", "device", "template", "saver", "get_logger")
# What a class of a library has that makes a variable.
_MAKING = frozenset({"add_weight", "add_variable"})
# Built-in functions that compute nothing with what they are handed, nor call it.
_NO_CALLS = frozenset(vars(builtins)) - frozenset(
    {"map", "filter", "eval", "exec", "sum", "getattr", "setattr", "abs", "pow", "max", "min"}
    | {"next", "iter", "__import__", "divmod", "round", "sorted", "reversed"}
)
# Methods of lists, dicts and texts.
_CONTAINED = frozenset(
    {"append", "extend", "add", "insert", "update", "get", "items", "keys", "values", "format"}
    | {"join", "split", "copy", "lower", "upper", "startswith", "endswith", "pop", "setdefault"}
)


def making(project: Project, view: View, made: Def) -> Making:
    """What the making of the object ``made``, in the scope of ``view``, does with variables."""
    if not isinstance(made.value, ast.Call) or made.kind is not Kind.ASSIGN:
        return Making(quiet=False, new=False, seen=False)
    found = instances_of(project, view, made.value)
    new = not _looks_up(project, view, found) and not _is_given(view, made)
    quiet = _Quiet(project).call(view, made.value)
    return Making(quiet, new, bool(found.classes), _computed(project, found))


def _computed(project: Project, found: Instances) -> frozenset[str]:
    """The attributes that every class which it may be of gives what an op has made there."""
    if not found.classes or found.stray or found.other or found.unseen:
        return frozenset()
    parts: list[set[str]] = []
    for made in found.classes:
        given: dict[str, list[bool]] = {}
        for unit, cls in _lineage(project, made):
            for name, values in assigned_in(unit, cls).items():
                given.setdefault(name, []).extend(_is_computed(project, unit, v) for v in values)
        parts.append({name for name, computed in given.items() if all(computed)})
    return frozenset(set.intersection(*parts))


def _is_computed(project: Project, unit: Unit, value: ast.expr) -> bool:
    inner = project.view(unit, project.scope_of(unit, value))
    new = inner.kinds.make(value) in (Make.TENSOR, Make.LEAF, *_VARIABLES)
    return new and not value_may_be(value, inner.flow, inner.kinds)


class _Quiet:
    """Whether calls compute nothing with variables, looked for through classes at hand."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._met: set[ast.AST] = set()

    def call(self, view: View, call: ast.Call) -> bool:
        """Whether the making of an object leaves its variables unread."""
        if is_of_library(view.unit.names.qualified(call.func)):
            return all(self._expression(view, a, True) for a in arguments_of(call))
        found = instances_of(self._project, view, call)
        if not found.classes or found.stray or found.other or found.unseen:
            return False
        # A function that makes one may do more.
        name = (path_of(call.func) or ("",))[-1].lstrip(".")
        return all(each[1].name == name and self._class(each) for each in found.classes)

    def _class(self, made: _Class) -> bool:
        unit, cls = made
        if cls in self._met:
            return True
        self._met.add(cls)
        if classes(self._project).has_unseen_bases(unit, cls):
            return False
        lineage = list(_lineage(self._project, made))
        if any(each.decorator_list or each.keywords for _, each in lineage):
            return False
        pending = [m for m in _methods(lineage) if m[1].name in _CONSTRUCTORS]
        while pending:
            home, method = pending.pop()
            if method in self._met:
                continue
            self._met.add(method)
            inner = self._project.view(home, method)
            for stmt in method.body:
                if not self._statement(inner, stmt):
                    return False
            used = _own_names(method, inner.kinds.self_name)
            pending += [m for m in _methods(lineage) if m[1].name in used]
        return True

    def _statement(self, view: View, stmt: ast.stmt) -> bool:
        return all(
            self._expression(view, child, False)
            if isinstance(child, ast.expr)
            else self._parts(view, child)
            for child in ([] if isinstance(stmt, ast.AugAssign) else children(stmt))
        ) and (not isinstance(stmt, ast.AugAssign) or self._is_number(view, stmt.value))

    def _parts(self, view: View, node: ast.AST) -> bool:
        """What a statement holds beside expressions: statements, and heads of ``with`` blocks."""
        if isinstance(node, NamedFunction | ast.ClassDef):
            return True  # runs where it is called, and a call of it is none that is known here
        if isinstance(node, ast.stmt):
            return self._statement(view, node)
        return all(
            self._expression(view, child, False)
            if isinstance(child, ast.expr)
            else self._parts(view, child)
            for child in children(node)
        )

    def _expression(self, view: View, node: ast.expr, numbers: bool) -> bool:
        """``numbers``: what is computed with operators there is a size, or the like."""
        match node:
            case ast.Lambda() | ast.Constant():
                return True
            case ast.Call():
                return self._called(view, node)
            case ast.BinOp() | ast.UnaryOp():
                if not numbers and not self._is_number(view, node):
                    return False
            case ast.Subscript(ctx=ast.Load()) if not numbers:
                key = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
                if not key and view.kinds.make(node) is not Make.PYTHON:
                    return False
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
        return all(
            self._expression(view, child, numbers)
            if isinstance(child, ast.expr)
            else self._parts(view, child)
            for child in children(node)
        )

    def _is_number(self, view: View, node: ast.expr) -> bool:
        return view.kinds.make(node) in _NUMBERS

    def _called(self, view: View, call: ast.Call) -> bool:
        make = view.kinds.make(call)
        if make in _VARIABLES:
            return True  # whatever it begins as, no gradient leads through
        func = call.func
        path = path_of(func)
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        qualified = view.unit.names.qualified(func)
        quiet = False
        if qualified is not None and (is_of_library(qualified) or make is Make.PYTHON):
            no_op = names_class(name) or name.lower().endswith(_NO_OPS) or name in _NO_CALLS
            quiet = no_op or make in _NUMBERS
        elif isinstance(func, ast.Name) and not view.kinds.effects.is_own(func.id):
            quiet = func.id in _NO_CALLS or (names_class(name) and self.call(view, call))
        elif path is not None and len(path) == 2 and path[0] == view.kinds.self_name:
            quiet = self._is_method(view, name)
        elif isinstance(func, ast.Attribute) and name in _CONSTRUCTORS:
            quiet = True  # ``super().__init__()``, of a class that is looked at itself
        elif isinstance(func, ast.Attribute) and name in _CONTAINED:
            quiet = not any(True for _ in self._project.units.defining(name))
            quiet = quiet and self._expression(view, func.value, False)
        elif path is not None and names_class(name):
            quiet = self.call(view, call)
        return quiet and all(self._expression(view, a, True) for a in arguments_of(call))

    def _is_method(self, view: View, name: str) -> bool:
        """Whether a method is called that is looked at itself, or makes a variable."""
        assert view.cls is not None
        lineage = list(_lineage(self._project, (view.unit, view.cls)))
        below = classes(self._project).extending(view.cls.name)
        if any(_defines(cls, name) for each in below for _, cls in _named(self._project, each)):
            return False
        own = any(method.name == name for _, method in _methods(lineage))
        return own or name in _MAKING


def _looks_up(project: Project, view: View, found: Instances) -> bool:
    """Whether the variables of the object may be some that were there before."""
    units = [view.unit, *(unit for unit, _ in found.classes)]
    return any(project.effects(unit).reuses_variables for unit in units)


def _is_given(view: View, made: Def) -> bool:
    """Whether it may be given another network, or variables: as it is made, or later."""
    owner = made.path
    for node in walk(view.scope):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            arguments = [part for a in arguments_of(node) for part in _parts_of(a)]
            func = path_of(node.func) or ()
            if node is made.value or func[: len(owner)] == owner:
                given = arguments
            elif any(path_of(part) == owner for part in arguments):
                called_on = [node.func.value] if isinstance(node.func, ast.Attribute) else []
                given = [*arguments, *called_on]
        elif isinstance(node, ast.Assign) and any(_is_part(t, owner) for t in node.targets):
            given = list(_parts_of(node.value))
        if any(path_of(part) != owner and _may_hold(view, part, set()) for part in given):
            return True
    return False


def _is_part(target: ast.expr, owner: Path) -> bool:
    path = path_of(target)
    return path is not None and path[: len(owner)] == owner and path != owner


def _may_hold(view: View, part: ast.expr, seen: set[Def]) -> bool:
    """Whether it may be a network that is used as one in the scope, or variables of such a one."""
    path = path_of(part)
    if path is None:
        return isinstance(part, ast.Call) and view.kinds.make(part) is Make.UNKNOWN
    steps = [step.lstrip(".") for step in path]
    if any(step in SETTINGS for step in steps) or view.unit.names.qualified(part) is not None:
        return False
    for made in origins(view.flow.reads.get(part, frozenset())) - seen:
        seen.add(made)
        if made.kind is Kind.ASSIGN and made.value is not None and made.path == path:
            if _is_one(view, path, made.value, seen):
                return True
        elif _is_used_as_one(view, path) or _is_used_as_one(view, made.path):
            return True
    return False


def _is_one(view: View, path: Path, value: ast.expr, seen: set[Def]) -> bool:
    """The same of what ``path`` was given here."""
    if path_of(value) is not None:
        return _may_hold(view, value, seen)
    if isinstance(value, ast.Call) and view.kinds.makes_object(value):
        return True
    make = view.kinds.make(value)
    return make in _VARIABLES or (make is Make.UNKNOWN and _is_used_as_one(view, path))


def _is_used_as_one(view: View, path: Path) -> bool:
    """Whether it is called in the scope, or one of its methods, or an attribute of it is read."""
    return any(
        (called and not below)
        or (below and below[0].startswith(".") and below[0][1:] not in QUIET | _STATIC)
        for read, called in kept(view.scope, _paths_used).get(path[:1], ())
        if read[: len(path)] == path
        for below in (read[len(path) :],)
    )


def _paths_used(scope: ast.AST) -> dict[Path, set[tuple[Path, bool]]]:
    """By their first steps: the paths that are read, or called."""
    found: dict[Path, set[tuple[Path, bool]]] = defaultdict(set)
    for node in walk(scope):
        if isinstance(node, ast.Attribute | ast.Call):
            called = isinstance(node, ast.Call)
            path = path_of(node.func if isinstance(node, ast.Call) else node)
            if path is not None:
                found[path[:1]].add((path, called))
    return found


def _parts_of(value: ast.expr) -> Iterator[ast.expr]:
    """The value, and what stands in it where it is written out."""
    match value:
        case ast.List() | ast.Tuple() | ast.Set():
            for each in value.elts:
                yield from _parts_of(each)
        case ast.Dict():
            for each in value.values:
                yield from _parts_of(each)
        case ast.Starred():
            yield from _parts_of(value.value)
        case _:
            yield value


def _lineage(project: Project, made: _Class) -> Iterator[_Class]:
    """The class and those above it, in whichever files."""
    pending, seen = [made], {made[1]}
    while pending:
        unit, cls = pending.pop(0)
        yield unit, cls
        for base in bases(cls):
            found = [each for each in _named(project, base) if each[1] not in seen]
            seen |= {each for _, each in found}
            pending += found


def _named(project: Project, name: str) -> list[_Class]:
    return classes(project).named(name)


def _methods(lineage: Iterable[_Class]) -> Iterator[tuple[Unit, NamedFunction]]:
    for unit, cls in lineage:
        for stmt in cls.body:
            if isinstance(stmt, NamedFunction):
                yield unit, stmt


def _defines(cls: ast.ClassDef, name: str) -> bool:
    return any(getattr(stmt, "name", "") == name for stmt in cls.body)


def _own_names(method: NamedFunction, me: str | None) -> set[str]:
    """What the method reads of its object, properties and methods among it."""
    return {
        node.attr
        for node in walk(method)
        if isinstance(node, ast.Attribute) and path_of(node.value) == (me,)
    }

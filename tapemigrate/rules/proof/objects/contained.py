"""Of which classes the objects are that a name stands for, or that lie in what it stands for.

More than ``instances`` tells: elements of lists and dicts, and what another object was made with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.callers import is_class_of
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.descent import means_class
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.callgraph.instances import Finder
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.classes_named import classes_named
from tapemigrate.rules.proof.objects.handed_out import gives_parts
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import INDEPENDENT
from tapemigrate.tape.ops.symbols import gives_no_tensors

_TAKEN = (Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)
_SIZES = ("_size", "_dim", "shape")
_PUTS = frozenset({"append", "add", "insert", "extend", "update", "setdefault"})


@dataclass(slots=True)
class Contents:
    """The classes of objects; ``is_hidden``: one of them is of the user's, and not at hand.

    ``is_unknown``: there may be others, of whichever class.
    """

    classes: list[tuple[Unit, ast.ClassDef]] = field(default_factory=list)
    is_hidden: bool = False
    is_unknown: bool = False
    #: The calls of functions that give it, or a part of it, and where they stand.
    makers: list[tuple[View, ast.Call]] = field(default_factory=list)
    #: Attributes through which it was reached: what is called may be a method, ``net = Net().f``.
    parts: frozenset[str] = frozenset()


def contained(project: Project, view: View, node: ast.expr, inside: Set[ast.AST]) -> Contents:
    """The classes of all objects in ``node`` that are not made ``inside``."""
    finder = _Contents(project, view.unit, inside)
    finder.value(view, node, 0)
    stray = bool(finder.found.stray)
    parts = frozenset(finder.parts)
    return Contents(finder.found.classes, finder.is_hidden, stray, finder.makers, parts)


class _Contents(Finder):
    # Through functions, containers, names and attributes: a few more steps than an object alone.
    depth = 9
    # What is asked of a method's object is taken back in part.
    once = False

    def __init__(self, project: Project, home: Unit, inside: Set[ast.AST]) -> None:
        super().__init__(project, home)
        self._inside = inside
        self.is_hidden = False
        self.makers: list[tuple[View, ast.Call]] = []
        self.parts: set[str] = set()

    def value(self, view: View, value: ast.expr, depth: int) -> None:
        """Follows all that may be in ``value``."""
        if depth and isinstance(value, ast.Attribute):
            self.parts |= {n.attr for n in _steps(value)}
        match value:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                pass
            case ast.Dict(values=parts):
                pass
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
                parts = [part]
            case ast.Subscript() if value in view.flow.reads:
                self._named(view, value, depth)  # ``nets[0]``
                return
            case ast.DictComp(value=part) | ast.Subscript(value=part) | ast.Starred(value=part):
                parts = [part]
            case ast.NamedExpr(value=part):
                parts = [part]
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
                parts = [one, other]
            case ast.BoolOp(values=parts):
                pass
            case ast.Call() if value not in self._inside:
                stray = self.found.stray
                super().value(view, value, depth)
                self._passed(view, value, depth)
                if isinstance(value.func, ast.Attribute):
                    self._asked(view, value.func, depth)
                if view.kinds.make(value) in INDEPENDENT:
                    self.found.stray = stray  # a number, a variable: no object
                return
            case ast.Attribute() if path_of(value) is None:
                parts = [value.value]
                self.stray(view, value)  # it may hold another object
            case _:
                if not isinstance(value, ast.Call):
                    self._named(view, value, depth)
                return
        for each in parts:
            self.value(view, each, depth + 1)

    def _asked(self, view: View, method: ast.Attribute, depth: int) -> None:
        """A method may give a part of its object: ``Model().net().forward``."""
        if view.unit.names.qualified(method) is None and depth < self.depth:
            stray, known = self.found.stray, len(self.found.classes)
            self.value(view, method, depth + 1)
            self.found.stray = stray
            self.found.classes[known:] = [
                each
                for each in self.found.classes[known:]
                if gives_parts(self._project, each, method.attr)
            ]

    def _passed(self, view: View, call: ast.Call, depth: int) -> None:
        """What is passed is among it; but only what a function gives may be the same thing."""
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(part)), *_]):
                self.parts.add(part)
        stray = self.found.stray
        for each in arguments_of(call):
            self.value(view, each, depth + 1)
        name = (path_of(call.func) or ("",))[-1].lstrip(".")
        if any(cls.name == name for _, cls in self.found.classes):
            self.found.stray = stray

    def _made(self, view: View, call: ast.Call, depth: int) -> None:
        self.makers.append((view, call))
        known = len(self.found.classes)
        super()._made(view, call, depth)
        if isinstance(call.func, ast.Call):
            self._extended(view, call.func)
        elif isinstance(call.func, ast.Name) and depth < self.depth:
            for function in self._project.effects(view.unit).functions(call.func.id):
                inner = self._project.view(view.unit, function)
                for end in walk(function) if inner.flow.yields else ():
                    if isinstance(end, ast.Yield) and end.value is not None:
                        self.value(inner, end.value, depth + 1)
        for unit, cls in self.found.classes[known:]:
            for each in cls.decorator_list:
                self._defined_in(unit, each)
        path = view.unit.names.qualified(call.func)
        if path is None:
            self._taken_whole(view, call.func)
            if isinstance(call.func, ast.Name) and not self._is_known(call.func.id):
                self._by_a_name(view, call.func, depth)
            return
        if is_of_library(path) or gives_no_tensors(path):
            return
        name = path.rpartition(".")[2]
        if not names_class(name):
            self._given_elsewhere(path, depth)
        elif not any(c.name == name for _, c in self.found.classes):
            self.is_hidden = True

    def _extended(self, view: View, maker: ast.Call) -> None:
        """Classes that another one is made of: ``type("Net", (Base,), {})()``, ``make(Base)()``."""
        for node in (n for a in arguments_of(maker) for n in walk(a) if isinstance(n, ast.Name)):
            for each in classes(self._project).named(node.id):
                if is_class_of(self._project, *each, view.unit, node):
                    self.found.classes += [each] if each not in self.found.classes else []
        self._defined_in(view.unit, maker)

    def _defined_in(self, unit: Unit, maker: ast.expr) -> None:
        """Classes that a function of the file defines, and may give for one that it is handed."""
        name = path_of(maker.func if isinstance(maker, ast.Call) else maker) or ("",)
        for function in self._project.effects(unit).functions(name[-1]):
            for node in (n for n in walk(function) if isinstance(n, ast.ClassDef)):
                self.found.classes.append((unit, node))

    def _taken_whole(self, view: View, func: ast.expr) -> None:
        """A class that ``from nets import *`` may have brought."""
        if not isinstance(func, ast.Name):
            return
        for each in classes(self._project).named(func.id):
            if each not in self.found.classes and each[0] is not view.unit:
                if means_class(self._project, view.unit, func, *each) is not False:
                    self.found.classes.append(each)

    def _is_known(self, name: str) -> bool:
        return any(each in self.found.classes for each in classes(self._project).named(name))

    def _by_a_name(self, view: View, func: ast.Name, depth: int) -> None:
        """What has the name of a class: a function, or what another call made a class of."""
        if not names_class(func.id):
            return
        functions = self._project.effects(view.unit).functions(func.id)
        for function in functions:
            inner = self._project.view(view.unit, function)
            for end in inner.flow.returns if depth < self.depth else ():
                if end.value is not None:
                    self.value(inner, end.value, depth + 1)
        if not functions:
            found, hidden = classes_named(self._project, view, func)
            self.found.classes += (each for each in found if each not in self.found.classes)
            self.is_hidden |= hidden

    def _given_elsewhere(self, path: str, depth: int) -> None:
        """What a function of another module gives: ``net = nets.make()``."""
        for home, name in homes_of(self._project, path):
            for function in self._project.effects(home).functions(name):
                inner = self._project.view(home, function)
                for end in inner.flow.returns if depth < self.depth else ():
                    if end.value is not None:
                        self.value(inner, end.value, depth + 1)

    def _imported(self, path: str, depth: int) -> None:
        """An object that another module holds: ``nets.net``."""
        for home, name in homes_of(self._project, path):
            if depth < self.depth and global_values(home, name):
                self._global(self._project.view(home, home.tree), name, depth + 1)

    def _named(self, view: View, value: ast.expr, depth: int) -> None:
        path = path_of(value)
        above = view.unit.parents.get(value)
        called = isinstance(above, ast.Call) and above.func is value
        if path is None or depth > self.depth or (_is_size(path) and not called):
            return
        imported = view.unit.names.qualified(value)
        if imported is not None:
            if not is_of_library(imported) and not gives_no_tensors(imported):
                self._imported(imported, depth)
            return
        read = origins(view.flow.reads.get(value, frozenset()))
        for made in read:
            self._definition(view, made, value, depth)
        if not read:
            self.path(view, path, depth + 1)

    def _definition(self, view: View, made: Def, value: ast.expr, depth: int) -> None:
        if made.kind in (Kind.PARAM, Kind.ENTRY):
            self.path(view, made.path, depth + 1)
        elif made.kind in (Kind.ASSIGN, *_TAKEN) and made.value is not None:
            if made.value not in self._inside:
                self.value(view, made.value, depth + 1)
        elif made.kind is Kind.MUTATE and made.stmt is not None:
            for path, each in _put_in(made.stmt):
                if path == made.path:
                    self.value(view, each, depth + 1)
            for use in made.before if depth < self.depth else ():
                self._definition(view, use.made, value, depth + 1)

    def path(self, view: View, path: Path, depth: int) -> None:
        """An element, or a part, is among what the whole has."""
        own = path[0] == view.kinds.self_name
        around = None if own else outer_definitions(self._project, view, path[:1])
        if around is not None and not _binds(view, path[0]):
            outer, made = around
            for each in made if depth < self.depth else ():
                self._definition(outer, each, ast.Name(path[0], ast.Load()), depth + 1)
            return
        super().path(view, path[: 2 if own else 1], depth)

    def _attribute(self, view: View, name: str, depth: int) -> None:
        super()._attribute(view, name, depth)
        known = view.unit.once(_puts).get(f".{name}", ())
        family = self._project.family(view.unit, view.cls) if known and view.cls is not None else ()
        for cls in family:
            for path, stmt, value in known:
                if view.unit.is_below(stmt, cls):
                    inner = self._project.view(view.unit, self._project.scope_of(view.unit, stmt))
                    if path == (inner.kinds.self_name or "", f".{name}"):
                        self.value(inner, value, depth + 1)

    def _global(self, view: View, name: str, depth: int) -> None:
        if name not in view.unit.once(bound_names):
            return  # a function, or a class
        super()._global(view, name, depth)
        for path, _, value in view.unit.once(_puts).get(name, ()):
            if path == (name,):
                self.value(self._project.view(view.unit, view.unit.tree), value, depth + 1)


def _is_size(path: Path) -> bool:
    """``env.num_envs``, ``net.batch_size``"""
    name = path[-1]
    return name.startswith(".num_") or (name.startswith(".") and name.endswith(_SIZES))


def _binds(view: View, name: str) -> bool:
    """Whether the scope gives the name a value, not only changes what it names."""
    return any(
        d.path == (name,) and d.kind not in (Kind.ENTRY, Kind.MUTATE)
        for d in view.flow.defs.values()
    )


def _steps(value: ast.expr) -> Iterator[ast.Attribute]:
    """The attributes on the way to the last: ``model.net.forward``."""
    while isinstance(value, ast.Attribute):
        yield value
        value = value.value


def _puts(unit: Unit) -> dict[str, list[tuple[Path, ast.stmt, ast.expr]]]:
    """What statements put into containers, by the last steps of the containers' paths."""
    found: dict[str, list[tuple[Path, ast.stmt, ast.expr]]] = {}
    for stmt in (*unit.nodes(ast.Expr), *unit.nodes(ast.Return), *unit.nodes(ast.Assign)):
        for path, value in _put_in(stmt):
            found.setdefault(path[-1], []).append((path, stmt, value))
    return found


def _put_in(stmt: ast.stmt) -> Iterator[tuple[Path, ast.expr]]:
    """What the statement puts into which containers."""
    owners: list[ast.expr] = []
    values: list[ast.expr] = []
    match stmt:
        case (
            ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=how)) as call)
            | ast.Return(value=ast.Call(func=ast.Attribute(value=owner, attr=how)) as call)
        ):
            if how in _PUTS:
                owners, values = [owner], arguments_of(call)
        case ast.Assign(targets=targets, value=value):
            owners, values = [t.value for t in targets if isinstance(t, ast.Subscript)], [value]
    for path in map(path_of, owners):
        if path is not None:
            yield from ((path, each) for each in values)

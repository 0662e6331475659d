"""Of which class the object is that a name stands for, by all that is passed or kept under it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, shared_names
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import assigned_in, attribute_values, global_values
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.callers import is_class_of
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import arguments_of, walk

# Through how many names and callers an object is followed.
_DEPTH = 6


@dataclass(slots=True)
class Instances:
    """The classes, and what had to be taken for granted: what may be passed besides.

    ``stray`` is the place of something that is passed and cannot be followed, ``other`` that of
    something of no class at hand.
    """

    classes: list[tuple[Unit, ast.ClassDef]] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    stray: str = ""
    other: str = ""


def instances(project: Project, view: View, owner: Path) -> Instances:
    """What ``owner``, a path from outside of the scope of ``view``, may be an instance of."""
    finder = Finder(project, view.unit)
    finder.path(view, owner, 0)
    return finder.found


def instances_at(
    project: Project, view: View, node: ast.Attribute, read: ast.expr | None = None
) -> Instances:
    """What the object may be of which ``node`` reads an attribute, or ``read`` a part of it."""
    finder = Finder(project, view.unit)
    owner, whole = path_of(node.value), path_of(node)
    for made in origins(view.flow.reads.get(read or node, frozenset())):
        if made.path == owner and made.kind in (Kind.PARAM, Kind.ENTRY):
            finder.path(view, made.path, 0)
        elif owner is not None and made.path == whole and made.kind is Kind.ENTRY:
            finder.path(view, owner, 0)  # the attribute as the scope found it
        elif made.path == owner and made.kind is Kind.ASSIGN and made.value is not None:
            finder.value(view, made.value, 0)
        else:
            finder.stray(view, node)
    return finder.found


def instances_of(project: Project, view: View, value: ast.expr) -> Instances:
    """What ``value``, an expression in the scope of ``view``, may give an instance of."""
    finder = Finder(project, view.unit)
    finder.value(view, value, 0)
    return finder.found


class Finder:
    """Follows one object back to where it is made."""

    depth = _DEPTH
    #: Whether what was met is told for good, wherever it is met again.
    once = True

    def __init__(self, project: Project, home: Unit) -> None:
        self._project = project
        self._home = home
        self._seen: set[tuple[ast.AST, Path]] = set()
        self._met: set[tuple[ast.expr, int]] = set()
        self.found = Instances()

    def path(self, view: View, path: Path, depth: int) -> None:
        """A parameter, an attribute of ``self``, or a name of the module."""
        if depth > self.depth or (view.scope, path) in self._seen:
            if depth > self.depth:
                self.stray(view, view.scope)
            return
        self._seen.add((view.scope, path))
        made = [d for d in view.flow.defs.values() if d.path == path[:1] and d.kind is Kind.PARAM]
        if len(path) == 2 and path[0] == view.kinds.self_name and view.cls is not None:
            self._attribute(view, path[1].lstrip("."), depth)
        elif len(path) != 1:
            self.stray(view, view.scope)
        elif made and path[0] == view.kinds.self_name:
            # While it is made, perhaps: its tape may not be there yet, or still record.
            self.found.other = self.found.other or place_of(self._home, view.unit, view.scope)
        elif made:
            self._parameter(view, path[0], depth)
        elif (around := outer_definitions(self._project, view, path)) is not None:
            self._around(*around, path, depth)
        else:
            self._global(view, path[0], depth)

    def stray(self, view: View, node: ast.AST) -> None:
        """Notes something that cannot be followed."""
        self.found.stray = self.found.stray or place_of(self._home, view.unit, node)

    def value(self, view: View, value: ast.expr, depth: int) -> None:
        """An expression in the scope of ``view``."""
        if self.once and (value, depth) in self._met:
            return  # functions that all call each other lead to it in many ways
        self._met.add((value, depth))
        if depth > self.depth:
            self.stray(view, value)
        elif isinstance(value, ast.Call):
            self._made(view, value, depth)
        elif path_of(value) is not None:
            for made in origins(view.flow.reads.get(value, frozenset())):
                self._definition(view, made, value, depth)
        elif not (isinstance(value, ast.Constant) and value.value is None):
            self.stray(view, value)

    def _definition(self, view: View, made: Def, value: ast.expr, depth: int) -> None:
        path = path_of(value)
        if made.kind in (Kind.PARAM, Kind.ENTRY) and made.path == path:
            self.path(view, made.path, depth + 1)
        elif made.kind is Kind.ASSIGN and made.path == path and made.value is not None:
            self.value(view, made.value, depth + 1)
        else:
            self.stray(view, value)

    def _made(self, view: View, call: ast.Call, depth: int) -> None:
        """The class that is called, or that a function of the file makes an object of."""
        qualified = view.unit.names.qualified(call.func)
        last = qualified.split(".")[-1] if qualified else (path_of(call.func) or ("",))[-1]
        last = last.lstrip(".")
        found = [
            each
            for each in classes(self._project).named(last)
            if is_class_of(self._project, *each, view.unit, call.func)
        ]
        function = _called(self._project, view, call, last)
        if len(found) == 1:
            self.found.classes += [each for each in found if each not in self.found.classes]
        elif found or names_class(last) or is_of_library(qualified):
            self.found.other = self.found.other or place_of(self._home, view.unit, call)
        elif function is None:
            self.stray(view, call)
            # Not all that may run may be in sight; what is, tells of some of the objects.
            for unit, method in self._methods(view, call):
                self._given(self._project.view(unit, method), view, call, depth)
        else:
            inner = self._project.view(view.unit, function)
            if not inner.flow.returns or inner.flow.yields or not runs_as_written(function):
                self.stray(view, call)
            self._given(inner, view, call, depth)

    def _given(self, inner: View, view: View, call: ast.Call, depth: int) -> None:
        """What the function of ``inner`` gives its ``call``."""
        for end in inner.flow.returns:
            if end.value is None:
                self.stray(view, call)
            else:
                self.value(inner, end.value, depth + 1)

    def _methods(self, view: View, call: ast.Call) -> Iterator[tuple[Unit, NamedFunction]]:
        """The methods that ``self.name(…)`` may run, those of subclasses in any file included."""
        path = path_of(call.func)
        if view.cls is None or path is None or path[:-1] != (view.kinds.self_name,):
            return
        name = path[-1].lstrip(".")
        own = self._project.effects(view.unit).method(view.cls, name)
        if own is not None:
            yield view.unit, own
        for below in classes(self._project).extending(view.cls.name):
            for unit, cls in classes(self._project).named(below):
                for stmt in cls.body:
                    if isinstance(stmt, NamedFunction) and stmt.name == name and stmt is not own:
                        yield unit, stmt

    def _parameter(self, view: View, name: str, depth: int) -> None:
        function = view.scope
        if not isinstance(function, ast.FunctionDef):
            self.stray(view, function)
            return
        found = callers(self._project, view.unit, function)
        method = view.cls is not None
        named = {function.name} if view.cls is None else {function.name, view.cls.name}
        unread = self._project.unread(named - {"__init__"})
        if found.problem or found.overridden or not found.calls:
            self.stray(view, function)
        self.found.unseen += [*found.unseen, *([f"{unread} may call it"] if unread else [])]
        for site in found.calls:
            value = argument_for(site.call, function, name, method)
            caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            given = arguments_of(site.call)
            if value is None or not any(value is each for each in given):
                self.stray(caller, site.call)
            else:
                self.value(caller, value, depth + 1)

    def _attribute(self, view: View, name: str, depth: int) -> None:
        assert view.cls is not None
        values = attribute_values(self._project, view, name)
        others = self._project.foreign_stores(view.unit, view.cls, name)
        known = self._project.family(view.unit, view.cls)
        below = classes(self._project).extending(view.cls.name)
        others += [
            value
            for each in (*below, *classes(self._project).above(view.cls.name))
            for unit, cls in classes(self._project).named(each)
            if cls not in known
            for value in assigned_in(unit, cls).get(name, ())
        ]
        if not values or others:
            self.stray(view, others[0] if others else view.scope)
        for value in values:
            inner = self._project.view(view.unit, self._project.scope_of(view.unit, value))
            self.value(inner, value, depth + 1)

    def _around(self, holder: View, made: list[Def], path: Path, depth: int) -> None:
        """A name of a function around."""
        inner = (n for n in walk(holder.scope) if isinstance(n, NamedFunction))
        if any(path[0] in shared_names(function) for function in inner):
            self.stray(holder, holder.scope)
        for each in made:
            if each.kind is Kind.PARAM and each.path == path:
                self.path(holder, path, depth + 1)
            elif each.kind is Kind.ASSIGN and each.path == path and each.value is not None:
                self.value(holder, each.value, depth + 1)
            else:
                self.stray(holder, holder.scope)

    def _global(self, view: View, name: str, depth: int) -> None:
        unit = view.unit
        values = global_values(unit, name)
        again = any(name in stmt.names for stmt in unit.nodes(ast.Global))
        stored = unit.once(bound_names).get(name, ())
        bound = [n for n in stored if self._project.scope_of(unit, n) is unit.tree]
        if not values or again or len(bound) != len(values):
            self.stray(view, view.scope)
        for value in values:
            self.value(self._project.view(unit, unit.tree), value, depth + 1)


def _called(
    project: Project, view: View, call: ast.Call, name: str
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function of the file that the call means, by its name or as a method of its class."""
    if not isinstance(call.func, ast.Name):
        return view.kinds.called(call)
    functions = project.effects(view.unit).functions(name)
    return functions[0] if len(functions) == 1 else None

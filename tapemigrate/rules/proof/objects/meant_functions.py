"""Which functions of the user's a call may mean, and the objects that run them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction, Scope, is_static
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.callgraph.instances import instances_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import Class, above, method_of
from tapemigrate.rules.proof.objects.holding import Held
from tapemigrate.source.trees import top_level


class Place(NamedTuple):
    """A scope, the class of the object whose method it is, and what its parameters hold."""

    view: View
    cls: ast.ClassDef | None
    given: tuple[tuple[str, Held], ...] | None = None


class MeantFunctions:
    """Looks for them in all files.

    ``homes`` are the files of the classes that were met: those found here are put there as well.
    """

    def __init__(self, project: Project, homes: dict[ast.ClassDef, Unit]) -> None:
        self._project = project
        self._homes = homes
        # These are asked for again in each round in which what they hold is worked out.
        self._values: dict[tuple[Scope, ast.expr], list[tuple[View, ast.expr]]] = {}

    def called(
        self, place: Place, call: ast.Call, path: str | None, name: str
    ) -> Iterator[tuple[Place, bool]]:
        """The functions that the call may mean, and whether they are methods of its object."""
        view = place.view
        if path is not None:
            for home, there in homes_of(self._project, path):
                own = [s for s in top_level(home.tree) if isinstance(s, NamedFunction)]
                yield from (
                    (Place(self._project.view(home, each), None), False)
                    for each in own
                    if each.name == there
                )
            return
        if not isinstance(call.func, ast.Attribute):
            function = view.kinds.called(call)
            if function is not None:
                yield Place(self._project.view(view.unit, function), place.cls), False
            return
        owner = path_of(call.func.value)
        found: list[Class] = []
        if owner == (view.kinds.self_name,) or is_super(call.func.value):
            found = [(self._homes[place.cls], place.cls)] if place.cls is not None else []
        elif owner is not None and (cls := self._class_named(view.unit, owner[-1])) is not None:
            found = [(view.unit, cls)]
        else:
            found = instances_of(self._project, view, call.func.value).classes
        for each in found:
            unit, method = method_of(list(above(self._project, *each)), name)
            if unit is not None and method is not None:
                inner = self._project.view(unit, method)
                self._homes[each[1]] = each[0]
                yield Place(inner, each[1]), not is_static(method)

    def by_value(self, place: Place, value: ast.expr) -> Iterator[tuple[Place, bool]]:
        """The functions that a value may be."""
        path = place.view.unit.names.qualified(value)
        name = (path or (path_of(value) or ("",))[-1]).rpartition(".")[2].lstrip(".")
        if name and not is_of_library(path):
            yield from self.called(place, ast.Call(value, [], []), path, name)

    def values_of(self, view: View, named: ast.expr) -> list[tuple[View, ast.expr]]:
        """What the scope, or another method of its object, gave a name."""
        key = (view.scope, named)
        if key not in self._values:
            self._values[key] = list(self._given_to(view, named))
        return self._values[key]

    def _given_to(self, view: View, named: ast.expr) -> Iterator[tuple[View, ast.expr]]:
        for made in origins(view.flow.uses_in(named)):
            if made.kind is Kind.ASSIGN and made.value is not None:
                yield view, made.value
            elif made.kind is Kind.ENTRY and made.path[0] == view.kinds.self_name:
                # An inner function may be seen to read the object alone.
                for name in max(made.path, path_of(named) or (), key=len)[1:2]:
                    for value in attribute_values(self._project, view, name.lstrip(".")):
                        scope = self._project.scope_of(view.unit, value)
                        yield self._project.view(view.unit, scope), value

    def _class_named(self, unit: Unit, name: str) -> ast.ClassDef | None:
        return self._project.effects(unit).class_named(name)

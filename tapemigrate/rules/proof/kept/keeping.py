"""What objects kept when they were made, and whether their methods read it later on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import Class, KeptResults, above, called_in
from tapemigrate.rules.proof.kept.parts_held import PartsHeld
from tapemigrate.rules.proof.objects.contained import Contents
from tapemigrate.rules.proof.objects.handed_out import handed_out
from tapemigrate.rules.proof.objects.holding import Held
from tapemigrate.rules.proof.objects.objects_named import contents_of
from tapemigrate.rules.proof.state.state_read import finds_state
from tapemigrate.rules.values.containers.shape_evidence import is_opened
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED


@dataclass(slots=True)
class Keeping:
    """What methods read of what their objects kept. ``assumed`` is what was taken for granted.

    ``shown`` is what the sources are called, ``sources`` are the names of attributes among them;
    ``variables``: they are variables.
    """

    results: KeptResults
    parts: PartsHeld
    assumed: list[str] = field(default_factory=list)
    shown: str = ""
    sources: frozenset[str] = frozenset()
    variables: bool = False

    def is_read(self, made: Class, methods: Iterable[str]) -> bool:
        """Whether methods of an object of the class read what it computed before."""
        parts = handed_out(self.results.project, made, frozenset(methods))
        return any(self._is_read(each, sorted(asked)) for each, asked in parts)

    def _is_read(self, made: Class, names: list[str]) -> bool:
        if any(self.results.read_by(*made, name) for name in names):
            return True
        kept = (self.parts.values.attribute(*made, name) for name in sorted(self.sources))
        if not self.variables and not any(h in (Held.VARIABLE, Held.OBJECTS) for h in kept):
            return False  # the source is no variable
        read = self.parts.read_by(*made, names, self.sources)
        if read is not None and read.held is Held.UNKNOWN:
            self.assumed.append(f"{read.text} was not computed from {self.shown}")
        return read is not None and read.held is Held.COMPUTED

    def is_handed(self, made: Class, read: Set[str], run: Set[str]) -> bool:
        """Whether functions that ``read`` parts of an object find what it computed before.

        What methods compute that ``run`` there is recorded. A constructor that runs there makes
        another object.
        """
        if not self.variables:
            return False
        parts = handed_out(self.results.project, made, read | run)
        return any(self._is_handed(each, read, run - {"__init__"}) for each, _ in parts)

    def _is_handed(self, made: Class, read: Set[str], run: Set[str]) -> bool:
        project = self.results.project
        lineage = list(above(project, *made))
        own = [stmt for _, cls in lineage for stmt in cls.body if isinstance(stmt, NamedFunction)]
        properties = {stmt.name for stmt in own if stmt.decorator_list and stmt.name in read}
        found = self._is_read(made, sorted(properties))
        for name in sorted(read):
            before = (
                value
                for home, cls in lineage
                for value in assigned_in(home, cls).get(name, ())
                if getattr(project.scope_of(home, value), "name", "") not in run
            )
            if all(isinstance(value, ast.Constant) for value in before):
                continue
            held = self.parts.values.attribute(*made, name)
            found |= held is Held.COMPUTED
            if held is Held.UNKNOWN:
                text = f"`{made[1].name}.{name}`"
                self.assumed.append(f"{text} was not computed from {self.shown}")
        return found

    def may_be_read(self, project: Project, made: Contents, method: str) -> bool:
        """Whether an object of which the class is not known may have such a method.

        Then its class is one of those at hand that have a method of that name.
        """
        if not made.is_unknown:
            return False
        perhaps = replace(self, assumed=[])
        names = {method}
        if method == "__call__":
            names |= {*RUN_WHEN_CALLED, *made.parts, *_called_by_makers(project, made)}
        known = {
            each: None
            for name in sorted(names)
            for unit in project.units.defining(name)
            for each in unit.once(_having).get(name, ())
        }
        found = ((project.units[home], cls) for home, cls in known)
        return any(perhaps.is_read(each, names) or perhaps.assumed for each in found)

    def may_be_computed(self, project: Project, made: Contents) -> bool:
        """Whether a function gave it, or a part of it, that computes with variables it makes.

        What such a function gives may be a function again, which reads what was computed.
        """
        if not self.variables:
            return False
        for view, call in made.makers:
            if is_opened(view.unit.parents[call]):
                continue  # a part of it may be a variable alone
            name = (path_of(call.func) or ("",))[-1].lstrip(".")
            path = view.unit.names.qualified(call.func)
            if not name or names_class(name) or is_of_library(path):
                continue
            homes = [view.unit] if path is None else project.units.defining(name)
            for home in homes:
                for function in project.effects(home).functions(name):
                    maker = project.view(home, function)
                    if self.parts.values.given_by(maker) is Held.COMPUTED:
                        return True
                    given = list(_functions_given(maker))
                    if finds_state(project, maker, given):
                        return True
                    if self._calls_objects(project, maker, given):
                        return True
        return False

    def _calls_objects(self, project: Project, maker: View, given: list[ast.AST]) -> bool:
        """Whether functions made in ``maker`` call objects of it, and these read what they kept."""
        inner = {n.name: n for n in walk(maker.scope) if isinstance(n, NamedFunction)}
        perhaps = replace(self, assumed=[])
        for each in given:
            function = inner.get(each.id) if isinstance(each, ast.Name) else each
            if not isinstance(function, NamedFunction | ast.Lambda):
                continue
            called = {*RUN_WHEN_CALLED, *called_in(function), *_parts_read(function)}
            for node in (n for n in walk(function) if isinstance(n, ast.Name)):
                for made_of in contents_of(project, maker, node, set()).classes:
                    if perhaps.is_read(made_of, called) or perhaps.assumed:
                        return True
        return False


def _called_by_makers(project: Project, made: Contents) -> set[str]:
    """The methods that are called in the functions that made it: ``lambda x: net.forward(x)``."""
    found: set[str] = set()
    for view, call in made.makers:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        for function in project.effects(view.unit).functions(name):
            calls = (n for n in walk(function) if isinstance(n, ast.Call))
            found |= {n.func.attr for n in calls if isinstance(n.func, ast.Attribute)}
    return found


def _functions_given(maker: View) -> Iterator[ast.AST]:
    """What may be functions of what a function gives back, not those that it calls."""
    for node in (n for end in maker.flow.returns if end.value for n in walk(end.value)):
        above = maker.unit.parents[node]
        if isinstance(above, ast.Call) and above.func is node:
            continue
        imported = isinstance(node, ast.Attribute) and maker.unit.names.qualified(node)
        if isinstance(node, ast.Lambda | ast.Name) or imported:
            yield node


def _parts_read(function: ast.AST) -> set[str]:
    """The attributes that a function reads."""
    return {n.attr for n in walk(function) if isinstance(n, ast.Attribute)}


def _having(unit: Unit) -> dict[str, list[tuple[str, ast.ClassDef]]]:
    """The classes by the names of their methods, with the file."""
    found: dict[str, list[tuple[str, ast.ClassDef]]] = {}
    for cls in unit.nodes(ast.ClassDef):
        for stmt in cls.body:
            if isinstance(stmt, NamedFunction):
                found.setdefault(stmt.name, []).append((unit.filename, cls))
    return found

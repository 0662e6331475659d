"""Whether what objects keep was computed from variables, before their methods read it.

``KeptResults`` finds what certainly was. Here everything counts that is not seen to be a variable,
an object, or made of none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import looked_up, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.instances import instances_at
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import (
    Class,
    above,
    called_in,
    leads_up,
    methods_of,
)
from tapemigrate.rules.proof.objects.handed_out import parts_kept
from tapemigrate.rules.proof.objects.held_values import HeldValues
from tapemigrate.rules.proof.objects.holding import Held
from tapemigrate.rules.proof.objects.objects_named import contents_of
from tapemigrate.rules.proof.objects.read_of_whole import read_of_whole
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED

# Decorators under which a method runs each time that it is asked.
_ANEW = frozenset(
    {"property", "setter", "getter", "deleter", "staticmethod", "classmethod", "abstractmethod"}
    | {"abstractproperty", "contextmanager", "wraps", "override", "overrides"}
)
# Through how many objects it is looked what their methods read.
_DEPTH = 4


class Read(NamedTuple):
    """A part of an object that a method reads: ``Net.kernel``."""

    text: str
    held: Held


class PartsHeld:
    """Looks at the classes at hand."""

    def __init__(self, project: Project) -> None:
        self._project = project
        #: What values hold, those of parts among them.
        self.values = project.once(HeldValues)

    def read_by(
        self, unit: Unit, cls: ast.ClassDef, methods: Iterable[str], sources: Set[str]
    ) -> Read | None:
        """What of it may have been computed, that the methods of an object of the class read.

        ``sources`` are names of attributes that are sources themselves.
        """
        found = [self._read(unit, cls, method, sources, _DEPTH) for method in methods]
        known = [each for each in found if each is not None]
        return max(known, key=lambda each: each.held, default=None)

    def _read(
        self, unit: Unit, cls: ast.ClassDef, name: str, sources: Set[str], depth: int
    ) -> Read | None:
        lineage = list(above(self._project, unit, cls))
        names, methods = self._names(lineage, name)
        if not methods:
            kept = self._read_by_kept(lineage, name, sources, depth)
            if kept is None and set_by_text(self._project, unit, name):
                return Read(f"`{cls.name}.{name}`", Held.UNKNOWN)
            return kept
        found = [
            Read(f"`{cls.name}.{each}`", self.values.attribute(unit, cls, each))
            for each in sorted(names)
        ]
        found += [
            Read(f"`{each}`", Held.UNKNOWN)
            for home, method in methods
            for each in sorted(_shared_names(home, method))
        ]
        found += [
            Read(f"`{cls.name}.{method.name}`", Held.UNKNOWN)
            for home, method in methods
            if _may_keep(home, method)
            and self.values.given_by(self._project.view(home, method)) >= Held.UNKNOWN
        ]
        best = max(found, key=lambda each: each.held, default=None)
        if best is not None and best.held >= Held.UNKNOWN:
            return best
        called = {each for _, method in methods for each in called_in(method)}
        for each in sorted(names) if depth > 0 else ():
            for home, part in parts_kept(self._project, lineage, each):
                for inner in sorted(called):
                    below = (
                        self._read(home, part, inner, sources, depth - 1)
                        if part is not cls
                        else None
                    )
                    if below is not None:
                        return below
        return None

    def _read_by_kept(
        self, lineage: list[Class], name: str, sources: Set[str], depth: int
    ) -> Read | None:
        """The same of another object's method that is kept: ``self.forward = self.net.forward``.

        Of a function that is kept, what it captures counts: ``self.forward = lambda x: h * x``.
        """
        for unit, cls in lineage if depth > 0 else ():
            for value in assigned_in(unit, cls).get(name, ()):
                view = self._project.view(unit, self._project.scope_of(unit, value))
                for method in _methods_in(view, value):
                    found = self._read_of(view, method, sources, depth - 1)
                    if found is not None:
                        return found
                held = (
                    self.values.of_class(unit, cls, view, value) if _is_code(view, value) else None
                )
                if held in (Held.UNKNOWN, Held.COMPUTED):
                    return Read(f"`{cls.name}.{name}`", held)
        return None

    def _read_of(
        self, view: View, method: ast.Attribute, sources: Set[str], depth: int
    ) -> Read | None:
        found = instances_at(self._project, view, method).classes
        found = found or contents_of(self._project, view, method.value, set()).classes
        owner = path_of(method.value) or ()
        known = self._project.effects(view.unit)
        named = known.class_named(owner[0]) if len(owner) == 1 else None
        found = [*found, (view.unit, named)] if named is not None else found  # ``Net.forward``
        reads = (self._read(*each, method.attr, sources, depth) for each in found)
        return next((each for each in reads if each is not None), None)

    def _names(
        self, lineage: list[Class], name: str
    ) -> tuple[set[str], list[tuple[Unit, NamedFunction]]]:
        """The attributes that a method reads and does not set, and the methods that run for it."""
        pending = list(RUN_WHEN_CALLED) if name == "__call__" else [name]
        read: set[str] = set()
        given: set[str] = set()
        met: dict[NamedFunction, Unit] = {}
        upward = set[str]()
        while pending:
            each = pending.pop()
            found = methods_of(lineage, each, each in upward)
            if not found:
                read.add(each)
            for home, method in found:
                if method in met:
                    continue
                met[method] = home
                me = self._project.view(home, method).kinds.self_name
                pending += sorted(read_of_whole(self._project, lineage, home, method, me))
                for node in (looked_up(n) or n for n in walk(method)):
                    if not isinstance(node, ast.Attribute):
                        continue
                    up = leads_up(lineage, node.value)
                    if not up and path_of(node.value) != (me,):
                        continue
                    if not isinstance(node.ctx, ast.Load):
                        given.add(node.attr)
                    elif not _is_only_filled(home, node):
                        pending.append(node.attr)
                        upward |= {node.attr} if up else set()
        read -= {*given, *RUN_WHEN_CALLED, name}
        return {n for n in read if not n.startswith("__")}, [(u, m) for m, u in met.items()]


def _functions_made(view: View, value: ast.expr) -> Iterator[ast.AST]:
    """The functions of its own scope that a value is, or hands on: ``partial(f, n=2)``."""
    for each in [value, *(arguments_of(value) if isinstance(value, ast.Call) else ())]:
        if isinstance(each, ast.Lambda):
            yield each
        elif isinstance(each, ast.Name):
            made = origins(view.flow.reads.get(each, frozenset()))
            yield from (d.stmt for d in made if d.kind is Kind.FUNCTION and d.stmt is not None)


def _methods_in(view: View, value: ast.expr) -> Iterator[ast.Attribute]:
    """The methods that run where what is kept is called: ``partial(self.net.forward, n=2)``."""
    inside = (n for function in _functions_made(view, value) for n in walk(function))
    called = [n.func for n in inside if isinstance(n, ast.Call)]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        called.append(value.func.value)  # ``Net.forward.__get__(net)``
    named = looked_up(value) or value
    handed = [named, *(arguments_of(value) if isinstance(value, ast.Call) else ())]
    yield from (each for each in (*handed, *called) if isinstance(each, ast.Attribute))


def _is_code(view: View, value: ast.expr) -> bool:
    return any(True for _ in _functions_made(view, value))


def _is_only_filled(unit: Unit, node: ast.Attribute) -> bool:
    """Whether the attribute is read to put something into it: ``self.history.append(y)``."""
    above = unit.parents.get(node)
    if not isinstance(above, ast.Attribute) or above.attr not in CHANGERS:
        return False
    return isinstance(unit.parents.get(unit.parents[above]), ast.Expr)


def _may_keep(unit: Unit, method: NamedFunction) -> bool:
    """Whether a decorator may have the method give what it gave before: ``@lazy_property``."""
    for each in method.decorator_list:
        named = each.func if isinstance(each, ast.Call) else each
        path = unit.names.qualified(named)
        name = (path or (path_of(named) or ("",))[-1]).rpartition(".")[2].lstrip(".")
        if "cache" in name or not (name in _ANEW or is_of_library(path)):
            return True
    return False


def _shared_names(unit: Unit, method: NamedFunction) -> set[str]:
    """The names of the module that a method reads, and that functions give values to."""
    filled = unit.once(filled_state) - {each.name for each in unit.definitions}
    read = {n.id for n in walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return read & filled

"""Sources that a method has given, where the target is made of its object as well."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.syntax import ASKS_FOR_VARIABLES, giving, run_in
from tapemigrate.tape.request import Request
from tapemigrate.tape.sources.built_late import BuiltLate

# What a dict or list gives is looked at where the elements of such are.
_OF_CONTAINERS = frozenset(
    {"get", "pop", "popleft", "popitem", "setdefault", "values", "items", "keys"}
)
_GIVEN = (Kind.ASSIGN, Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)


class GivenByObjects:
    """Looks at the objects of one scope, other than that of its method."""

    def __init__(self, flow: Flow, kinds: Kinds, ops: Ops) -> None:
        self._flow = flow
        self._kinds = kinds
        self._ops = ops
        self._late = BuiltLate(flow, kinds)

    def read_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The object whose method gave the source, if the target is made of it besides.

        ``x = net.get_x()`` may be what the object keeps, and has made ``net.get_h()`` of before.
        """
        owners = {owner for d in leaf.defs for owner in self._owners(d)}
        if not owners:
            return None
        own = {d.value for d in leaf.defs}  # what the call itself may have done to the object
        found = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
        behind = [d for d in found if d.value not in own]
        code = [part for d in behind if d.kind is Kind.FUNCTION for part in run_in(d)]
        read = self._read([request.target, *(d.value for d in behind), *code])
        parts = [p for p in read if not self._kinds.is_static(p[-1])]
        beside = {o for o in owners for p in parts if p[: len(o)] == o}
        return min(beside, default=None)

    def _read(self, values: Iterable[ast.AST | None]) -> set[Path]:
        """What is read for the values, but for objects that a method makes no use of."""
        found = set[Path]()
        for value in (v for v in values if v is not None):
            calls = [n for n in walk(value) if isinstance(n, ast.Call)]
            unread = {
                call.func.value
                for call in calls
                if isinstance(call.func, ast.Attribute) and self._kinds.reads_no_object(call)
            }
            nodes = (n for n in self._ops.value_paths(value) if n not in unread)
            found |= {path for n in nodes if (path := path_of(n)) is not None}
        return found

    def _owners(self, made: Def) -> list[Path]:
        """What is asked for the value, if that may be what it keeps."""
        call = giving(made.value)
        if made.kind not in _GIVEN or not isinstance(call, ast.Call):
            return []
        func = self._method(call.func)
        path = path_of(func.value) if func is not None else None
        if func is None or path is None or path[0] == self._kinds.self_name:
            return []
        if self._kinds.name(func) is not None or ASKS_FOR_VARIABLES.search(func.attr):
            return []
        if self._kinds.make(call) is not Make.UNKNOWN or self._kinds.is_new(call):
            return []
        if func.attr in _OF_CONTAINERS and not self._kinds.effects.functions(func.attr):
            return []
        if self._kinds.gives_tensors(call) or self._kinds.reads_no_object(call):
            return []
        given = origins(self._flow.reads.get(func.value, frozenset()))
        if given and all(self._late.is_of_library(d) for d in given):
            return []
        return [path]

    def _method(self, func: ast.expr) -> ast.Attribute | None:
        """``net.get_x``, also where it has a name of its own: ``get = net.get_x; x = get()``."""
        if isinstance(func, ast.Name):
            made = origins(self._flow.reads.get(func, frozenset()))
            values = [d.value for d in made if d.kind is Kind.ASSIGN]
            func = next((v for v in values if isinstance(v, ast.Attribute)), func)
        return func if isinstance(func, ast.Attribute) else None

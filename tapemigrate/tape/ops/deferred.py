"""What computes where it is asked, not where it is made: iterators, and parts of objects."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.hooks import is_property
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.returned import gives_iterator

# What dicts have, which makes nothing.
_OF_DICTS = frozenset({"items", "keys", "values"})
_LOOKING_UP = ("__getitem__", "__missing__")
_OBJECTS = (Kind.ASSIGN, Kind.ELEMENT, Kind.WITH, Kind.LOOP, Kind.COMPREHENSION)


class Deferred:
    """Tells it of the expressions of one scope.

    ``iterator`` tells whether the function or class that is called gives an iterator of its own,
    ``computed`` whether an attribute of that name may be what code of its object makes of it,
    ``method`` whether a class in sight has a method of that name.
    """

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        iterator: Callable[[ast.expr], bool],
        computed: Callable[[str], bool],
        method: Callable[[str], bool],
    ) -> None:
        self._flow = flow
        self._kinds = kinds
        self._iterator = iterator
        self._computed = computed
        self._method = method

    def iterates(self, value: ast.expr) -> bool:
        """Whether taking elements out of the value makes them."""
        return self._iterates(value, set())

    def enters(self, value: ast.expr) -> bool:
        """Whether the value is what a call has made, so that ``with value`` may run its code."""
        return any(
            isinstance(d.value, ast.Call) and self._kinds.tensorflow(d.value.func) is None
            for d in self._made(value)
        )

    def reads(self, value: ast.expr) -> bool:
        """Whether the value is a part of an object made here, whose code may compute it.

        Or a property of the object whose method this is.
        """
        path = path_of(value)
        if path is None or not isinstance(value, ast.Attribute):
            return False
        if self._is_own_property(path):
            return True
        return any(
            made.kind in _OBJECTS
            and path[: len(made.path)] == made.path
            and any(self._is_computed(made, step) for step in path[len(made.path) :])
            for made in origins(self._flow.reads.get(value, frozenset()))
        )

    def finds(self, value: ast.expr) -> bool:
        """Whether the value is looked up by a text, ``features["ids"]``, which no tensor can be.

        Unless a class in sight may compute what is looked up in its objects.
        """
        path = path_of(value)
        if path is None or not isinstance(value, ast.Subscript):
            return False
        steps = [step for step in path if step.startswith("[")]
        return all(step[1] in "'\"" for step in steps) and not any(map(self._method, _LOOKING_UP))

    def _is_own_property(self, path: Path) -> bool:
        cls = self._kinds.cls
        if cls is None or len(path) < 2 or path[0] != self._kinds.self_name:
            return False
        method = self._kinds.effects.method(cls, path[1].lstrip("."))
        return method is not None and any(map(is_property, method.decorator_list))

    def _is_computed(self, owner: Def, step: str) -> bool:
        if not step.startswith("."):
            return False
        value = owner.value
        if isinstance(value, ast.Call):
            if self._kinds.tensorflow(value.func) is not None:
                return False
            if (path_of(value.func) or ("",))[-1].lstrip(".") in self._kinds.effects.hooked:
                return True
        made = Make.UNKNOWN if value is None else self._kinds.make(value)
        return made is Make.UNKNOWN and self._computed(step[1:])

    def _iterates(self, value: ast.expr, seen: set[Def]) -> bool:
        match value:
            case ast.IfExp():
                return any(self._iterates(each, seen) for each in (value.body, value.orelse))
            case ast.BoolOp():
                return any(self._iterates(each, seen) for each in value.values)
            case ast.GeneratorExp():
                return True
            case ast.Call():
                return self._call(value, seen)
        if self.reads(value):
            return True
        made = [d for d in self._made(value) if d not in seen]
        seen.update(made)
        return any(d.value is not None and self._iterates(d.value, seen) for d in made)

    def _made(self, value: ast.expr) -> list[Def]:
        """The assignments that may have given the name its value."""
        path = path_of(value)
        found = origins(self._flow.reads.get(value, frozenset()))
        return [d for d in found if d.kind is Kind.ASSIGN and d.path == path]

    def _call(self, call: ast.Call, seen: set[Def]) -> bool:
        name = self._kinds.name(call.func)
        func = call.func.id if isinstance(call.func, ast.Name) and name is None else ""
        if hasattr(builtins, func) or (name or "").startswith(("itertools.", "six.moves.")):
            return gives_iterator(call, lambda value: self._iterates(value, seen))
        if self._kinds.make(call) is not Make.UNKNOWN:
            return False
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_DICTS:
            return self._method(call.func.attr)
        return self._iterator(call.func)

"""Attributes of objects made here that are set where the object is called, as layers set theirs."""

from __future__ import annotations

import ast
from functools import cached_property

from tapemigrate.flow.definitions import Def
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Kinds

_AT_ONCE = frozenset({"__init__", "__new__", "__post_init__"})
_KERAS = ("tensorflow.keras.", "keras.", "tensorflow.layers.")
_LIBRARIES = ("tensorflow.", "keras.", "sonnet.")


class BuiltLate:
    """Looks at the objects of one scope."""

    def __init__(self, flow: Flow, kinds: Kinds) -> None:
        self._flow = flow
        self._kinds = kinds

    def may_be(self, made: Def, attribute: str) -> bool:
        """Whether ``attribute`` may be set, or set anew, after the object ``made`` was made."""
        value = made.value
        if not isinstance(value, ast.Call) or made.path not in self._called:
            return False
        name = (path_of(value.func) or ("",))[-1].lstrip(".")
        cls = self._kinds.effects.class_named(name)
        if cls is None:
            return self._kinds.makes_object(value)
        setting = {
            method.name
            for each in self._kinds.effects.lineage(cls)
            for method in each.body
            if isinstance(method, ast.FunctionDef)
            for node in walk(method)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.attr == attribute
        }
        return not setting or not setting <= _AT_ONCE

    def runs(self, made: Def) -> bool:
        """Whether the object is called, one of its methods, or something that is handed it."""
        size = len(made.path)
        calls = (path_of(n.func) for n in walk(self._flow.scope) if isinstance(n, ast.Call))
        method = any(path is not None and path[:size] == made.path for path in calls)
        return method or made.path in self._called

    def is_of_library(self, made: Def) -> bool:
        """Whether a library's class made the object, whose attributes are variables then."""
        return self._maker(made).startswith(_LIBRARIES)

    def lists(self, made: Def) -> bool:
        """Whether a class of Keras made it, which lists its variables; ``tf.Module`` does not."""
        return self._maker(made).startswith(_KERAS)

    def _maker(self, made: Def) -> str:
        """The import path of what is called to make the object."""
        call = made.value if isinstance(made.value, ast.Call) else None
        return (self._kinds.name(call.func) if call is not None else None) or ""

    @cached_property
    def _called(self) -> frozenset[Path | None]:
        """What is called, or handed to what is called, by itself or in a list."""
        calls = [n for n in walk(self._flow.scope) if isinstance(n, ast.Call)]
        handed = [a for c in calls for a in arguments_of(c)]
        handed += [e for a in handed if isinstance(a, ast.List | ast.Tuple) for e in a.elts]
        return frozenset(path_of(n) for n in (*(c.func for c in calls), *handed))

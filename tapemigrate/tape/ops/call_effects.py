"""What calls change: the objects, lists and names of a scope, and what is kept out of sight."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping

from tapemigrate.flow.changers import CHANGERS, put_into
from tapemigrate.flow.definitions import Effect, Uses
from tapemigrate.flow.effects import Effects
from tapemigrate.flow.filled import Filled
from tapemigrate.flow.paths import is_super, names_class, path_of
from tapemigrate.flow.run_by_calls import run_by
from tapemigrate.flow.touched import ALL_PARTS, NO_PARTS
from tapemigrate.names import Names
from tapemigrate.patterns import late
from tapemigrate.source.trees import arguments_of
from tapemigrate.tape.ops.symbols import (
    COLLECTING,
    GETTERS,
    LIBRARIES,
    QUIET,
    RUN_WHEN_CALLED,
    short,
)

_SESSION = late(r"(?<![a-z])sess(?:ion)?(?![a-z])|^sess")


class CallEffects:
    """Reads off the source of one file what its calls change.

    ``cls`` and ``self_name`` are the class, and the name of its object, of the scope at hand.
    """

    def __init__(
        self, names: Names, effects: Effects, changing: Callable[[str], bool] | None = None
    ) -> None:
        """``changing`` tells whether a method of that name changes its object, in any file."""
        self._names = names
        self._effects = effects
        self._changing = changing or effects.sets_parts
        self.cls: ast.ClassDef | None = None
        self.self_name: str | None = None
        #: What a method that is called of the object, of another file, may change of that.
        self.below: Callable[[ast.ClassDef, str], frozenset[str]] | None = None
        #: Whether an import path means what another file gave a name, and no module of it.
        self.given_elsewhere: Callable[[str], bool] | None = None

    @property
    def effects(self) -> Effects:
        """What the functions and classes of the file do."""
        return self._effects

    def name(self, node: ast.expr) -> str | None:
        """The dotted path of the imported thing that ``node`` means, None if it means none."""
        return self._names.qualified(node)

    def tensorflow(self, node: ast.expr) -> str | None:
        """The name within TensorFlow of what ``node`` means; None for what is not its own."""
        return short(self._names.qualified(node))

    def changes_object(self, method: str) -> bool:
        """Whether a method of that name changes its object, in any file."""
        return self._changing(method)

    def runs(self, call: ast.Call, reads: Mapping[ast.AST, Uses]) -> Iterator[ast.Call]:
        """The calls that a call may make of methods that change their objects: see ``run_by``."""
        qualified = self._names.qualified(call.func)
        library = short(qualified) is not None or (qualified or "").split(".")[0] in LIBRARIES
        if isinstance(call.func, ast.Name) and qualified is None:
            library = hasattr(builtins, call.func.id)
        # What functions of the file do with methods of the file is known of them, if each of these
        # comes by a name of its own.
        own = self._effects.functions(call.func.id) if isinstance(call.func, ast.Name) else []
        known = bool(own) and not any(function.args.vararg for function in own)
        known = known and not any(isinstance(each, ast.Starred) for each in call.args)

        def is_method(name: str) -> bool:
            """Whether methods of the name change their objects, and nothing is kept by it."""
            if name in QUIET or (known and self._effects.functions(name)):
                return False
            changes = name in CHANGERS or self._changing(name)
            return changes and not self._effects.kept(name)

        return run_by(call, reads, library, is_method)

    def is_above(self, call: ast.Call) -> bool:
        """Whether what a class above has is called for the object at hand."""
        func = call.func
        return isinstance(func, ast.Attribute) and (is_super(func.value) or self._is_of_class(call))

    def effect(self, call: ast.Call) -> Effect:
        """What a call may change, for ``flow.defuse``."""
        qualified = self._names.qualified(call.func)
        name = short(qualified)
        if name is not None:
            return Effect(
                writes_hidden=name.startswith(COLLECTING),
                reads_hidden=name.startswith(("losses.get_", "get_default_graph"))
                or (name in GETTERS and not variables_asked_for(call)),
            )
        if qualified is not None and qualified.split(".")[0] in LIBRARIES:
            return Effect()
        args = (*call.args, *(k.value for k in call.keywords if k.arg is not None))
        # ``Base.build(self)`` sets attributes of its own.
        others: list[ast.expr] = [
            a for a in args if not (self._is_of_class(call) and a is call.args[0])
        ]
        # Of ``**rest``, it has the values.
        others += [k.value for k in call.keywords if isinstance(k.value, ast.Name) and not k.arg]
        func = call.func
        if isinstance(func, ast.Name):
            if qualified is None and hasattr(builtins, func.id):
                return Effect(tuple(call.args[:1])) if func.id == "setattr" else Effect()
            outside = self._effects.outside_names(func.id)
            filled = self._effects.filled(call, func.id)
            changed = (*(ast.Name(n, ast.Load()) for n in sorted(outside)), *filled.surely)
            if self._effects.keeps_state(func.id) or (qualified is None and self._keeps(func.id)):
                changed = (*changed, func)
            rebinds = self._effects.rebound_names(func.id)
            if not self._effects.functions(func.id):
                filled = self._effects.filled_by_making(call, func.id) or Filled([], others, [])
            perhaps = [*filled.perhaps, *filled.unseen]
            changed = (*changed, *self._owners(call, [*filled.surely, *perhaps]))
            objects = _parts([*filled.surely, *perhaps])
            called = func if qualified is None and not self._is_shown(func.id) else None
            contents = (*args, *self._effects.bound(func.id))
            sets = self._effects.sets("__call__") if called is not None else frozenset[str]()
            return Effect(changed, rebinds, contents, objects, called, sets, writes_hidden=True)
        if not isinstance(func, ast.Attribute):
            state = self._effects.keeps_state(None) and path_of(func) is not None
            changed = (func,) if state else tuple(self._effects.filled_by_method(call, "__call__"))
            return Effect(changed, contents=args, called=func, writes_hidden=True)
        me = self.self_name if self.cls is not None else None
        if self.cls is not None and me and self.is_above(call):
            # What a class above has; where it is called on a class, self is an argument.
            above = is_super(func.value)
            base = func.value.id if isinstance(func.value, ast.Name) else ""
            parts = self._effects.touched.written_above(self.cls, func.attr, base)
            parts |= self._parts_below(self.cls, func.attr)
            return Effect(
                (ast.Name(me, ast.Load()),) if parts else (),
                contents=args,
                objects=_parts(others),
                writes_hidden=True,
                sets=self._effects.sets(func.attr) - parts if _but(parts) else NO_PARTS,
                above=me if above else "",
                parts=_but(parts),
            )
        owner = path_of(func.value)
        reads_hidden = func.attr in (
            "get_tensor_by_name",
            "get_operation_by_name",
            "get_operations",
            "as_graph_element",
            *GETTERS,
        )
        quiet = func.attr in QUIET and (is_session(func) or not self._changing(func.attr))
        if quiet or reads_hidden:
            return Effect(reads_hidden=reads_hidden)
        if func.attr in CHANGERS or owner is None:
            given = () if func.attr in CHANGERS or self._is_of_library(func.value) else args
            if owner is None and func.attr in CHANGERS:
                return self._effect_on_part(func.value)
            owners = [each for part in put_into(call) or [func.value] for each in _choices(part)]
            return Effect((*owners, *self._effects.filled_by_method(call, "")), contents=given)
        if (path := self._names.qualified(func.value)) is not None:
            # A module keeps no tensors that a name here could show, but an object of it may.
            asked = self.given_elsewhere if self._changing(func.attr) else None
            kept = (func.value,) if asked is not None and asked(path) else ()
            return Effect(kept, contents=args, objects=_parts(others), writes_hidden=True)
        filled = self._effects.filled(call, func.attr, bound=1)
        changing = [*filled.surely, *filled.perhaps, *filled.unseen]
        if not self._effects.functions(func.attr):
            changing = others
        objects = _parts(a for a in changing if a in others)
        # What an object hands its own methods of itself, they may fill.
        handed = [a for a in filled.surely if (path_of(a) or ())[:1] == (self.self_name,)]
        mine = owner == (self.self_name,)
        parts = NO_PARTS
        if mine and self.cls is not None:
            parts = self._effects.touched.written(self.cls, func.attr)
            parts |= self._parts_below(self.cls, func.attr)
            if not parts:
                held = self._effects.method(self.cls, func.attr) is None
                state = held and self._effects.keeps_state(None)
                return Effect(
                    (func, *handed) if state else tuple(handed),
                    contents=args,
                    objects=objects,
                    called=func if held else None,
                    sets=self._effects.sets("__call__" if held else func.attr),
                    writes_hidden=True,
                )
        changed = (func.value, *handed) if mine else (func.value,)
        parts = _but(parts) if len(changed) == 1 else NO_PARTS
        whole = mine and not parts
        return Effect(
            changed,
            contents=args,
            objects=objects,
            sets=NO_PARTS if whole else self._effects.sets(func.attr) - parts,
            writes_hidden=True,
            parts=parts,
        )

    def _parts_below(self, cls: ast.ClassDef, method: str) -> frozenset[str]:
        return self.below(cls, method) if self.below is not None else NO_PARTS

    def _owners(self, call: ast.Call, given: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """The objects whose methods a function is handed that calls them: ``apply(net.embed, x)``.

        With no value beside them, there is none that they could keep.
        """
        methods = [
            each
            for each in given
            if isinstance(each, ast.Attribute)
            and self._effects.functions(each.attr)
            and self._changing(each.attr)
            and not self._effects.kept(each.attr)
        ]
        beside = [a for a in arguments_of(call) if a not in methods]
        if any(not isinstance(a, ast.Constant) for a in beside):
            yield from (each.value for each in methods)

    def _is_of_class(self, call: ast.Call) -> bool:
        """``Base.method(self, x)``: the object is passed like any other argument."""
        owner = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
        first = path_of(call.args[0]) if call.args else None
        return owner is not None and _is_class(owner[-1]) and first == (self.self_name,)

    def _is_of_library(self, owner: ast.expr) -> bool:
        """Whether it is what a library gives: ``tf.train.AdamOptimizer(0.1)``."""
        made = owner
        while isinstance(made, ast.Call | ast.Attribute | ast.Subscript):
            if isinstance(made, ast.Call):
                qualified = self._names.qualified(made.func) or ""
                if short(qualified) is not None or qualified.split(".")[0] in LIBRARIES:
                    return True
            made = made.func if isinstance(made, ast.Call) else made.value
        return isinstance(made, ast.Constant)

    def _keeps(self, name: str) -> bool:
        """Whether an object of that name may be of a class that sets parts of it when called."""
        return not self._is_shown(name) and any(map(self._changing, RUN_WHEN_CALLED))

    def _is_shown(self, name: str) -> bool:
        """Whether a function or a class of that name stands in this file."""
        return bool(self._effects.functions(name)) or self._effects.class_named(name) is not None

    def _effect_on_part(self, part: ast.expr) -> Effect:
        """What changes with a part that a call gives: ``d.setdefault(k, []).append(v)``."""
        while path_of(part) is None:
            match part:
                case ast.Call(func=ast.Attribute(value=inner) as func):
                    if short(self._names.qualified(func)) in GETTERS:
                        return Effect(writes_hidden=True)
                    part = inner
                case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                    part = inner
                case ast.Call(func=ast.Name(id="vars" | "getattr"), args=[inner, *_]):
                    part = inner
                case ast.Call(func=ast.Name()):
                    return Effect(contents=tuple(arguments_of(part)))  # ``min(a, b).append(v)``
                case _:
                    return Effect()
        return Effect((part,) if self._names.qualified(part) is None else ())


def _but(parts: frozenset[str]) -> frozenset[str]:
    """The attributes that change where others do not; none where all may."""
    return NO_PARTS if parts >= ALL_PARTS else parts


def _is_class(name: str) -> bool:
    return names_class(name)


def _parts(values: Iterable[ast.expr]) -> tuple[ast.expr, ...]:
    """The values, and in place of those that are written out there what they hold."""
    found: list[ast.expr] = []
    for value in values:
        match value:
            case ast.List() | ast.Tuple() | ast.Set():
                found += _parts(value.elts)
            case ast.Dict():
                found += _parts(value.values)
            case ast.Starred():
                found += _parts([value.value])
            case _:
                found.append(value)
    return tuple(found)


def _choices(value: ast.expr) -> list[ast.expr]:
    """What a value may be: ``(a or b).append(x)``, ``(a if first else b).append(x)``."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            return [*_choices(one), *_choices(other)]
        case ast.BoolOp(values=values):
            return [each for part in values for each in _choices(part)]
    return [value]


def is_session(func: ast.Attribute) -> bool:
    """``self.sess.run``: numbers come back. Whatever else has a ``run`` may be a network."""
    return func.attr == "run" and _SESSION.search(name_of_session(func).lower()) is not None


def name_of_session(func: ast.Attribute) -> str:
    """The last name of what the method is called on: ``sess`` of ``self.sess.run``."""
    return (path_of(func.value) or ("",))[-1].lstrip(".")


def variables_asked_for(call: ast.Call) -> str:
    """Which variables ``tf.get_collection`` is asked for: "trainable", "any", or none, ""."""
    key = call.args[0] if call.args else None
    key = next((k.value for k in call.keywords if k.arg == "key"), key)
    if isinstance(key, ast.Attribute):
        if key.attr == "TRAINABLE_VARIABLES":
            return "trainable"
        if key.attr.endswith("VARIABLES"):
            return "any"
    if isinstance(key, ast.Constant) and key.value == "trainable_variables":
        return "trainable"
    return ""

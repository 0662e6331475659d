"""``dataclasses`` for a program that starts often: the same classes, made in a tenth of the time.

The standard library writes and compiles six methods for every class, whether or not they are ever
called: a third of what ``check`` of one file took. Here the constructor is compiled when the first
object is made, and the other methods are shared. What these classes lack, which the standard
library's have, is what nothing here uses: ``InitVar``, ``KW_ONLY``, ``unsafe_hash`` and the like.
``dataclasses.replace``, ``asdict`` and ``fields`` work on them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # What a type checker knows of data classes holds for these.
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace

_MISSING: Any = type("_MISSING", (), {"__repr__": lambda self: "<a default>"})()
_set = object.__setattr__


class _Field:
    """One field: its default, and in which methods it takes part."""

    __slots__ = ("compare", "default", "default_factory", "hash", "init", "name", "repr", "type")

    def __init__(
        self,
        default: Any,
        default_factory: Any,
        init: bool,
        repr: bool,
        hash: bool | None,
        compare: bool,
    ) -> None:
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.hash, self.compare = init, repr, hash, compare
        self.name = self.type = ""


def _field(
    *,
    default: Any = _MISSING,
    default_factory: Any = _MISSING,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
) -> _Field:
    return _Field(default, default_factory, init, repr, hash, compare)


def _dataclass(
    cls: type | None = None,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    order: bool = False,
) -> Any:
    def made(cls: type) -> type:
        return _made(cls, frozen, slots, eq, order)

    return made if cls is None else made(cls)


def _replace(record: Any, /, **changes: Any) -> Any:
    for each in record.__record_fields__:
        if each.init and each.name not in changes:
            changes[each.name] = getattr(record, each.name)
    return record.__class__(**changes)


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace


class _Constructor:
    """Stands for ``__init__`` until it is asked for."""

    __slots__ = ("_cls",)

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: Any, owner: type) -> Any:
        made = _constructor(self._cls)
        self._cls.__init__ = made  # type: ignore[misc]  # the class is ours
        return made if instance is None else made.__get__(instance, owner)


class _StandardFields:
    """What the standard library asks of a data class, made when it does."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any) -> dict[str, Any]:
        from dataclasses import field, make_dataclass

        found = []
        for each in owner.__record_fields__:
            options = {"init": each.init, "repr": each.repr}
            options |= {"hash": each.hash, "compare": each.compare}
            if each.default is not _MISSING:
                options["default"] = each.default
            if each.default_factory is not _MISSING:
                options["default_factory"] = each.default_factory
            found.append((each.name, each.type, field(**options)))
        made: Any = make_dataclass(owner.__name__, found)
        return made.__dataclass_fields__  # type: ignore[no-any-return]  # it is the library's


def _made(cls: type, frozen: bool, slots: bool, eq: bool, order: bool) -> type:
    own = dict(cls.__dict__)
    by_name: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        by_name.update((each.name, each) for each in base.__dict__.get("__record_fields__", ()))
    inherited = frozenset(by_name)
    for name, kind in own.get("__annotations__", {}).items():
        if kind.startswith("ClassVar"):
            continue
        value = own.get(name, _MISSING)
        each = value if isinstance(value, _Field) else _field(default=value)
        each.name, each.type = name, kind
        by_name[name] = each
        if slots or each.default is _MISSING:
            own.pop(name, None)
        else:
            own[name] = each.default
    fields = tuple(by_name.values())
    own["__record_fields__"] = fields
    own["__record_is_frozen__"] = frozen
    own["__dataclass_fields__"] = _StandardFields()
    own["__match_args__"] = tuple(each.name for each in fields if each.init)
    own.setdefault("__repr__", _repr)
    if eq:
        _compared(own, fields, frozen, order)
    if frozen:
        own["__setattr__"] = _refused
        own["__delattr__"] = _refused
    if slots:
        own["__slots__"] = tuple(name for name in by_name if name not in inherited)
        own.pop("__dict__", None)
        own.pop("__weakref__", None)
        if frozen:
            own.setdefault("__getstate__", _state)
            own.setdefault("__setstate__", _restore)
        made = type(cls)(cls.__name__, cls.__bases__, own)
        made.__qualname__ = cls.__qualname__
    else:
        made = cls
        for name, value in own.items():
            if cls.__dict__.get(name, _MISSING) is not value:
                setattr(cls, name, value)
        for name in by_name:
            if name not in own and name in cls.__dict__:
                delattr(cls, name)
    made.__init__ = _Constructor(made)  # type: ignore[misc]  # it gives the constructor
    return made


def _constructor(cls: Any) -> Callable[..., None]:
    """``__init__``, as one would write it."""
    known: dict[str, Any] = {"_MISSING": _MISSING, "_set": _set}
    parameters, body = ["self"], []
    for each in cls.__record_fields__:
        name, value = each.name, each.name
        known[f"_default_{name}"] = each.default
        known[f"_make_{name}"] = each.default_factory
        fresh = each.default_factory is not _MISSING
        if each.init:
            default = "_MISSING" if fresh else f"_default_{name}"
            given = not fresh and each.default is _MISSING
            parameters.append(name if given else f"{name}={default}")
            if fresh:
                value = f"_make_{name}() if {name} is _MISSING else {name}"
        elif fresh:
            value = f"_make_{name}()"
        elif each.default is not _MISSING:
            value = f"_default_{name}"
        else:
            continue
        frozen = cls.__record_is_frozen__
        body.append(f"_set(self, '{name}', {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n ".join(body or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {lines}", known)
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = {each.name: each.type for each in cls.__record_fields__ if each.init}
    return made  # type: ignore[no-any-return]  # it was written above


def _compared(own: dict[str, Any], fields: tuple[_Field, ...], frozen: bool, order: bool) -> None:
    """Adds what compares two objects by their fields."""
    key = _key([each.name for each in fields if each.compare])

    def equal(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return key(self) == key(other)

    own.setdefault("__eq__", equal)
    if order:
        for name in ("lt", "le", "gt", "ge"):
            own[f"__{name}__"] = _ordered(key, getattr(operator, name))
    # A class that tells when two are equal, and no hash, has None there.
    if own.get("__hash__") is not None:
        return
    if not frozen:
        own["__hash__"] = None
        return
    hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
    hashed_key = _key(hashed)

    def hash_of(self: Any) -> int:
        return hash(hashed_key(self))

    own["__hash__"] = hash_of


def _key(names: list[str]) -> Callable[[Any], Any]:
    if not names:
        return lambda record: ()
    return operator.attrgetter(*names)


def _ordered(key: Callable[[Any], Any], compare: Callable[[Any, Any], bool]) -> Any:
    def ordered(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compare(key(self), key(other))

    return ordered


def _repr(self: Any) -> str:
    told = [f"{f.name}={getattr(self, f.name)!r}" for f in self.__record_fields__ if f.repr]
    return f"{self.__class__.__qualname__}({', '.join(told)})"


def _refused(self: Any, name: str, *value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in self.__record_fields__]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(self.__record_fields__, state, strict=True):
        _set(self, each.name, value)

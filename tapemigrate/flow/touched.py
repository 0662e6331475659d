"""Which attributes of their object methods set, change in place or read, with all they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.components import components
from tapemigrate.flow.filled import root_name
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.hooks import is_property
from tapemigrate.flow.members import Members
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.source.trees import walk

NO_PARTS = frozenset[str]()
#: Any attribute may be set, and what the object holds changed.
ALL_PARTS = frozenset({"*"})

# More attributes are not told apart from all others.
_MANY = 64
# What looks at an object, and hands out no part of it that could be changed.
_LOOKING = frozenset({"hasattr", "isinstance", "id", "callable", "print"})
_PLAIN = (("staticmethod",), ("classmethod",), ("abstractmethod",), ("abc", ".abstractmethod"))
_WHOLE = ("", "__dict__", "__class__")


# What is run for an object of the class, or, by its name, of one that extends it: a method, or
# what classes above the third one have by the name.
_Run = tuple[ast.ClassDef, str | NamedFunction, ast.ClassDef | None]


@dataclass(frozen=True, slots=True)
class Told:
    """The attributes that are ``written`` and ``read``, but for what is done out of sight.

    ``unseen`` are methods of the object that are called and not in the file. ``whole``:
    the object itself is handed on, or named once more, or what it keeps is called.
    """

    written: frozenset[str]
    read: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Own:
    """What one method does to its object, and what it calls: of it, above, by a class's name."""

    told: Told
    called: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    of_classes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What was found out of the methods of one file."""

    told: dict[_Run, Told] = field(default_factory=dict)
    own: dict[NamedFunction, _Own] = field(default_factory=dict)


class Touched:
    """Tells it of the classes of one file. ``harmless`` calls put nothing into what they get."""

    def __init__(
        self, members: Members, harmless: Callable[[ast.Call], bool], known: Known
    ) -> None:
        self._members = members
        self._harmless = harmless
        self._known = known.told
        self._own = known.own

    def told(self, cls: ast.ClassDef, name: str) -> Told:
        """What ``self.name(…)`` does, in a method of ``cls``."""
        return self._of((cls, name, None))

    def written(self, cls: ast.ClassDef, name: str) -> frozenset[str]:
        """The attributes that it may change; ``ALL_PARTS`` where that cannot be seen."""
        return _certain(self.told(cls, name))

    def written_above(self, cls: ast.ClassDef, name: str, owner: str = "") -> frozenset[str]:
        """The same of ``super().name(…)``, or of ``Owner.name(self, …)``."""
        heirs = self._members.heirs(cls)
        if not owner:
            return _certain(_both(self._of((each, name, cls)) for each in heirs))
        method = self._of_class(cls, owner, name)
        if method is None:
            return ALL_PARTS
        return _certain(_both(self._of((each, method, None)) for each in heirs))

    def is_unseen_above(self, cls: ast.ClassDef) -> bool:
        """Whether a class above, other than a library's, is not in this file."""
        return not all(
            (isinstance(base, ast.Name) and self._members.class_named(base.id) is not None)
            or self._harmless(ast.Call(base, [], []))
            for each in self._members.lineage(cls)
            for base in each.bases
        )

    def _of(self, asked: _Run) -> Told:
        for part in components([asked], self._further, self._known):
            met = (self._known.get(each, _NOTHING) for run in part for each in self._further(run))
            found = _both([*map(self._itself, part), *met])
            self._known.update(dict.fromkeys(part, found))
        return self._known[asked]

    def _further(self, run: _Run) -> Iterator[_Run]:
        """What is run for the same object in turn."""
        cls, what, above = run
        if isinstance(what, NamedFunction):
            own = self._own_of(what)
            # A property runs where it is read, and so may a method that is handed on.
            asked = (n for n in sorted(own.told.read) if self._members.method(cls, n) is not None)
            yield from ((cls, name, None) for name in dict.fromkeys((*own.called, *asked)))
            named = (self._of_class(cls, *each) for each in own.of_classes)
            yield from ((cls, method, None) for method in named if method is not None)
            home = self._home(cls, what) if own.above else None
            yield from ((cls, name, home) for name in own.above if home is not None)
        elif above is not None:
            yield from ((cls, method, None) for method in self._methods_above(cls, above, what))
        else:
            # On objects of a subclass, another one runs.
            found = ((each, self._members.method(each, what)) for each in self._members.heirs(cls))
            yield from ((each, method, None) for each, method in found if method is not None)

    def _itself(self, run: _Run) -> Told:
        """What is changed there, but for what is run in turn."""
        cls, what, above = run
        if isinstance(what, NamedFunction):
            own = self._own_of(what)
            lost = bool(own.above) and self._home(cls, what) is None
            lost |= any(self._of_class(cls, *each) is None for each in own.of_classes)
            # What is set may be kept elsewhere, or not at all.
            lost |= bool(own.told.written) and self._is_hooked(cls)
            return replace(own.told, written=ALL_PARTS, whole=True) if lost else own.told
        if above is not None:
            # A library's constructor sets nothing that was computed; other methods may call back.
            seen = what == "__init__" and not self.is_unseen_above(cls)
            seen = seen or bool(self._methods_above(cls, above, what))
            return _NOTHING if seen else Told(NO_PARTS, unseen=frozenset({what}))
        method = self._members.method(cls, what)
        if method is None:
            known = what in assigned_attributes(self._members.lineage(cls))
            unseen = frozenset[str]() if known else frozenset({what})
            return Told(NO_PARTS, unseen=unseen, whole=True)
        return Told(ALL_PARTS, whole=True) if _is_left_open(method) else _NOTHING

    def _is_hooked(self, cls: ast.ClassDef) -> bool:
        lineage = self._members.lineage(cls)
        return any(each.name in self._members.hooked for each in lineage)

    def _of_class(self, cls: ast.ClassDef, owner: str, name: str) -> NamedFunction | None:
        """The method that ``Owner.name`` means, where ``cls`` extends that class."""
        base = self._members.class_named(owner)
        known = base is not None and base in self._members.lineage(cls)
        return self._members.method(base, name) if base is not None and known else None

    def _home(self, cls: ast.ClassDef, method: NamedFunction) -> ast.ClassDef | None:
        return next((c for c in self._members.lineage(cls) if method in c.body), None)

    def _methods_above(
        self, cls: ast.ClassDef, home: ast.ClassDef, name: str
    ) -> list[NamedFunction]:
        lineage = list(self._members.lineage(cls))
        return [
            stmt
            for each in lineage[lineage.index(home) + 1 :]
            for stmt in each.body
            if isinstance(stmt, NamedFunction) and stmt.name == name
        ]

    def _own_of(self, method: NamedFunction) -> _Own:
        if method not in self._own:
            self._own[method] = self._look_into(method)
        return self._own[method]

    def _look_into(self, method: NamedFunction) -> _Own:
        if not method.args.args:
            return _Own(_NOTHING)
        me = method.args.args[0].arg
        written: list[frozenset[str]] = []
        read: set[str] = set()
        called: dict[str, None] = {}
        above: dict[str, None] = {}
        of_classes: dict[tuple[str, str], None] = {}
        named = [n for n in walk(method) if isinstance(n, ast.Name) and n.id == me]
        apart: set[ast.expr] = set()
        for node in walk(method):
            if isinstance(node, ast.Attribute):
                apart.add(node.value)
            if isinstance(node, ast.Attribute | ast.Subscript):
                if not isinstance(node.ctx, ast.Load) and root_name(node) == me:
                    written.append(_part_of(node))
                elif isinstance(node, ast.Attribute) and path_of(node.value) == (me,):
                    read.add(node.attr)
            elif isinstance(node, ast.Call) and is_super(node):
                apart.update(node.args)
            elif isinstance(node, ast.Call):
                func = node.func
                given = (*node.args, *(k.value for k in node.keywords))
                passed = any(isinstance(a, ast.Name) and a.id == me for a in given)
                if not isinstance(func, ast.Attribute):
                    called_by = func.id if isinstance(func, ast.Name) else ""
                    if called_by == "setattr" or (passed and called_by not in _LOOKING):
                        written.append(ALL_PARTS)
                    continue
                if passed and not self._harmless(node):
                    if isinstance(func.value, ast.Name) and path_of(given[0]) == (me,):
                        of_classes[func.value.id, func.attr] = None  # ``Base.build(self)``
                        apart.add(given[0])
                    else:
                        written.append(ALL_PARTS)
                if is_super(func.value):
                    above[func.attr] = None
                owner = path_of(func.value) or ("",)
                if owner == (me,):
                    called[func.attr] = None
                elif owner[0] == me and func.attr in CHANGERS:
                    written.append(_part_of(func.value))
        whole = not apart.issuperset(named) or not read.isdisjoint(_WHOLE)
        parts = _joined(written)
        if not all(map(_is_plain, method.decorator_list)):
            parts, whole = (ALL_PARTS if parts else NO_PARTS), True  # more runs than stands there
        told = Told(parts, frozenset(read), whole=whole)
        return _Own(told, tuple(called), tuple(above), tuple(of_classes))


def assigned_attributes(classes: Iterator[ast.ClassDef]) -> frozenset[str]:
    """The names of all attributes that methods of ``classes`` assign on ``self``."""
    return frozenset(
        node.attr
        for cls in classes
        for node in walk(cls)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    )


def _is_plain(decorator: ast.expr) -> bool:
    """Whether what it makes of a method runs that, and nothing else."""
    return is_property(decorator) or path_of(decorator) in _PLAIN


def _part_of(node: ast.expr) -> frozenset[str]:
    """The attribute of the object of which ``node`` is a part: ``layers`` of ``self.layers[0]``."""
    while isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.value, ast.Name):
        node = node.value
    attribute = node.attr if isinstance(node, ast.Attribute) else ""
    return ALL_PARTS if attribute in _WHOLE else frozenset({attribute})


_NOTHING = Told(NO_PARTS)


def _both(told: Iterable[Told]) -> Told:
    """What is told by one or the other."""
    each = [*told]
    return Told(
        _joined(t.written for t in each),
        frozenset().union(*(t.read for t in each)),
        frozenset().union(*(t.unseen for t in each)),
        any(t.whole for t in each),
    )


def _certain(told: Told) -> frozenset[str]:
    return ALL_PARTS if told.unseen else told.written


def _joined(parts: Iterable[frozenset[str]]) -> frozenset[str]:
    """What is changed by one or the other."""
    found = set[str]()
    for each in parts:
        found |= each
        if each >= ALL_PARTS or len(found) > _MANY:
            return ALL_PARTS
    return frozenset(found)


def _is_left_open(method: NamedFunction) -> bool:
    """Whether the method is there for others to write: it raises ``NotImplementedError``."""
    raised = method.body[-1]
    if not isinstance(raised, ast.Raise) or raised.exc is None:
        return False
    error = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
    return (path_of(error) or ("",))[-1].endswith("NotImplementedError")

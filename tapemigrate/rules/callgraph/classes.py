"""Which classes of the files at hand extend which others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.patterns import late
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.class_aliases import ClassAliases
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import assigned, values_by_path
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later, parsed, words_among
from tapemigrate.source.trees import arguments_of

# A class of a function: it may extend what that is handed.
_INNER = late(r"[\r\n][ \t\f]+class\b")
#: Bases that bring no methods of anybody's.
PLAIN_BASES = frozenset({"object", "ABC"})


class Classes:
    """Classes by name, over all files; two of one name count as one where they extend others."""

    def __init__(self, project: Project) -> None:
        self._units = project.units
        self._aliases = ClassAliases(project.units)
        self._named: dict[str, list[tuple[Unit, ast.ClassDef]]] = {}
        self._extended: dict[str, frozenset[str]] = {}
        self._above: dict[str, frozenset[str]] = {}
        self._joining: dict[str, bool] = {}

    def named(self, name: str) -> list[tuple[Unit, ast.ClassDef]]:
        """Every class of that name, or for which that is another name in some file."""
        found = self._named.get(name)
        if found is None:
            found = self._named[name] = self._defined(name)
            for original in sorted(self._aliases.originals(name)):
                found += [each for each in self._defined(original) if each not in found]
        return found

    def _defined(self, name: str) -> list[tuple[Unit, ast.ClassDef]]:
        return [
            (unit, cls)
            for unit in self._units.defining(name)
            for cls in unit.once(_by_name).get(name, ())
        ]

    def extending(self, name: str) -> frozenset[str]:
        """The names of all classes that extend one of that name, through any number of levels.

        The name itself is among them where a class extends another one of its own name.
        """
        if name not in self._extended:
            found = set[str]()
            pending, seen = [name], {name}
            while pending:
                base = pending.pop()
                for known_as in (base, *sorted(self._aliases.of(base))):
                    for file in self._units.may_have(known_as):
                        if known_as != base and not self._may_mean(file, known_as, base):
                            continue
                        extensions = _EXTENSIONS.of(file) or _NONE
                        more = extensions.by_base.get(known_as, frozenset()) | extensions.of_any
                        more |= self._made_of(file, known_as)
                        found |= more
                        pending += more - seen
                        seen |= more
            self._extended[name] = frozenset(found)
        return self._extended[name]

    def _may_mean(self, file: Unit | Later, name: str, base: str) -> bool:
        unit = parsed(file)
        return unit is not None and self._aliases.may_mean(unit, name, base)

    def _made_of(self, file: Unit | Later, name: str) -> set[str]:
        """The classes that functions make of those they are handed: ``wrapped(Net)``."""
        if not words_among(file, self._makers) or (unit := parsed(file)) is None:
            return set()
        functions = unit.once(_handed_to).get(name, set())
        return {made for each in functions for made in self._makers.get(each, ())}

    @cached_property
    def _makers(self) -> dict[str, set[str]]:
        """The classes that functions make of what they are handed, by the names of these."""
        found: dict[str, set[str]] = {}
        for _, file in self._units.files():
            if isinstance(file, Unit) or _INNER.search(file.text) is not None:
                for name, made in (_MAKERS.of(file) or {}).items():
                    found.setdefault(name, set()).update(made)
        return found

    def above(self, name: str) -> frozenset[str]:
        """The names of all classes that one of that name extends, through any number of levels."""
        if name not in self._above:
            found: set[str] = set()
            pending = [name]
            while pending:
                for _, cls in self.named(pending.pop()):
                    more = {b for b in bases(cls) if self.named(b)} - found
                    found |= more
                    pending += more
            self._above[name] = frozenset(found - {name})
        return self._above[name]

    def joins_namesakes(self, name: str) -> bool:
        """Whether a class may extend two of that name: ``class Both(first.Net, second.Net)``.

        Or one of them another.
        """
        if name not in self._joining:
            below = self.extending(name)
            own = {cls for _, cls in self.named(name)}
            leading = {name, *below}

            def leads(base: str) -> bool:
                return base in leading or not own.isdisjoint(cls for _, cls in self.named(base))

            named = (cls for each in sorted(below) for _, cls in self.named(each))
            self._joining[name] = name in below or any(
                sum(map(leads, bases(cls))) > 1 for cls in named
            )
        return self._joining[name]

    def has_unseen_bases(self, unit: Unit, cls: ast.ClassDef) -> bool:
        """Whether ``cls`` may inherit from a class of the user's that is not among the files."""
        return any(not is_of_library(path) for path in self.unseen_bases(unit, cls))

    def may_be_called_back(self, unit: Unit, cls: ast.ClassDef) -> bool:
        """Whether ``cls`` inherits from a class out of sight, which may call its methods."""
        return any(
            path is None or (path.split(".")[0] not in _CALL_NOTHING and path[-8:] != "TestCase")
            for path in self.unseen_bases(unit, cls)
        )

    def unseen_bases(self, unit: Unit, cls: ast.ClassDef) -> Iterator[str | None]:
        """The import paths of the bases, at any level, that are not among the files."""
        pending, seen = [(unit, cls)], {cls}
        while pending:
            home, current = pending.pop()
            if any(self._makes_classes(each) for each in current.decorator_list):
                yield None
            for base, name in zip(current.bases, bases(current), strict=True):
                path = home.names.qualified(base)
                if is_of_library(path):
                    yield path  # ``class Model(tf.keras.Model)``
                    continue
                found = [each for each in self.named(name) if each[1] not in seen]
                if found:
                    seen |= {each for _, each in found}
                    pending += found
                elif not self.named(name) and name not in PLAIN_BASES:
                    yield path

    def _makes_classes(self, decorator: ast.expr) -> bool:
        """Whether a decorator is a function at hand that makes a class, in place of another."""
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        return (path_of(node) or ("",))[-1].lstrip(".") in self._makers


def _by_name(unit: Unit) -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for cls in unit.nodes(ast.ClassDef):
        found.setdefault(cls.name, []).append(cls)
    return found


def _by_base(unit: Unit) -> dict[str, set[str]]:
    """The names of the classes that extend one, by the name of that one."""
    found: dict[str, set[str]] = {}
    for cls in unit.nodes(ast.ClassDef):
        for node, base in zip(cls.bases, bases(cls), strict=True):
            # ``class Model(tf.keras.Model)`` extends none of the files at hand.
            if base != cls.name or not is_of_library(unit.names.qualified(node)):
                for name in (base, *map(_base, unit.once(values_by_path).get((base,), ()))):
                    found.setdefault(name, set()).add(cls.name)
    for call in unit.nodes(ast.Call):
        # ``type("Net", (Mixin, Base), {})``
        if path_of(call.func) == ("type",) and len(call.args) > 1:
            parts = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else []
            together = [_base(part) for part in parts]
            for place, base in enumerate(together):
                # One that is there twice, from two files, is joined with its namesake.
                found.setdefault(base, set()).update(together[:place] + together[place + 1 :])
    return found


def _of_any_base(unit: Unit) -> set[str]:
    """The classes of which the file does not show what they extend: whatever it names, perhaps."""
    handed = {arg.arg for arg in unit.nodes(ast.arg)}
    targets = [each.target for each in unit.nodes(ast.For)]
    targets += [each.target for each in unit.nodes(ast.comprehension)]
    # Of what is unpacked, ``Base, rate = chosen()``, each part is as open as all of it.
    targets += [t for t, _ in unit.once(assigned) if isinstance(t, ast.Tuple | ast.List)]
    taken = {n.id for each in targets for n in ast.walk(each) if isinstance(n, ast.Name)}
    given = unit.once(values_by_path)

    def is_open(node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript):
            return path_of(node.value) is None or is_open(node.value)
        if isinstance(node, ast.Call):
            called = unit.names.qualified(node.func)
            made = (path_of(node.func) or ("",))[-1].lstrip(".")
            return not is_of_library(called) and made not in _TUPLES and not _base(node)
        path = path_of(node)
        if path is None or len(path) > 1:
            return path is None or unit.names.qualified(node) is None
        values = (each for each in given.get(path, ()) if path_of(each) is None)
        return path[0] in handed | taken or any(map(is_open, values))

    return {cls.name for cls in unit.nodes(ast.ClassDef) if any(map(is_open, cls.bases))}


def _handed_to(unit: Unit) -> dict[str, set[str]]:
    """The functions that are handed something, by its name."""
    found: dict[str, set[str]] = {}
    for call in unit.nodes(ast.Call):
        function = (path_of(call.func) or ("",))[-1].lstrip(".")
        for each in arguments_of(call) if function not in _ASKING else ():
            name = (path_of(each) or ("",))[-1].lstrip(".")
            if name and function:
                found.setdefault(name, set()).add(function)
    return found


def _of_parameters(unit: Unit) -> dict[str, set[str]]:
    """The classes that extend a parameter of a function, by the name of that function."""
    found: dict[str, set[str]] = {}
    for cls in unit.nodes(ast.ClassDef):
        above: ast.AST | None = unit.parents[cls]
        while above is not None:
            if isinstance(above, NamedFunction):
                handed = {arg.arg for arg in parameters(above.args)}
                if not handed.isdisjoint(bases(cls)):
                    found.setdefault(above.name, set()).add(cls.name)
            above = unit.parents.get(above)
    return found


@dataclass(frozen=True, slots=True)
class _Extensions:
    """The classes of a file that extend others, by the names of these, and any others perhaps."""

    by_base: dict[str, frozenset[str]]
    of_any: frozenset[str]


def _extensions(unit: Unit) -> _Extensions:
    by_base = {name: frozenset(each) for name, each in _by_base(unit).items()}
    return _Extensions(by_base, frozenset(_of_any_base(unit)))


_NONE = _Extensions({}, frozenset())
_EXTENSIONS = ByText(_extensions)
_MAKERS = ByText(_of_parameters)


def classes(project: Project) -> Classes:
    """The classes of ``project``, found once."""
    return project.once(Classes)


def is_of_library(path: str | None) -> bool:
    """Whether an import path leads to a library that knows nothing of the user's classes."""
    return path is not None and path.split(".")[0] in _LIBRARIES


# These make classes of plain tuples.
_TUPLES = frozenset({"namedtuple", "NamedTuple", "TypedDict"})
# What asks about classes, and extends none.
_ASKING = frozenset({"super", "isinstance", "issubclass"})
# Modules of which no class calls a method that a user's class adds, or with tensors.
_CALL_NOTHING = frozenset({"abc", "collections", "enum", "threading", "typing", "unittest"})
_LIBRARIES = frozenset(
    {"tensorflow", "tensorflow_probability", "numpy", "scipy", "keras", "torch", "gym", "sklearn"}
    | {"abc", "collections", "threading", "enum", "typing", "unittest", "argparse", "sonnet"}
)


def bases(cls: ast.ClassDef) -> list[str]:
    """The names of what the class extends."""
    return [_base(base) for base in cls.bases]


def _base(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and len(node.args) > 1:
        path = path_of(node.func)
        if path is not None and path[-1].lstrip(".") == "with_metaclass":
            return _base(node.args[-1])
    if isinstance(node, ast.Subscript) and path_of(node.value) is not None:
        return _base(node.value)  # ``Net[int]``
    return (path_of(node) or ("",))[-1].lstrip(".")

"""The files in which imported names are made, and the classes that those extend.

They are read off the bytes, so that most of a tree is never parsed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from tapemigrate.flow.paths import names_class
from tapemigrate.model import Handed
from tapemigrate.patterns import late
from tapemigrate.running.arguments import CALLED, Arguments
from tapemigrate.running.imports import LOADING, statements_in, without_imports
from tapemigrate.running.projects import Projects
from tapemigrate.running.reading import IMPORTS_TENSORFLOW, read, searchable
from tapemigrate.running.subclasses import EXTENDS
from tapemigrate.running.texts import Text
from tapemigrate.source.decoding import SourceError, is_notebook

# Through how many modules a name is followed: packages hand on, and classes extend.
_MOST_STEPS = 4
_COMMENT = late(rb"#[^\n]*|[()\\]")
_DOTTED = late(rb"[\w.]+")
# A class, and the lines with its decorators above it.
_DECORATED = late(rb"(?m)^((?:[ \t]*@[^\n]*\n)+)[ \t]*class[ \t]+(\w+)")
_DECORATOR = late(rb"(?m)^[ \t]*@([\w.]+)")
# What is read of an object, at the end of a chain of names: ``self.net.forward``.
_ATTRIBUTE = late(rb"(?<![\w.])(\w+)((?:\.\w+)*)\.(\w+)")
_DEFINED = late(rb"\bdef[ \t]+(\w+)")
_OF_MODULE = late(rb"(?<![\w.])(\w+(?:\.\w+)*)\.(\w+)[ \t]*\(")
_WORD = late(rb"\w+")
_PART = late(rb"\b(\w+)[ \t]*[.\[]")
# ``nets = import_module("nets")``, and what is read of it at once.
_LOADED = late(
    rb"(?m)^[ \t]*(\w+)[ \t]*=[ \t]*(?:\w+\.)?(?:import_module|__import__)"
    rb"\([ \t]*[\"']([\w.]+)[\"'][^()\n]*\)(?:\.(\w+))?"
)
_STAR = late(rb"\bimport[ \t(]*\*")
# A class that a function makes, and extends another.
_INNER_CLASS = late(rb"(?m)^[ \t]+class[ \t]+\w+[ \t]*\([ \t]*\w")
_LIBRARY = sys.stdlib_module_names
# Packages that hand on a name lie at most so many levels above.
_MOST_PACKAGES = 4
# Of so many files it is kept by what steps they import.
_FILES = 64


class Modules:
    """The files that import paths mean, among ``everything``."""

    def __init__(self, everything: Iterable[str], projects: Projects) -> None:
        self._everything = everything
        self._projects = projects
        self._named: dict[str, list[str]] = {}
        self._tables: dict[str, _Table] = {}
        self._arguments: dict[str, Arguments] = {}
        # By the module that imports, and the one that is imported; by a module, and a name there.
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}
        self._led_to: dict[tuple[str, str], frozenset[str]] = {}
        self._used: dict[str, tuple[str, ...]] = {}
        # One file after the other is asked about.
        self._steps: dict[str, _Steps] = {}

    def meant(self, user: str, givers: Iterable[str]) -> Iterator[str]:
        """The files that the one at ``user`` may mean by ``givers``: see ``Links``."""
        named = [each.partition(":")[::2] for each in sorted(givers)]
        # What is imported from a package may be a module of it.
        named += [(_joined(*each), "") for each in named if each[1]]
        return self._followed(
            [(path, name, 0) for module, name in named for path in self._files(user, module)]
        )

    def _followed(self, pending: list[tuple[str, str, int]]) -> Iterator[str]:
        """The files that names of modules lead to, these first, after so many steps."""
        seen: set[tuple[str, str]] = set()
        for path, name, steps in pending:  # which grows meanwhile
            if (path, name) in seen:
                continue
            seen.add((path, name))
            yield path
            if name and steps < _MOST_STEPS:
                for module, further in _origins(self._table(path), name):
                    pending += [(p, further, steps + 1) for p in self._files(path, module)]

    def used(self, user: str) -> Iterator[str]:
        """The files of all that the one at ``user`` imports by name.

        It has no gradient calls of its own, and no more is known of what it uses.
        """
        if user not in self._used:
            table = self._table(user)
            named = (":".join(each) for each in table.imported.values())
            self._used[user] = tuple(self.meant(user, [*named, *table.wholesale]))
        yield from self._used[user]

    def with_used(self, users: Iterable[str]) -> Iterator[str]:
        """``users`` with what they import by name: base classes may run what only theirs do."""
        for user in users:
            yield user
            yield from self.used(user)

    def names_of(self, user: str, home: str, name: str) -> Iterator[str]:
        """What the one at ``user`` may have a name of ``home`` by: ``REGISTRY``, ``u.REGISTRY``."""
        steps = self._steps_of(user)
        for local, module in steps.last.get(name, ()):
            if self._may_be_in(home, user, module, name):
                yield local
        # Told first by the names alone: what they mean takes long.
        meant = {each for anchor in anchors_of(home) for each in steps.any.get(anchor, ())}
        for local, path in sorted(meant):
            if self._may_be_in(home, user, path, name):
                yield f"{local}.{name}"
        if self._lead(steps.wholesale, home, name):
            yield name

    def _may_be_in(self, home: str, user: str, module: str, name: str) -> bool:
        """Whether the one at ``user`` may mean by ``name`` of a module what ``home`` has."""
        return self._lead(self._files(user, module), home, name)

    def _lead(self, files: Collection[str], home: str, name: str) -> bool:
        """Whether the name may mean in one of the files what ``home`` has."""
        return home in files or any(home in self._led(path, name) for path in files)

    def _led(self, path: str, name: str) -> frozenset[str]:
        """The files that a name of the module at ``path`` leads to, and this."""
        key = path, name
        if key not in self._led_to:
            self._led_to[key] = frozenset(self._followed([(path, name, 0)]))
        return self._led_to[key]

    def means_another(self, home: str, user: str, handed: Handed) -> bool:
        """Whether a file that names the function has the name from elsewhere than ``home``.

        It imports it, or its class, from a module that is at hand, and nothing from ``home``. An
        object whose method it is may come from anywhere, and so may what is handed on as a value.
        """
        if handed.followed or handed.shared or user == home:
            return False
        words = {handed.name, *handed.anchors}
        table = self._table(user)
        modules = [module for module, name in table.imported.values() if name in words]
        if table.loads or not any(self._nearest(user, module) for module in modules):
            return False
        ways = self._ways(user, words)
        return not any(self._lead(self._nearest(user, module), home, name) for module, name in ways)

    def starred(self, users: Iterable[str], called: Set[str]) -> Iterator[str]:
        """The files of which ``users`` import all names, where one of ``called`` is among them.

        And those through which it comes, which need not have the word.
        """
        words = [name.encode() for name in called]
        for user in filter(None, users):
            found = [user]
            for path in found:  # which grows meanwhile
                for module in self._table(path).wholesale:
                    found += [each for each in self._files(path, module) if each not in found]
            if any(word in _data(path) for path in found[1:] for word in words):
                yield from found[1:]

    def bringing_tensorflow(self, user: str) -> Iterator[str]:
        """The files from which one that does not import TensorFlow may have it: ``helper.tf``."""
        if IMPORTS_TENSORFLOW.search(_data(user)) is not None:
            return
        found = [user, *self.used(user)]
        for path in found:  # which grows meanwhile
            for module in self._table(path).wholesale:
                found += [each for each in self._files(path, module) if each not in found]
        yield from found[1:]

    def bringing_all_of(self, home: str) -> Iterator[str]:
        """The files that import all names of a module, by others too, and what else they do so."""
        users = [home]
        for path in users if self._starring else ():  # which grows meanwhile
            for user in self._projects.using(path, self._starring):
                brought = {p for m in self._table(user).wholesale for p in self._files(user, m)}
                if user not in users and path in brought:
                    users.append(user)
                    yield from (user, *sorted(brought))

    @cached_property
    def _starring(self) -> list[str]:
        """The files that import all names of some module."""
        modules = (path for path in self._everything if not is_notebook(path))
        return [path for path in modules if _STAR.search(_data(path))]

    def packages_of(self, path: str) -> Iterator[str]:
        """The packages that are loaded before the module at ``path``, the nearest first."""
        folder = os.path.dirname(path)
        while (package := os.path.join(folder, "__init__.py")) in self._packages:
            if package != path:
                yield package
            folder = os.path.dirname(folder)

    @cached_property
    def _packages(self) -> frozenset[str]:
        return frozenset(p for p in self._everything if os.path.basename(p) == "__init__.py")

    def holding(self, path: str) -> Iterator[str]:
        """The package of a module, where it may hand on that as a whole, or loads what it has."""
        package = os.path.join(os.path.dirname(path), "__init__.py")
        if package == path or package not in self._packages:
            return
        data = _data(package)
        word = os.path.splitext(os.path.basename(path))[0].encode()
        if self._table(package).loads or Text(without_imports(data)).among([word]):
            yield package

    def imported(self, user: str) -> set[str]:
        """The files from which the one at ``user`` imports, without what those import in turn."""
        ways = self._ways(user, ())
        return {path for module, _ in ways for path in self._nearest(user, module)}

    def _ways(self, user: str, words: Iterable[str]) -> list[tuple[str, str]]:
        """The modules that a file imports, and the names there; any of ``words`` by a star."""
        table = self._table(user)
        ways = [*table.imported.values()]
        # What is imported from a package may be a module of it.
        ways += [(_joined(module, name), "") for module, name in ways if name]
        return ways + [(module, word) for module in table.wholesale for word in (*words, "")]

    def _nearest(self, user: str, module: str) -> list[str]:
        """Those of the files that a module may mean whose first folder is nearest to its user."""
        from tapemigrate.rules.callgraph.places import nearness

        files = self._files(user, module)
        if module.startswith(".") or len(files) < 2:
            return list(files)
        near = [nearness(user, module, path) for path in files]
        return [path for path, each in zip(files, near, strict=True) if each == max(near)]

    def read(self, user: str) -> Iterator[str]:
        """The files of what the one at ``user`` imports, and reads parts of: ``CACHE["h"]``."""
        table = self._table(user)
        parts = table.parts_read
        named = (":".join(each) for name, each in table.imported.items() if name in parts)
        yield from self.meant(user, named)

    def read_by_subclasses(self, callers: Iterable[str], classes: Set[str]) -> Iterator[str]:
        """The files of what those import, and read parts of, which extend one of ``classes``."""
        names = {each.encode() for each in classes if names_class(each)}
        for path in filter(None, callers) if names else ():
            extended = (match[2] for match in EXTENDS.finditer(_data(path)))
            if any(not names.isdisjoint(_WORD.findall(each)) for each in extended):
                yield from self.read(path)

    def handed(self, callers: Iterable[str], called: Set[str]) -> Iterator[str]:
        """The files of the classes whose objects files make, and hand to what is ``called``."""
        names = [name.encode() for name in called]
        for path in filter(None, callers):
            table = self._table(path)
            if not table.made:
                continue
            arguments = self._arguments_of(path, table)
            handed = frozenset[bytes]().union(*map(arguments.handed_to, names))
            for cls, origin in table.made.items():
                if not handed.isdisjoint(arguments.names_of(cls.encode())):
                    yield from self.meant(path, [":".join(origin)])

    def asked(self, asking: str, callers: Iterable[str]) -> Iterator[str]:
        """The files of what callers import that define what the one at ``asking`` reads of objects.

        ``net.forward(x)`` may give what the object kept as a caller asked it before.
        """
        names = self._table(asking).read_of_objects
        for path in filter(None, callers) if names else ():
            yield from (each for each in self.used(path) if self._table(each).defined & names)

    def extending(self, callers: Iterable[str], classes: Set[str]) -> Iterator[str]:
        """The files whose functions make classes, where files may hand them one of ``classes``."""
        names = sorted(each.encode() for each in classes if names_class(each))
        if not names:
            return
        handed = re.compile(rb"[(,=][ \t\n]*(?:\w+\.)*(?:%b)[ \t\n]*[,)]" % b"|".join(names))
        for path in filter(None, callers):
            if handed.search(_data(path)):
                yield from (each for each in self.used(path) if _INNER_CLASS.search(_data(each)))

    def _arguments_of(self, path: str, table: _Table) -> Arguments:
        if path not in self._arguments:
            makers = frozenset(map(str.encode, table.made))
            self._arguments[path] = Arguments(_data(path), makers)
        return self._arguments[path]

    def _steps_of(self, path: str) -> _Steps:
        if path not in self._steps:
            if len(self._steps) >= _FILES:
                self._steps.clear()
            table = self._table(path)
            files = (each for module in table.wholesale for each in self._files(path, module))
            self._steps[path] = _Steps(table, tuple(dict.fromkeys(files)))
        return self._steps[path]

    def _table(self, path: str) -> _Table:
        if path not in self._tables:
            self._tables[path] = _Table(path)
        return self._tables[path]

    def _files(self, user: str, module: str) -> tuple[str, ...]:
        key = user, module
        if key not in self._found:
            self._found[key] = tuple(self._look_for(user, module))
        return self._found[key]

    def _look_for(self, user: str, module: str) -> Iterator[str]:
        from tapemigrate.rules.callgraph.places import is_module, nearness, steps_of

        if not self._named:
            for path in self._everything:
                *folders, name = steps_of(path)
                name = folders[-1] if folders and name == "__init__" else name
                self._named.setdefault(name, []).append(path)
        for path in self._projects.near(user, self._named.get(module.rpartition(".")[2], ())):
            if not is_module(user, module, path):
                continue
            # Of Python's own modules none is meant, unless one of that name lies nearer.
            if module.partition(".")[0] not in _LIBRARY or nearness(user, module, path) >= 0:
                yield path


class _Table:
    """Where the names of a module come from.

    ``imported`` are modules and the names there, empty where it is the module itself that has the
    name; ``wholesale`` are those of which all names are imported, ``handed_on`` if they are a
    package's. ``loads``: it may import more by other ways. The rest is asked of few files, and read
    off their bytes only then.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.handed_on = os.path.basename(path) == "__init__.py"
        self.imported: dict[str, tuple[str, str]] = {}
        self.wholesale: list[str] = []
        data = _data(path)
        self.loads = any(mark in data for mark in LOADING)
        for statement, names in statements_in(data, is_notebook(path)):
            module, *alias = _decoded(statement).split()
            if names is None:
                self.imported.setdefault(alias[-1] if alias else module, (module, ""))
                continue
            for part in _decoded(_COMMENT.sub(b" ", names)).split(","):
                words = part.split()
                if words == ["*"]:
                    self.wholesale.append(module)
                elif words:
                    self.imported[words[-1]] = (module, words[0])
        for local, module, name in _LOADED.findall(data) if self.loads else ():
            self.imported.setdefault(_decoded(local), (_decoded(module), _decoded(name)))

    @cached_property
    def made(self) -> Mapping[str, tuple[str, str]]:
        """The imported classes that are called, and where they come from: ``nets.Net()``."""
        data = _data(self._path)
        called = set(map(_decoded, set(CALLED.findall(data)))) & self.imported.keys()
        made = {each: self.imported[each] for each in called if names_class(each)}
        for owner, name in sorted(set(_OF_MODULE.findall(data))):
            module, part = self.imported.get(_decoded(owner), ("", ""))
            if module and names_class(_decoded(name)):
                home = _joined(module, part) if part else module
                made.setdefault(_decoded(name), (home, _decoded(name)))
        return dict(sorted(made.items()))

    @cached_property
    def extended(self) -> Mapping[str, Sequence[str]]:
        """The bases of classes, and what decorates these."""
        data = _data(self._path)
        extended: dict[str, list[str]] = {}
        for match in EXTENDS.finditer(data):
            bases = map(_decoded, _DOTTED.findall(match[2]))
            extended.setdefault(_decoded(match[1]), []).extend(bases)
        for match in _DECORATED.finditer(data):
            decorators = map(_decoded, _DECORATOR.findall(match[1]))
            extended.setdefault(_decoded(match[2]), []).extend(decorators)
        return extended

    @cached_property
    def defined(self) -> frozenset[bytes]:
        """The names of its functions and methods."""
        return frozenset(_DEFINED.findall(_data(self._path)))

    @cached_property
    def read_of_objects(self) -> frozenset[bytes]:
        """The attributes that are read, of whatever but imported modules."""
        return frozenset(
            name
            for root, between, name in set(_ATTRIBUTE.findall(_data(self._path)))
            if _decoded(root) not in self.imported
            # Its own methods are at hand.
            and not (root == b"self" and not between and name in self.defined)
        )

    @cached_property
    def parts_read(self) -> Set[str]:
        """Imported names behind which a dot stands, or a bracket."""
        return set(map(_decoded, set(_PART.findall(_data(self._path))))) & self.imported.keys()


class _Steps:
    """What is imported, by the steps of its path: names, and what they are imported from.

    ``last`` has what is imported from a module by its name there; ``any`` whole paths. All names
    are imported from the files ``wholesale``.
    """

    def __init__(self, table: _Table, wholesale: Collection[str]) -> None:
        self.wholesale = wholesale
        self.last: dict[str, list[tuple[str, str]]] = {}
        self.any: dict[str, list[tuple[str, str]]] = {}
        for local, (module, name) in table.imported.items():
            if name:
                self.last.setdefault(name, []).append((local, module))
            path = _joined(module, name) if name else module
            for step in set(path.split(".")):
                self.any.setdefault(step, []).append((local, path))


def anchors_of(path: str) -> list[str]:
    """The names one of which an import of the module holds: its own, and those of its packages."""
    folder, name = os.path.split(os.path.splitext(path)[0])
    above = [step for step in folder.split(os.sep) if step][-_MOST_PACKAGES:]
    return [step for step in (*above, name) if step != "__init__"]


def _joined(module: str, name: str) -> str:
    return f"{module}{'' if module.endswith('.') else '.'}{name}"


def _origins(table: _Table, name: str) -> tuple[tuple[str, str], ...]:
    """From where the module has the name, or the classes that it makes, or the one extends."""
    imported, extended = table.imported, table.extended
    if name in imported:
        return (imported[name],) if imported[name][1] else ()
    if table.handed_on and table.wholesale:
        return tuple((module, name) for module in table.wholesale)
    found = {origin: None for origin in table.made.values() if origin[1]}
    pending, met = [name], {name}
    while pending:
        for base in extended.get(pending.pop(), ()):
            owner, _, last = base.rpartition(".")
            if owner in imported:
                module, part = imported[owner]
                found[".".join(filter(None, [module, part])), last] = None
            elif base in imported and imported[base][1]:
                found[imported[base]] = None
            elif base in extended and base not in met:
                met.add(base)
                pending.append(base)
            elif not owner and base not in extended:
                found.update(dict.fromkeys((module, base) for module in table.wholesale))
    return tuple(found)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _data(path: str) -> bytes:
    try:
        return searchable(path, read(path))
    except SourceError:
        return b""

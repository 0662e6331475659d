"""Which files of a project import which, through any number of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tapemigrate.rules.callgraph.imports_in_text import imports_in
from tapemigrate.rules.callgraph.places import may_hold, steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.units import Later

_LIBRARIES = ("tensorflow", "numpy")


class ImportReach:
    """The imports of files by name. Of none more is asked than its text."""

    def __init__(self, files: Mapping[str, Unit | Later]) -> None:
        self._files = files
        # Modules are told by the last steps of paths, so that few files are looked at for each.
        self._by_step: dict[str, list[str]] = {}
        for name in files:
            for step in dict.fromkeys(steps_of(name)):
                self._by_step.setdefault(step, []).append(name)
        self._imported: dict[str, frozenset[str]] = {}
        self._meant: dict[str, list[str]] = {}
        self._importing: dict[str, set[str]] | None = None

    def imported(self, names: Iterable[str]) -> frozenset[str]:
        """The files that those import, through any number."""
        return _closed(names, self._imports)

    def importing(self, names: Iterable[str]) -> frozenset[str]:
        """The files that import one of those, through any number."""
        names = [*names]
        if names and self._importing is None:
            self._importing = {}
            for user in self._files:
                for name in self._imports(user):
                    self._importing.setdefault(name, set()).add(user)
        users = self._importing or {}
        return _closed(names, lambda name: users.get(name, ()))

    def around(self, names: Iterable[str]) -> frozenset[str]:
        """The files that import one of those, and all that these import."""
        names = [*names]
        above = self.importing(names)
        return above | self.imported({*names, *above})

    def _imports(self, user: str) -> frozenset[str]:
        if user not in self._imported:
            paths = imports_in(self._files[user].text)
            self._imported[user] = frozenset(name for path in paths for name in self._named(path))
        return self._imported[user]

    def _named(self, path: str) -> list[str]:
        """The files that an import path may mean, or in which what it means may be made."""
        if path not in self._meant:
            near = self._by_step.get(path.rpartition(".")[2], ())
            found = [] if path.split(".")[0] in _LIBRARIES else near
            self._meant[path] = [name for name in found if may_hold(name, path)]
        return self._meant[path]


def _closed(names: Iterable[str], onwards: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """What is come to from the names; a name itself only where something leads back to it."""
    pending, found = [*names], set[str]()
    while pending:
        for name in onwards(pending.pop()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return frozenset(found)

"""Projects that lie side by side in one tree, and know nothing of each other.

Methods of the same names would tie their files together, although no program has both. They are
told apart where that is beyond doubt: by folders that each have what a project has, with no file
beside them, and by imports that do not lead from one to the other. Beside such folders, packages
that lie in one folder as they are installed are told apart as well.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property

from tapemigrate.patterns import late
from tapemigrate.running.imports import Imports, imports_in
from tapemigrate.running.packages import is_package
from tapemigrate.source.decoding import is_notebook

# What a project has in its folder, once; a part of one may have a README as well.
_OWN = late(
    r"(?:setup\.(?:py|cfg)|pyproject\.toml|\.git|(?:licen[cs]e|copying)\b.*)$", re.IGNORECASE
)
# What projects have for themselves.
_FOR_ITSELF = frozenset(
    (b"conf", b"conftest", b"doc", b"docs", b"examples", b"setup", b"test", b"tests", b"version")
)
# How the names of libraries begin without which nobody makes tensors.
_TENSORS = (b"tensor", b"tf", b"keras", b"sonnet")
# Files that one process looks through at a time.
_CHUNK = 256
# What is in no project of its own.
_REST = ""

#: Calls a function on each of some lists, perhaps in several processes; None for one that failed.
Spread = Callable[
    [Callable[[Sequence[str]], list[Imports]], Sequence[Sequence[str]]],
    Iterable[list[Imports] | None],
]


class Projects:
    """The projects among the files of ``everything``. What is in none of them is one together."""

    def __init__(self, everything: Sequence[str], spread: Spread) -> None:
        self._everything = everything
        self._spread = spread
        whole = folders_of_projects(everything)
        self._tops = _tops(everything) if len(whole) > 1 else {}
        libraries = _libraries(self._tops, whole)
        projects = {
            folder: top if top in whole else libraries.get(folder, _REST)
            for folder, top in self._tops.items()
        }
        self._project = {
            path: projects[folder]
            for path in everything
            if (folder := os.path.dirname(path)) in projects
        }

    def near(self, file: str, paths: Collection[str]) -> Collection[str]:
        """Those of ``paths`` that a program may have beside ``file``."""
        return self._among(paths, self._beside[self._project[file]]) if self._tops else paths

    def own(self, file: str, paths: Iterable[str]) -> list[str]:
        """Those of ``paths`` that are in the same project as ``file``, or below the same folder."""
        here = self._home(file)
        return [path for path in paths if self._home(path) == here]

    def _home(self, file: str) -> str | None:
        return self._project.get(file) or self._tops.get(os.path.dirname(file))

    def using(self, file: str, paths: Collection[str]) -> Collection[str]:
        """Those of ``paths`` that may use what is in ``file``: imports lead from them to it."""
        return self._among(paths, self._users[self._project[file]]) if self._tops else paths

    def worth_reading(self, files: Iterable[str]) -> Sequence[str]:
        """All files but those of libraries that use none of ``files``, and make no tensors."""
        if not self._tops:
            return self._everything
        theirs = {self._project[file] for file in files}
        wanted = {
            project
            for project, reached in self._reached.items()
            if reached & theirs or any(map(self._makes_tensors, reached))
        }
        return self._among(self._everything, wanted)

    def _makes_tensors(self, project: str) -> bool:
        return any(module.startswith(_TENSORS) for module in self._imports[project].modules)

    def _among(self, paths: Iterable[str], projects: Collection[str]) -> list[str]:
        return [path for path in paths if self._project[path] in projects]

    @cached_property
    def _imports(self) -> Mapping[str, Imports]:
        """What the files of each project import, without what lies in their own folders."""
        paths = self._everything
        chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
        modules: dict[str, set[bytes]] = {project: set() for project in self._project.values()}
        folders: dict[str, set[bytes]] = {project: set() for project in modules}
        for chunk, made in zip(chunks, self._spread(imports_in, chunks), strict=True):
            for path, each in zip(chunk, made or imports_in(chunk), strict=True):
                beside = self._within.get(os.path.dirname(os.path.abspath(path)), ())
                meant = (
                    m for m in each.modules if m.startswith(_TENSORS) or _first(m) not in beside
                )
                modules[self._project[path]].update(meant)
                folders[self._project[path]].update(each.folders)
        return {
            project: Imports(frozenset(found), frozenset(folders[project]))
            for project, found in modules.items()
        }

    @cached_property
    def _within(self) -> Mapping[str, set[bytes]]:
        """The names of the modules and folders in each folder."""
        found: dict[str, set[bytes]] = {}
        for place in self._places:
            folder, name = os.path.split(place)
            found.setdefault(folder, set()).add(os.fsencode(name))
        return found

    @cached_property
    def _places(self) -> Mapping[str, str]:
        """The modules, by their paths without endings, and the folders, with their projects."""
        found: dict[str, str] = {}
        for path, project in self._project.items():
            top = os.path.dirname(self._tops[os.path.dirname(path)])
            # Nobody imports a notebook by its name.
            place = os.path.abspath(path)
            place = os.path.dirname(place) if is_notebook(path) else os.path.splitext(place)[0]
            while place != top and place not in found:
                found[place] = project
                place = os.path.dirname(place)
        return found

    @cached_property
    def _reached(self) -> Mapping[str, frozenset[str]]:
        """For each project those that its imports lead to, through others too, and itself."""
        named = self._named()
        ahead: dict[str, list[str]] = {}
        for project, (modules, folders) in self._imports.items():
            # What it has itself is nearer.
            own = set(map(_first, named[project])) | _LIBRARY | _FOR_ITSELF
            meant = {module for module in modules if _first(module) not in own}
            ahead[project] = [
                other
                for other, names in named.items()
                if not names.isdisjoint(meant)
                or (other and os.fsencode(os.path.basename(other)) in folders)
            ]
        return {project: _closed(project, ahead) for project in named}

    @cached_property
    def _users(self) -> Mapping[str, frozenset[str]]:
        """For each project those whose imports lead to it."""
        return {
            project: frozenset(user for user, found in self._reached.items() if project in found)
            for project in self._reached
        }

    @cached_property
    def _beside(self) -> Mapping[str, frozenset[str]]:
        """For each project those that are reached together with it from somewhere."""
        return {
            project: frozenset().union(*(self._reached[user] for user in users))
            for project, users in self._users.items()
        }

    def _named(self) -> dict[str, set[bytes]]:
        """For each project the first steps, and the first two, by which its files are imported."""
        found: dict[str, set[bytes]] = {project: set() for project in self._project.values()}
        packages = cache(is_package)
        tops = set(self._tops.values())

        def is_first(place: str) -> bool:
            # The folder of a script counts, whatever it holds.
            folder = os.path.dirname(place)
            return folder in tops or not packages(folder)

        for place, project in self._places.items():
            folder, name = map(os.fsencode, os.path.split(place))
            above = os.path.dirname(place)
            # By itself, a folder that is no package gives nothing.
            is_module = name != b"__init__" and (place not in self._within or packages(place))
            if is_module and is_first(place):
                found[project].add(name)
            if above in self._places and is_first(above):
                first = os.path.basename(folder)
                found[project].add(b"%b.%b" % (first, name))
                if packages(above):
                    found[project].add(first + b".")
        return found


_LIBRARY = frozenset(name.encode() for name in sys.stdlib_module_names)


def folders_of_projects(everything: Iterable[str]) -> list[str]:
    """The folders, side by side at the top, that have what a project has."""
    return sorted(filter(_is_project, set(_tops(everything).values())))


def _is_project(folder: str) -> bool:
    try:
        return any(_OWN.match(name) is not None for name in os.listdir(folder))
    except OSError:
        return False


def _tops(everything: Iterable[str]) -> dict[str, str]:
    """For each folder with files that at the top in which it lies; none if files lie beside it."""
    folders = {
        folder: os.path.abspath(folder) for folder in {os.path.dirname(p) for p in everything}
    }
    try:
        top = os.path.commonpath(folders.values())
    except ValueError:  # on several drives, or none at all
        return {}
    if top in folders.values():
        return {}
    start = len(os.path.join(top, ""))
    return {
        folder: whole[:start] + whole[start:].partition(os.sep)[0]
        for folder, whole in folders.items()
    }


def _libraries(tops: Mapping[str, str], whole: Collection[str]) -> dict[str, str]:
    """For folders in packages that lie side by side, with no file beside them, their package."""
    found: dict[str, str] = {}
    mixed: set[str] = set()
    for folder, top in tops.items():
        if top not in whole:
            inside = os.path.abspath(folder)[len(os.path.join(top, "")) :]
            found[folder] = package = os.path.join(top, inside.partition(os.sep)[0])
            if not inside or not is_package(package) or is_package(top):
                mixed.add(top)
    return {folder: package for folder, package in found.items() if tops[folder] not in mixed}


def _first(module: bytes) -> bytes:
    return module.partition(b".")[0]


def _closed(project: str, ahead: Mapping[str, Collection[str]]) -> frozenset[str]:
    found, pending = {project}, [project]
    while pending:
        new = set(ahead[pending.pop()]) - found
        found |= new
        pending += new
    return frozenset(found)

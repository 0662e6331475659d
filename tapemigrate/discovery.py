"""Which files the given paths stand for."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapemigrate.settings import Settings, SettingsError, matches
from tapemigrate.source.decoding import SourceError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.pattern import Pattern

SUFFIXES = (".py", ".pyi", ".ipynb")

#: Folders of other people's code. A virtual environment is known by its ``pyvenv.cfg`` instead.
_FOREIGN_FOLDERS = frozenset({"node_modules", "site-packages", "dist-packages", "__pypackages__"})
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")

Problem = tuple[str, SourceError]


@dataclass(frozen=True, slots=True)
class Ignore:
    """The ``.gitignore`` of one folder, and those of the folders above it."""

    folder: str
    spec: GitIgnoreSpec
    above: Ignore | None

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether git would ignore ``path``: the deepest file with something to say decides."""
        relative = os.path.relpath(os.path.abspath(path), self.folder).replace(os.sep, "/")
        verdict = self._of_folder(relative) if folder else self.spec.check_file(relative).include
        if verdict is not None:
            return verdict
        return self.above is not None and self.above.ignores(path, folder=folder)

    def _of_folder(self, relative: str) -> bool | None:
        """What the last pattern says that is about this very folder.

        Not what one says of all that lies in it, or of a folder above it, which was walked into:
        ``check_file`` takes ``!*/`` after ``*`` for a pattern of the files below, and leaves out
        every folder of a project that names what it keeps.
        """
        for pattern in reversed(self.spec.patterns):
            if pattern.include is None:
                continue
            if _ends_there(pattern, relative) or _ends_there(pattern, relative + "/"):
                return pattern.include
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """A file to look at. ``named``: by the user, and not found in a folder."""

    path: str
    ignore: Ignore | None
    named: bool

    def left_out(self, settings: Settings, *, force: bool = False) -> bool:
        """Whether ``.gitignore`` or the settings leave the file out.

        A file that is named stays, unless ``force`` has the settings speak for it, too. Asked only
        of the few files that could matter: matching patterns costs more than reading.
        """
        if self.named and not force:
            return False
        if self.ignore is not None and self.ignore.ignores(self.path, folder=False):
            return True
        patterns = settings.extend_exclude
        return bool(patterns) and matches(patterns, self.path, settings.root)


class Discovery:
    """Walks the given paths, in order, each folder sorted; every file comes once.

    ``problems`` fills up with what could not be read, ``notes`` with what was passed over.
    """

    def __init__(
        self, settings_for: Callable[[str], Settings], *, respect_gitignore: bool = True
    ) -> None:
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._settings_for = settings_for
        self._respect_gitignore = respect_gitignore
        self._seen_files: set[str] = set()
        self._seen_folders: set[str] = set()

    def walk(self, paths: list[str]) -> Iterator[Found]:
        """The files that ``paths`` stand for."""
        # Not normpath: ``link/..`` is not the folder of the link.
        for path in _within([path.removeprefix("./").rstrip("/") or path for path in paths]):
            try:
                mode = os.stat(path).st_mode
            except (OSError, ValueError) as error:
                self._problem(path, _why(error, path))
                continue
            if stat.S_ISDIR(mode):
                yield from self._folder(path)
            elif stat.S_ISREG(mode):
                if self._is_new(os.path.realpath(path)):
                    yield Found(path, None, named=True)
            else:
                self._problem(path, f"is {_kind(mode)}, not a file")

    def _folder(self, top: str) -> Iterator[Found]:
        real = os.path.realpath(top)
        pending = [(top, real, self._ignores_above(real) if self._respect_gitignore else None)]
        # Links come last, so that a file with a link to it is reported under its own name.
        links: list[tuple[str, Ignore | None]] = []
        while pending or links:
            if not pending:
                path, ignore = links.pop(0)
                pending.extend(self._target_folder(path, ignore))
                if not pending and (file := self._target_file(path, ignore)):
                    yield file
                continue
            folder, real, ignore = pending.pop()
            if real in self._seen_folders:
                continue
            self._seen_folders.add(real)
            try:
                with os.scandir(folder or os.curdir) as entries:
                    inside = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._problem(folder, _why(error, folder))
                continue
            names = {entry.name for entry in inside}
            if folder != top and not names.isdisjoint(_ENVIRONMENT_MARKS):
                continue
            if self._respect_gitignore and ".gitignore" in names:
                ignore = _read_ignore(real, ignore)
            below = []
            prefix = "" if folder == os.curdir else os.path.join(folder, "")
            real_prefix = os.path.join(real, "")
            for entry in inside:
                name = entry.name
                if name.startswith("."):
                    continue
                path = prefix + name
                if entry.is_symlink():
                    links.append((path, ignore))
                elif entry.is_dir():
                    if not self._leaves_out(path, name, ignore):
                        below.append((path, real_prefix + name, ignore))
                elif name.endswith(SUFFIXES):
                    if not entry.is_file():
                        self.notes.append(f"{path}: passed over, not a regular file")
                    elif self._is_new(real_prefix + name):
                        yield Found(path, ignore, named=False)
            pending.extend(reversed(below))

    def _target_folder(
        self, path: str, ignore: Ignore | None
    ) -> list[tuple[str, str, Ignore | None]]:
        if not os.path.isdir(path) or self._leaves_out(path, os.path.basename(path), ignore):
            return []
        return [(path, os.path.realpath(path), ignore)]

    def _target_file(self, path: str, ignore: Ignore | None) -> Found | None:
        if not path.endswith(SUFFIXES) or os.path.isdir(path):
            return None
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            self._problem(path, _why(error, path))
            return None
        if not stat.S_ISREG(mode):
            self.notes.append(f"{path}: passed over, it leads to {_kind(mode)}")
            return None
        if not self._is_new(os.path.realpath(path)):
            return None
        return Found(path, ignore, named=False)

    def _leaves_out(self, folder: str, name: str, ignore: Ignore | None) -> bool:
        if name in _FOREIGN_FOLDERS:
            return True
        if ignore is not None and ignore.ignores(folder, folder=True):
            return True
        try:
            settings = self._settings_for(os.path.join(folder, ""))
        except SettingsError:
            # Told where a file below needs these settings.
            return False
        patterns = settings.extend_exclude
        return bool(patterns) and matches(patterns, folder, settings.root)

    def _ignores_above(self, real: str) -> Ignore | None:
        """The ``.gitignore`` files from the repository's root down to the folder above ``real``."""
        above = []
        folder = real
        while not os.path.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            above.append(parent)
            folder = parent
        ignore = None
        exclude = os.path.join(folder, ".git", "info", "exclude")
        if os.path.isfile(exclude):
            ignore = _read_ignore(folder, None, exclude)
        for each in reversed(above):
            if os.path.isfile(os.path.join(each, ".gitignore")):
                ignore = _read_ignore(each, ignore)
        return ignore

    def _is_new(self, real: str) -> bool:
        if real in self._seen_files:
            return False
        self._seen_files.add(real)
        return True

    def _problem(self, path: str, why: str) -> None:
        self.problems.append((path, SourceError("TM903", why)))


def _within(paths: list[str]) -> list[str]:
    """``paths``, where one that lies in another begins with that.

    Files know each other by the folders in their names: ``a/b.py`` that is given together with
    ``..`` or with ``/home/me/a`` is named as those found there are.
    """
    places = [path if "\0" in path else os.path.realpath(path) for path in paths]
    folders = {path: real for path, real in zip(paths, places, strict=True) if os.path.isdir(real)}
    told = []
    for path, real in zip(paths, places, strict=True):
        above = [top for top, place in folders.items() if real.startswith(os.path.join(place, ""))]
        # A link is not named by what it leads to.
        if above and real == os.path.abspath(path):
            top = min(above, key=lambda each: len(folders[each]))
            inside = os.path.relpath(real, folders[top])
            path = inside if top == os.curdir else os.path.join(top, inside)
        told.append(path)
    return told


def _ends_there(pattern: Pattern, path: str) -> bool:
    """Whether ``pattern`` matches ``path`` up to its end, or up to the slash that ends it.

    Of what a folder's pattern matches, the slash after the folder is a group of its own; one of a
    pattern that matches what is in a folder (``build/**``) is not.
    """
    found = pattern.match_file(path)
    if found is None:
        return False
    if not path.endswith("/"):
        return not any(found.match.groupdict().values())
    # The pattern ``*/`` is one of any slash; the others match once.
    matches = found.match.re.finditer(path)
    return any(match.lastgroup and match.end(match.lastgroup) == len(path) for match in matches)


def _read_ignore(folder: str, above: Ignore | None, path: str | None = None) -> Ignore | None:
    from pathspec import GitIgnoreSpec

    try:
        with open(path or os.path.join(folder, ".gitignore"), encoding="utf-8") as stream:
            lines = stream.readlines()
    except (OSError, ValueError):
        # Git, too, goes on without an ignore file that it cannot read.
        return above
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        # And without a pattern that is none.
        spec = GitIgnoreSpec.from_lines(filter(_is_pattern, lines))
    return Ignore(folder, spec, above)


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _why(error: OSError | ValueError, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        if os.path.islink(path):
            return "is a link to a file that does not exist"
        return "does not exist"
    if isinstance(error, PermissionError):
        return "may not be read (permission denied)"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror}"
    return f"cannot be read: {error}"


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe (FIFO)"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"

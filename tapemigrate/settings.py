"""``[tool.tapemigrate]``: what a user can set, read from the nearest ``pyproject.toml``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, get_args

from tapemigrate.patterns import late

Target = Literal["v2", "v1-graph"]

#: A diagnostic: its file, row, column and code.
Place = tuple[str, int, int, str]

# What files call the modules of the APIs for which an alias may stand.
_USUAL_NAMES = {"tf": "tensorflow", "tfe": "tensorflow.contrib.eager"}
_USUAL = late(r"^tfe?(?=\.)")

#: What keeps a file from being analysed is reported whatever is selected: it must not look clean.
ALWAYS_REPORTED = frozenset({"TM901", "TM902", "TM903"})


class SettingsError(Exception):
    """A setting that cannot be used: one line that names the file, the key and the way out."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings for one file.

    ``root`` is the folder of the ``pyproject.toml``; patterns are relative to it. ``select`` and
    ``ignore`` hold codes or beginnings of codes (``TM2``); an empty ``select`` selects all.
    ``aliases`` maps the dotted name of a user's own wrapper to that of the API it stands for.
    ``held`` are the places of diagnostics that must not be mended now; it stands in no file.
    """

    root: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    unsafe_fixes: bool = False
    target: Target = "v2"
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    held: frozenset[Place] = frozenset()

    def enabled(self, code: str, filename: str) -> bool:
        """Whether ``code`` is to be reported and mended in ``filename``.

        The more specific of ``select`` and ``ignore`` decides; of two alike, ``ignore``.
        """
        if code in ALWAYS_REPORTED:
            return True
        selected = _longest_prefix(code, self.select or ("",))
        ignored = _longest_prefix(code, self.ignore)
        if selected <= ignored:
            return False
        return not any(
            _longest_prefix(code, codes) >= 0 and matches((pattern,), filename, self.root)
            for pattern, codes in self.per_file_ignores.items()
        )


def load(path: str, known_codes: Collection[str]) -> Settings | None:
    """The settings in the ``pyproject.toml`` at ``path``; None if it has no table for this tool.

    Raises:
        SettingsError: for a file that is not TOML, an unknown key or code, a value of a wrong type.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    # Most pyproject.toml files on the way belong to others, and need not even be valid.
    if b"tapemigrate" not in data:
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML: {error}") from None
    tools = table.get("tool", {})
    own = tools.get("tapemigrate") if isinstance(tools, dict) else None
    if own is None:
        return None
    if not isinstance(own, dict):
        raise SettingsError(f"{path}: [tool.tapemigrate] is not a table")
    try:
        return _from_table(own, os.path.dirname(os.path.abspath(path)), known_codes)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def _all_codes() -> Collection[str]:
    from tapemigrate.rules import catalog

    return catalog.codes()


@dataclass(slots=True)
class Resolver:
    """Gives the settings for a path: its nearest ``pyproject.toml``, under the command line's.

    ``select`` takes the place of the file's ``select`` and ``ignore``; ``ignore`` adds to what is
    ignored. Codes that are not among ``known_codes`` (by default those of all rules) are an error.
    """

    known_codes: Collection[str] = field(default_factory=_all_codes)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    unsafe_fixes: bool | None = None
    _by_folder: dict[str, Settings | SettingsError] = field(default_factory=dict)

    def __call__(self, path: str) -> Settings:
        """The settings for the file at ``path``, or for the folder, if it ends in a slash.

        Raises:
            SettingsError: when the ``pyproject.toml`` that holds them cannot be used.
        """
        folder = os.path.dirname(path)
        found = self._by_folder.get(folder)
        if found is None:
            found = self._by_folder[folder] = self._for_folder(os.path.abspath(folder))
        if isinstance(found, SettingsError):
            raise found
        return found

    def _for_folder(self, folder: str) -> Settings | SettingsError:
        found = self._by_folder.get(folder)
        if found is None:
            found = self._read(folder)
            if found is None:
                above = os.path.dirname(folder)
                found = self._override(Settings()) if above == folder else self._for_folder(above)
            self._by_folder[folder] = found
        return found

    def _read(self, folder: str) -> Settings | SettingsError | None:
        path = os.path.join(folder, "pyproject.toml")
        if not os.path.isfile(path):
            return None
        try:
            settings = load(path, self.known_codes)
        except SettingsError as error:
            return error
        return settings and self._override(settings)

    def _override(self, settings: Settings) -> Settings:
        if self.select:
            settings = replace(settings, select=self.select, ignore=())
        if self.unsafe_fixes is not None:
            settings = replace(settings, unsafe_fixes=self.unsafe_fixes)
        return replace(settings, ignore=(*settings.ignore, *self.ignore))


def check_codes(codes: Collection[str], known_codes: Collection[str]) -> tuple[str, ...]:
    """``codes`` in capitals.

    Raises:
        SettingsError: for one that is neither a known code nor the beginning of one.
    """
    result = tuple(code.strip().upper() for code in codes)
    for code in result:
        if not code or not any(known.startswith(code) for known in known_codes):
            raise SettingsError(f"unknown code {code!r}{nearest(code, known_codes)}")
    return result


def matches(patterns: Collection[str], path: str, root: str) -> bool:
    """Whether ``path`` matches one of the patterns, which are gitignore's, relative to ``root``."""
    relative = os.path.relpath(os.path.abspath(path), root or os.curdir).replace(os.sep, "/")
    if os.path.isdir(path):
        relative += "/"
    return bool(_spec(tuple(patterns)).match_file(relative))


@cache
def _spec(patterns: tuple[str, ...]) -> Any:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def _longest_prefix(code: str, prefixes: Collection[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def nearest(name: str, known: Collection[str]) -> str:
    """``; did you mean …?`` for a name that is not among the known ones, where one is near."""
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _from_table(table: dict[str, object], root: str, known_codes: Collection[str]) -> Settings:
    known = [
        name.replace("_", "-") for name in Settings.__match_args__ if name not in ("root", "held")
    ]
    for key in table:
        if key not in known:
            raise SettingsError(f"unknown key {key!r} in [tool.tapemigrate]{nearest(key, known)}")
    target = table.get("target", "v2")
    if target not in get_args(Target):
        raise SettingsError(f"target is {target!r}; it can be {' or '.join(get_args(Target))}")
    unsafe_fixes = table.get("unsafe-fixes", False)
    if not isinstance(unsafe_fixes, bool):
        raise SettingsError("unsafe-fixes must be true or false")
    per_file = table.get("per-file-ignores", {})
    if not isinstance(per_file, dict):
        raise SettingsError("per-file-ignores must be a table of lists of codes")
    return Settings(
        root=root,
        select=check_codes(_strings(table, "select"), known_codes),
        ignore=check_codes(_strings(table, "ignore"), known_codes),
        extend_exclude=_patterns(_strings(table, "extend-exclude"), "extend-exclude"),
        per_file_ignores={
            pattern: check_codes(
                _strings(per_file, pattern, f"per-file-ignores: {pattern!r}"), known_codes
            )
            for pattern in _patterns(per_file, "per-file-ignores")
        },
        unsafe_fixes=unsafe_fixes,
        target=target,  # type: ignore[arg-type]  # checked above
        aliases=_aliases(table),
    )


def _strings(table: dict[str, object], key: str, name: str = "") -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SettingsError(f"{name or key} must be a list of strings")
    return tuple(value)


def _patterns(patterns: Iterable[str], key: str) -> tuple[str, ...]:
    found = tuple(patterns)
    for pattern in found:
        try:
            _spec((pattern,))
        except (ValueError, re.error):
            raise SettingsError(f"{key}: {pattern!r} is no pattern of gitignore's") from None
    return found


def _aliases(table: dict[str, object]) -> dict[str, str]:
    """The aliases, each API under a name that the rules know."""
    aliases = table.get("aliases", {})
    if not isinstance(aliases, dict) or not all(isinstance(api, str) for api in aliases.values()):
        raise SettingsError("aliases must be a table of names")
    if not aliases:
        return {}
    # Imported here: hardly anybody has aliases.
    from tapemigrate.rules import catalog

    found = {}
    for name, api in aliases.items():
        if not all(part.isidentifier() for part in name.split(".")):
            raise SettingsError(f"aliases: {name!r} is no dotted name")
        path = _USUAL.sub(lambda match: _USUAL_NAMES[match[0]], api)
        try:
            catalog.known_api(path)
        except KeyError:
            near = nearest(path, catalog.symbols())
            raise SettingsError(f"aliases: no rule is about {api!r}{near}") from None
        found[name] = path
    return found

"""The files that star imports of a file mean, and the names that these have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from tapemigrate.rules.callgraph.places import is_module
from tapemigrate.source import SourceFile
from tapemigrate.source.starred import names_for_stars, starred_modules


def with_brought(file: SourceFile, files: Mapping[str, SourceFile]) -> SourceFile:
    """The file, with what its star imports may bring of modules among ``files``."""
    modules = starred_modules(file.text)
    found = [(module, frozenset(_names(file, module, files.values()))) for module in modules]
    brought = tuple((module, names) for module, names in found if names)
    return replace(file, brought=brought) if brought else file


def _names(user: SourceFile, module: str, files: Collection[SourceFile]) -> Iterator[str]:
    pending, met = [(user, module)], {user.filename}
    while pending:
        asking, path = pending.pop()
        for home in files:
            if home.filename in met or not is_module(asking.filename, path, home.filename):
                continue
            met.add(home.filename)
            yield from names_for_stars(home.text, home.filename)
            # A module hands on what it has from others.
            pending += [(home, each) for each in starred_modules(home.text)]

"""The files that imports of a file mean, and what these have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from tapemigrate.rules.callgraph.places import is_module
from tapemigrate.source import SourceFile
from tapemigrate.source.own_imports import Offered, asked_modules, offered, starred_modules


def with_brought(file: SourceFile, files: Mapping[str, SourceFile]) -> SourceFile:
    """The file, with what it may import of ``files`` by a star, or under another name."""
    found = [(each, _offered(file, each, files.values())) for each in asked_modules(file.text)]
    brought = tuple((module, there) for module, there in found if there.starred or there.code)
    return replace(file, brought=brought) if brought else file


def _offered(user: SourceFile, module: str, files: Collection[SourceFile]) -> Offered:
    starred, code = set[str](), set[str]()
    pending, met = [(user, module)], {user.filename}
    while pending:
        asking, path = pending.pop()
        for home in files:
            if home.filename in met or not is_module(asking.filename, path, home.filename):
                continue
            met.add(home.filename)
            there = offered(home.text, home.filename)
            starred |= there.starred
            if asking is user:
                code |= there.code
            # A module hands on what it has from others.
            pending += [(home, each) for each in starred_modules(home.text)]
    return Offered(frozenset(starred), frozenset(code))

"""What is analysed in one piece: a file, or those that hand tapes to each other."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from tapemigrate.results import Mode
from tapemigrate.running.cache import Cache, key_of
from tapemigrate.settings import Settings


@dataclass(frozen=True, slots=True)
class Task:
    """One file to analyse, with the other files that may hold callers of its functions.

    ``others`` are analysed, and rewritten, together with it. Of these, nothing is to be found in
    ``idle`` ones, which parse.
    """

    filename: str
    settings: Settings
    mode: Mode
    edits: bool
    context: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    cache: Cache | None = None

    @property
    def filenames(self) -> tuple[str, ...]:
        """All files that are analysed."""
        return (self.filename, *self.others)

    def key(self, digest_of: Callable[[str], str]) -> str:
        """The name, in the cache, of what is found in files of these contents."""
        contents = [(name, digest_of(name)) for name in (*self.filenames, *self.context)]
        place = os.path.abspath(self.filename)
        return key_of("files", self.settings, place, len(self.others), contents, *_writer(self))


def _writer(task: Task) -> tuple[str, ...]:
    """The version of what makes the edits, where edits are asked for."""
    if not task.edits:
        return ()
    from importlib.metadata import version

    return ("edits", version("libcst"))

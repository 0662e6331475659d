"""The first look at all files of a run: what they hold, in short, and which of them may matter.

What an earlier run saw in a file is believed where its size, its times and its place on the disk
are still the same, so that a tree that has not changed is not read again. Of a file that was
written shortly before it was read, the times say nothing: they are not that exact, and a later
change could leave them as they are. Such a file is read the next time as well, as ``git`` does it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from tapemigrate.running import forked
from tapemigrate.running.cache import Cache, digest, key_of
from tapemigrate.running.reading import read_with_status, tells_something
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceError

# How exact the times of files are where they are least so.
_EXACT_NS = 2_000_000_000

#: Which state of a file was looked at, what stands for its contents, and whether it may matter.
Seen = tuple[str, str, bool]


class Looks:
    """Looks at files below some folders, and keeps what it saw for the next run.

    ``digests`` stand for what the files held, where there is a cache.
    """

    def __init__(self, cache: Cache | None, paths: Sequence[str], jobs: int) -> None:
        self.digests: dict[str, str] = {}
        self._cache = cache
        self._jobs = jobs
        self._key = key_of("looks", os.getcwd(), _user(), *paths) if cache is not None else ""
        # Single files are read in no time, and a list of them may never be given again. Windows
        # does not tell when something of a file has changed last, its times included.
        if cache is None or sys.platform == "win32" or not any(map(os.path.isdir, paths)):
            self._before = 0
            self._earlier: dict[str, Seen] = {}
        else:
            self._before = cache.now() - _EXACT_NS
            self._earlier = cache.get(self._key) or {}
        self._seen: dict[str, Seen] = {}

    def at(self, files: Mapping[str, Settings]) -> dict[str, bool | SourceError]:
        """Whether there may be something to say of each file; if in doubt, there may."""
        unread = [
            (path, tuple(settings.aliases))
            for path, settings in files.items()
            if not self._is_known(path, settings)
        ]
        look = partial(_look, hashed=self._cache is not None)
        found: dict[str, bool | SourceError] = dict.fromkeys(files, False)
        for asked, made in zip(unread, forked.each(look, unread, self._jobs), strict=True):
            path, _ = asked
            try:
                # What went wrong in another process is told by the one that meets it here.
                newest, seen = made or _looked(*asked, hashed=self._cache is not None)
            except SourceError as error:
                found[path] = error
                continue
            found[path] = seen[2]
            self.digests[path] = seen[1]
            if newest < self._before:
                self._seen[path] = seen
        for path, (_, contents, matters) in self._seen.items():
            self.digests[path] = contents
            found[path] = matters
        return found

    def keep(self) -> None:
        """Keeps what was seen."""
        if self._cache is not None and self._seen != self._earlier:
            self._cache.put(self._key, self._seen)

    def are_still_true(self, files: Iterable[str]) -> bool:
        """Whether the files are certainly as they were when they were looked at."""
        try:
            return all(self._seen[path][0].startswith(_state(os.stat(path))) for path in files)
        except (KeyError, OSError, ValueError):
            return False

    def _is_known(self, path: str, settings: Settings) -> bool:
        seen = self._earlier.get(path)
        if seen is None:
            return False
        try:
            state = _state(os.stat(path))
        except (OSError, ValueError):
            return False
        if seen[0] != state + ",".join(settings.aliases):
            return False
        self._seen[path] = seen
        return True


def _look(asked: tuple[str, tuple[str, ...]], hashed: bool) -> tuple[int, Seen] | None:
    try:
        return _looked(*asked, hashed=hashed)
    except Exception:
        return None


def _looked(path: str, aliases: tuple[str, ...], *, hashed: bool) -> tuple[int, Seen]:
    """When the file has changed last, and what was seen.

    Raises:
        SourceError: TM903.
    """
    data, status = read_with_status(path)
    contents = digest(data) if hashed else ""
    seen = (_state(status) + ",".join(aliases), contents, tells_something(path, data, aliases))
    return max(status.st_mtime_ns, status.st_ctime_ns), seen


def _state(status: os.stat_result) -> str:
    """What is no longer the same when a file has been written, replaced or given other times."""
    place = f"{status.st_dev} {status.st_ino} {status.st_mode}"
    return f"{place} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} "


def _user() -> int:
    """Who runs this: another one may not be allowed to read the same files."""
    return os.geteuid() if hasattr(os, "geteuid") else 0

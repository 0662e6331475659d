"""What earlier runs have found out, by the contents of all that it depends on.

An entry is a file of its own, named by the hash of everything that its value follows from: the
bytes of the files, the settings, and a stamp of this program, its rules and Python. So nothing is
ever out of date, and runs side by side write the same or different files, each in one step. An
entry holds a checksum; one that is damaged is thrown away. Values are JSON.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import tapemigrate

NAME = ".tapemigrate_cache"

_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache of tapemigrate. See https://bford.info/cachedir/\n"
)
_MONTH = 30 * 24 * 3600
_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries in a folder, all made by this program as it is; it is plain data."""

    folder: str

    def get(self, key: str) -> Any:
        """The value of ``key``; None where there is none that is whole."""
        path = self._path(key)
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except OSError:
            return None
        import json

        checksum, _, text = data.partition(b"\n")
        if checksum == _checksum(key, text):
            with suppress(ValueError):
                return json.loads(text)
        with suppress(OSError):
            os.unlink(path)
        return None

    def put(self, key: str, value: Any) -> None:
        """Keeps a value, which JSON can hold. Where nothing can be written, nothing is kept."""
        import json

        path = self._path(key)
        text = json.dumps(value, separators=(",", ":")).encode()
        # The name says who writes: two that write at once do not meet.
        temporary = f"{path}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(temporary, "wb") as stream:
                stream.write(_checksum(key, text) + b"\n" + text)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)

    def now(self) -> int:
        """The time in nanoseconds, as files get it where the cache is; early if in doubt."""
        path = self._path(f"now.{os.getpid()}")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as stream:
                there = os.fstat(stream.fileno()).st_mtime_ns
            os.unlink(path)
        except OSError:
            return 0
        return min(there, time.time_ns())

    def sweep(self) -> None:
        """Removes, once a day, what is a month old, other versions' entries included."""
        top = os.path.dirname(self.folder)
        mark = os.path.join(top, "swept")
        now = time.time()
        try:
            if os.path.exists(mark) and now - os.stat(mark).st_mtime < _DAY:
                return
            with open(mark, "wb"):
                os.utime(mark)
        except OSError:
            return
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                with suppress(OSError):
                    if folder != top and now - os.stat(path).st_mtime > _MONTH:
                        os.unlink(path)

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key[2:])


def open_cache(folder: str) -> Cache | None:
    """The cache in ``folder``, which is made; None where that cannot be."""
    try:
        os.makedirs(folder, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)
    except OSError:
        if not os.path.isdir(folder):
            return None
    return Cache(os.path.join(folder, f"{tapemigrate.__version__}-{stamp()}"))


def digest(data: bytes) -> str:
    """What stands for the bytes of a file."""
    from hashlib import sha256

    return sha256(data).hexdigest()[:40]


def key_of(*parts: object) -> str:
    """The name of what follows from ``parts``: strings, numbers, and tuples of them."""
    return digest(repr(parts).encode("utf-8", "backslashreplace"))


@cache
def stamp() -> str:
    """Stands for this program as it is, to the last edit of it, for its rules, and for Python."""
    parts: list[object] = [sys.version]
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for top in (here, os.path.join(os.path.dirname(here), "rules")):
        parts += sorted(_files(top))
    return key_of(*parts)[:16]


def _files(top: str) -> Iterable[tuple[str, int, int]]:
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif entry.name.endswith((".py", ".toml")):
                status = entry.stat()
                yield os.path.relpath(entry.path, top), status.st_size, status.st_mtime_ns


def _checksum(key: str, text: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(text, digest_size=16, key=key.encode()).hexdigest().encode()

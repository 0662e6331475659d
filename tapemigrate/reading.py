"""The bytes of many files: reading them, telling which may matter, finding words in them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tapemigrate.cache import Cache, digest, key_of
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceError, hides_ascii, is_notebook

_OWN_CODE = re.compile(rb"\bTM[1-9][0-9]{2}\b")
# A script that a notebook runs gives it all of its names, too.
_STAR = re.compile(rb"\bimport[\s\\]*\*|%run\b")
# What no word is made of becomes a space. Bytes beyond ASCII are parts of words: a name has them.
_APART = bytes(
    code if code >= 128 or chr(code).isalnum() or code == ord("_") else 32 for code in range(256)
)
# Files that one process looks through at a time, and words from which on that pays.
_CHUNK = 256
_FEW = 6

#: The words that stand in each of some files.
Found = list[list[str]]


@dataclass(frozen=True, slots=True)
class Search:
    """Some files, and words to look for in them."""

    paths: Sequence[str]
    words: frozenset[str]
    cache: Cache | None = None
    known: Found | None = None

    def key(self, digests: Iterable[str]) -> str:
        """The name, in the cache, of what is found in files of these contents."""
        return key_of("words", sorted(self.words), list(digests))


def read(path: str) -> bytes:
    """The bytes of a regular file, which may have become something else since it was found.

    Raises:
        SourceError: TM903.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError("TM903", "is not a regular file")
            data = os.read(handle, status.st_size + 1)
            if len(data) != status.st_size:
                # It grows, is read piece by piece, or has no size, as files in /proc.
                pieces = [data]
                while pieces[-1]:
                    pieces.append(os.read(handle, 1 << 20))
                data = b"".join(pieces)
            return data
        finally:
            os.close(handle)
    except OSError as error:
        raise SourceError("TM903", f"cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise SourceError("TM903", "is too large to be read into memory") from None


def searchable(path: str, data: bytes) -> bytes:
    """The bytes of a file in a form in which words can be looked for."""
    if not is_notebook(path):
        return data
    from tapemigrate.source.notebooks import flattened

    return flattened(data)


def may_matter(path: str, settings: Settings, digests: dict[str, str] | None = None) -> bool:
    """Whether there may be something to say of the file; if in doubt, there may.

    ``digests`` takes what stands for the contents of the file.

    Raises:
        SourceError: TM903.
    """
    data = read(path)
    if digests is not None:
        digests[path] = digest(data)
    data = searchable(path, data)
    if settings.aliases or _reaches_tensorflow(data):
        from tapemigrate.rules.catalog import prefilter

        if prefilter(tuple(settings.aliases)).search(data):
            return True
    if b"tapemigrate:" in data or (b"TM" in data and _OWN_CODE.search(data)):
        return True
    return hides_ascii(data)


def _reaches_tensorflow(data: bytes) -> bool:
    """Whether a name may mean something of TensorFlow's: by an import, or ``tf`` by a star import.

    Most files fall at the first search, which costs less than those for all the names.
    """
    if b"tensorflow" in data:
        return True
    # The one in ``utf-8`` is the name of nothing.
    names = data.count(b"tf")
    return names > 0 and names != data.count(b"utf") and _STAR.search(data) is not None


class Words:
    """Finds the files of a tree in which words stand; what was looked for once is known.

    ``spread`` has searches made by several processes, and gives None for one that was killed.
    ``digests`` stand for what the files held when they were read first.
    """

    def __init__(
        self,
        paths: Sequence[str],
        spread: Callable[[list[Search]], Iterable[Found | None]] | None = None,
        cache: Cache | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self._paths = paths
        self._spread = spread or (lambda searches: map(words_in, searches))
        self._cache = cache
        self._digests = digests or {}
        self._places: dict[str, list[str]] = {}

    def __call__(self, words: Collection[str]) -> dict[str, list[str]]:
        """The files, in order, in which each of the words stands."""
        new = frozenset(word for word in words if word not in self._places)
        if new:
            self._look_for(new)
        return {word: self._places[word] for word in words}

    def _look_for(self, words: frozenset[str]) -> None:
        for word in words:
            self._places[word] = []
        searches = []
        for start in range(0, len(self._paths), _CHUNK):
            search = Search(self._paths[start : start + _CHUNK], words, self._cache)
            if self._cache is not None:
                key = search.key(self._digests.get(path, "") for path in search.paths)
                search = replace(search, known=self._cache.get(key))
            searches.append(search)
        made = iter(self._spread([search for search in searches if search.known is None]))
        for search in searches:
            found = search.known
            if found is None:
                found = next(made) or words_in(search)
            for path, here in zip(search.paths, found, strict=True):
                for word in here:
                    self._places[word].append(path)


def words_in(search: Search) -> Found:
    """The words that stand in each of the files; none in one that cannot be read."""
    # A word may come from the name of a file that is no text.
    wanted = {word.encode("utf-8", "backslashreplace"): word for word in search.words}
    digests: list[str] = []
    found: Found = []
    for path in search.paths:
        try:
            data = read(path)
        except SourceError:
            digests.append("")
            found.append([])
            continue
        if search.cache is not None:
            digests.append(digest(data))
        data = searchable(path, data)
        here: Iterable[bytes] = ()
        if len(wanted) > _FEW or any(word in data for word in wanted):
            here = wanted.keys() & data.translate(_APART).split()
        found.append(sorted(wanted[word] for word in here))
    if search.cache is not None:
        search.cache.put(search.key(digests), found)
    return found

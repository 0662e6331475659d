"""The bytes of many files: reading them, telling which may matter, finding words in them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Sequence

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

#: Some files, and words to look for in them.
Search = tuple[Sequence[str], frozenset[bytes]]
#: The words that stand in each of the files; None where nobody could tell.
Found = Iterable[list[Collection[bytes]] | None]


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


def searchable(path: str) -> bytes:
    """The bytes of a file, in a form in which words can be looked for.

    Raises:
        SourceError: TM903.
    """
    data = read(path)
    if not is_notebook(path):
        return data
    from tapemigrate.source.notebooks import flattened

    return flattened(data)


def may_matter(path: str, settings: Settings) -> bool:
    """Whether there may be something to say of the file; if in doubt, there may.

    Raises:
        SourceError: TM903.
    """
    data = searchable(path)
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
    return b"tensorflow" in data or (b"tf" in data and _STAR.search(data) is not None)


class Words:
    """Finds the files of a tree in which words stand; what was looked for once is known.

    ``spread`` has searches made by several processes.
    """

    def __init__(
        self, paths: Sequence[str], spread: Callable[[Sequence[Search]], Found] | None = None
    ) -> None:
        self._paths = paths
        self._spread = spread or (lambda searches: map(words_in, searches))
        self._known: dict[str, list[str]] = {}

    def __call__(self, words: Collection[str]) -> dict[str, list[str]]:
        """The files, in order, in which each of the words stands."""
        new = [word for word in words if word not in self._known]
        if new:
            self._look_for(new)
        return {word: self._known[word] for word in words}

    def _look_for(self, words: Sequence[str]) -> None:
        # A word may come from the name of a file that is no text.
        wanted = {word.encode("utf-8", "backslashreplace"): word for word in words}
        for word in words:
            self._known[word] = []
        starts = range(0, len(self._paths), _CHUNK)
        searches = [(self._paths[k : k + _CHUNK], frozenset(wanted)) for k in starts]
        for search, found in zip(searches, self._spread(searches), strict=True):
            for path, here in zip(search[0], found or words_in(search), strict=True):
                for each in here:
                    self._known[wanted[each]].append(path)


def words_in(search: Search) -> list[Collection[bytes]]:
    """The words that stand in each of the files; none in one that cannot be read."""
    paths, words = search
    found: list[Collection[bytes]] = []
    for path in paths:
        try:
            data = searchable(path)
        except SourceError:
            found.append(())
            continue
        if len(words) <= _FEW and not any(word in data for word in words):
            found.append(())
            continue
        found.append(words.intersection(data.translate(_APART).split()))
    return found

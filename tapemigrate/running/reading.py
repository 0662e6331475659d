"""The bytes of many files: reading them, telling which may matter, finding words in them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tapemigrate.model import SET
from tapemigrate.patterns import late
from tapemigrate.running.cache import Cache, digest, key_of
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceError, hides_ascii, is_notebook

if TYPE_CHECKING:
    import re

# Patterns that begin with letters are looked for many times as fast as others, and those that begin
# with one rare letter even faster.
_OWN_CODE = late(rb"M(?<=TM)(?<!\wTM)[1-9][0-9]{2}\b")
_STAR = late(rb"import[\s\\]*\*")
_END_OF_STAR = late(rb"\*(?:(?<=import\*)|(?<=import[\s\\]\*)|(?<=[\s\\]{2}\*))")
_RUN = late(rb"%(?=run)")
_TF = late(rb"tf(?<![\w\x80-\xff]tf)e?(?![\w\x80-\xff])")
# What no word is made of becomes a space. Bytes beyond ASCII are parts of words: a name has them.
_APART = bytes(
    code if code >= 128 or chr(code).isalnum() or code == ord("_") else 32 for code in range(256)
)
_GAP = 32
# Files that one process looks through at a time.
_CHUNK = 256
# The names that an import statement names: up to the end of its line, or of its parentheses.
_IMPORTS = late(rb"import\b(?:[ \t]|\\\r?\n)*(?:\((?:[^)#]|#[^\n]*)*|(?:[^\n\\;]|\\\r?\n)*)")
# What brings names in that stand in no statement.
_WHOLESALE = (
    *(late(rb"exec(?:file)?\b"), late(rb"globals[ \t]*\(")),
    late(rb"%run\b"),
)
# The modules from which names are imported.
_MODULES = late(rb"from\b((?:[\w.\x80-\xff \t]|\\\r?\n)+?)\bimport\b")
_CALL = late(rb"(?:\s|\\)*[(#]")
_VALUE = late(rb"(?:\s|\\)*=(?!=)")
_USE = late(rb"(?:\s|\\)*[(),#]")
_SPACE = b" \t\r\n\f\\"
_BLANK = _SPACE + b"\v"
# What hardly any gap between words is longer than.
_GAP_AT_MOST = 400

#: Before a word: only where it may mean something of another file. See ``Text.reaches_out``.
FOREIGN = "."
#: Only where it may mean a function or class of another file, and is called or passed on.
USED = "("
#: Only where it may mean a module, a package or a class of another file.
HOME = "/"
#: Only where a function, method or class of that name is defined.
DEFINED = ":"
#: Only where it is called as a method.
CALLED = "!"

_PREFIXES = FOREIGN + USED + HOME + DEFINED + CALLED + SET

#: The words that stand in each of some files.
Found = list[list[str]]
#: Of each of some files what stands for its contents, where there is a cache, and all its words,
#: each once, with spaces between.
Vocabularies = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Search:
    """Some files, and words to look for in them, some of them ``FOREIGN`` and the like.

    ``vocabularies`` are what an earlier search told of the same files.
    """

    paths: Sequence[str]
    words: frozenset[str]
    cache: Cache | None = None
    known: Found | None = None
    vocabularies: Vocabularies | None = None

    def key(self, digests: Iterable[str]) -> str:
        """The name, in the cache, of what is found in files of these contents."""
        return key_of("words", sorted(self.words), list(digests))


def read(path: str) -> bytes:
    """The bytes of a regular file, which may have become something else since it was found.

    Raises:
        SourceError: TM903.
    """
    return read_with_status(path)[0]


def read_with_status(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and what the system told of it before they were read.

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
            return data, status
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


def may_matter(path: str, settings: Settings) -> bool:
    """Whether there may be something to say of the file; if in doubt, there may.

    Raises:
        SourceError: TM903.
    """
    return tells_something(path, read(path), tuple(settings.aliases))


def tells_something(path: str, data: bytes, aliases: tuple[str, ...]) -> bool:
    """Whether there may be something to say of a file with these bytes.

    Raises:
        SourceError: TM903.
    """
    data = searchable(path, data)
    if aliases or _reaches_tensorflow(data):
        from tapemigrate.rules.catalog import prefilter

        if prefilter(aliases).search(data):
            return True
    if b"tapemigrate:" in data or _OWN_CODE.search(data) is not None:
        return True
    return hides_ascii(data)


def _reaches_tensorflow(data: bytes) -> bool:
    """Whether a name may mean something of TensorFlow's: by an import, or ``tf`` by a star import.

    Most files fall at the first searches, which cost less than those for all the names.
    """
    if b"tensorflow" in data:
        return True
    # A script that a notebook runs gives it all of its names, too.
    runs = _RUN.search(data) is not None
    if not runs and _END_OF_STAR.search(data) is None:
        return False
    return _TF.search(data) is not None and (runs or _STAR.search(data) is not None)


class Words:
    """Finds the files of a tree in which words stand; what was looked for once is known.

    ``spread`` has searches made by several processes, and gives None for one that was killed.
    ``digests`` stand for what the files held when they were read first.
    """

    def __init__(
        self,
        paths: Sequence[str],
        spread: Callable[[list[Search]], Iterable[tuple[Found, Vocabularies] | None]] | None = None,
        cache: Cache | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self._paths = paths
        self._spread = spread or (lambda searches: map(words_in, searches))
        self._cache = cache
        self._digests = digests or {}
        self._places: dict[str, list[str]] = {}
        self._vocabularies: dict[int, Vocabularies] = {}

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
            paths = self._paths[start : start + _CHUNK]
            known = self._vocabularies.get(start)
            search = Search(paths, words, self._cache, vocabularies=known)
            if self._cache is not None:
                key = search.key(self._digests.get(path, "") for path in search.paths)
                search = replace(search, known=self._cache.get(key))
            searches.append(search)
        made = iter(self._spread([search for search in searches if search.known is None]))
        for number, search in enumerate(searches):
            found = search.known
            if found is None:
                found, self._vocabularies[number * _CHUNK] = next(made) or words_in(search)
            for path, here in zip(search.paths, found, strict=True):
                for word in here:
                    self._places[word].append(path)


def words_in(search: Search) -> tuple[Found, Vocabularies]:
    """The words that stand in each of the files, and all that do; none in an unreadable one."""
    # A word may come from the name of a file that is no text.
    wanted: dict[bytes, list[str]] = {}
    for word in search.words:
        plain = word.lstrip(_PREFIXES).encode("utf-8", "backslashreplace")
        wanted.setdefault(plain, []).append(word)
    plain_words = frozenset(wanted)
    found: Found = []
    vocabularies: Vocabularies = []
    as_before = True
    for number, path in enumerate(search.paths):
        data: bytes | None = None
        if search.vocabularies is None:
            data, contents = _readable(path, search.cache)
            vocabularies.append((contents, b" ".join(set(_words_of(data)))))
        else:
            vocabularies.append(search.vocabularies[number])
        among = plain_words.intersection(vocabularies[-1][1].split())
        here = [word for plain in among for word in wanted[plain] if word[0] not in _PREFIXES]
        asked = [(plain, w) for plain in among for w in wanted[plain] if w[0] in _PREFIXES]
        if asked:
            if data is None:
                data, contents = _readable(path, search.cache)
                as_before &= contents == vocabularies[-1][0]
            text = Text(data)
            here += [word for plain, word in asked if text.holds(word[0], plain)]
        found.append(sorted(here))
    if search.cache is not None and as_before:
        search.cache.put(search.key(contents for contents, _ in vocabularies), found)
    return found, vocabularies


def _readable(path: str, cache: Cache | None) -> tuple[bytes, str]:
    """The text of a file, empty where it cannot be read, and what stands for its contents."""
    try:
        data = read(path)
    except SourceError:
        return b"", ""
    return searchable(path, data), "" if cache is None else digest(data)


class Text:
    """The bytes of one file, its words, and what its imports name."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def among(self, words: Collection[bytes]) -> frozenset[bytes]:
        """Those of ``words`` that stand in the file."""
        return frozenset(words).intersection(_words_of(self._data))

    def holds(self, prefix: str, word: bytes) -> bool:
        """Whether ``word``, which stands in the file, does so as its prefix says."""
        if prefix == HOME:
            return word in self._modules or self.reaches_out(word)
        if prefix == DEFINED:
            return any(self._is_defined(start) for start, _ in self._places(word))
        if prefix in (CALLED, SET):
            return self._is_attribute(word, _CALL if prefix == CALLED else _VALUE)
        if prefix == USED and not self._uses(word):
            return False
        return self.reaches_out(word)

    def reaches_out(self, word: bytes) -> bool:
        """Whether ``word``, which stands in the file, may mean something of another file there.

        Anywhere else, what it means is made in the file itself.
        """
        return self._is_wholesale or self.names(word)

    def names(self, word: bytes) -> bool:
        """Whether ``word`` is imported, stands after a dot, or is all of a text in quotes."""
        if word in self._imported:
            return True
        data = self._data
        return any(_is_after_dot_or_in_quotes(data, *place) for place in self._places(word))

    def _uses(self, word: bytes) -> bool:
        """Whether ``word`` is called or passed on, by what follows it; that may be a comment."""
        data = self._data
        return any(_USE.match(data, end) is not None for _, end in self._places(word))

    def _is_attribute(self, word: bytes, before: re.Pattern[bytes]) -> bool:
        """Whether ``word`` stands after a dot, and ``before`` what the pattern says."""
        data = self._data
        return any(
            before.match(data, end) is not None and _is_after_dot_or_in_quotes(data, start, end)
            for start, end in self._places(word)
        )

    def _is_defined(self, start: int) -> bool:
        """Whether what stands at ``start`` is a whole word behind ``def`` or ``class``."""
        before = self._data[max(0, start - _GAP_AT_MOST) : start]
        stripped = before.rstrip(_BLANK)
        if not stripped and start > _GAP_AT_MOST:
            before = self._data[:start]
            stripped = before.rstrip(_BLANK)
        return len(stripped) < len(before) and stripped.endswith((b"def", b"class"))

    def _places(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Where ``word`` stands, from and to; what ends with it may be among them."""
        data = self._data
        place = data.find(word)
        while place >= 0:
            end = place + len(word)
            if end == len(data) or _APART[data[end]] == _GAP:
                yield place, end
            place = data.find(word, end)

    @cached_property
    def _imports(self) -> bytes:
        return b" ".join(_IMPORTS.findall(self._data))

    @cached_property
    def _imported(self) -> frozenset[bytes]:
        return frozenset(_words_of(self._imports))

    @cached_property
    def _modules(self) -> frozenset[bytes]:
        return frozenset(_words_of(b" ".join(_MODULES.findall(self._data))))

    @cached_property
    def _is_wholesale(self) -> bool:
        """Whether names may come in that stand in no statement."""
        if b"*" in self._imports:
            return True
        return any(pattern.search(self._data) for pattern in _WHOLESALE)


def _words_of(data: bytes) -> list[bytes]:
    """All words of a text, as often as they stand in it."""
    return data.translate(_APART).split()


def _is_after_dot_or_in_quotes(data: bytes, place: int, end: int) -> bool:
    before = data[place - 1 : place]
    if before not in _SPACE:
        # A text may be put together of pieces: f"loss{number}".
        return before == b"." or (before in b"\"'" and data[end : end + 1] in b"\"'\\{")
    # A line may go on after a dot, and what is behind a comment is not looked at.
    gap = data[max(0, place - _GAP_AT_MOST) : place]
    text = gap.rstrip(_SPACE)
    on_its_own = b"\n" in gap[len(text) :]
    return text.endswith(b".") or (on_its_own and b"#" in text[text.rfind(b"\n") + 1 :])

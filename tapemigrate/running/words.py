"""The files of a tree in which words stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tapemigrate.running.cache import Cache, digest, key_of
from tapemigrate.running.reading import read, searchable
from tapemigrate.running.texts import BESIDE, PREFIXES, Text
from tapemigrate.source.decoding import SourceError

# Files that one process looks through at a time.
_CHUNK = 256

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
                found, vocabularies = next(made) or words_in(search)
                self._vocabularies.setdefault(number * _CHUNK, vocabularies)
            for path, here in zip(search.paths, found, strict=True):
                for word in here:
                    self._places[word].append(path)


def words_in(search: Search) -> tuple[Found, Vocabularies]:
    """The words that stand in each of the files, and all that do; none in an unreadable one.

    Vocabularies that the search brings along are not told again: they are large.
    """
    wanted = _Wanted(search.words)
    found: Found = []
    vocabularies: Vocabularies = []
    as_before = True
    for number, path in enumerate(search.paths):
        text: Text | None = None
        if search.vocabularies is None:
            data, contents = _readable(path, search.cache)
            text = Text(data)
            vocabularies.append((contents, b" ".join(text.words)))
            among = wanted.plain & text.words
        else:
            vocabularies.append(search.vocabularies[number])
            among = wanted.plain.intersection(vocabularies[-1][1].split())
        here = [word for plain in among for word in wanted.bare.get(plain, ())]
        asked = [
            (word, prefix, plain)
            for plain in among
            for word, prefix, beside in wanted.asked.get(plain, ())
            if beside in among
        ]
        if asked and text is None:
            data, contents = _readable(path, search.cache)
            as_before &= contents == vocabularies[-1][0]
            text = Text(data)
        for word, prefix, plain in asked:
            if text is not None and text.holds(prefix, plain):
                here.append(word)
        found.append(sorted(here))
    if search.cache is not None and as_before:
        search.cache.put(search.key(contents for contents, _ in vocabularies), found)
    return found, vocabularies if search.vocabularies is None else []


class _Wanted:
    """The words of a search as bytes: ``plain`` are all of them."""

    def __init__(self, words: Iterable[str]) -> None:
        self.bare: dict[bytes, list[str]] = {}
        #: With the prefix, and the word beside which it counts; that may be the word itself.
        self.asked: dict[bytes, list[tuple[str, str, bytes]]] = {}
        beside = set()
        for word in words:
            if word[0] in PREFIXES:
                first, _, last = word[1:].rpartition(BESIDE)
                plain, other = _encoded(first or last), _encoded(last)
                self.asked.setdefault(plain, []).append((word, word[0], other))
                beside.add(other)
            else:
                self.bare.setdefault(_encoded(word), []).append(word)
        self.plain = frozenset({*self.bare, *self.asked, *beside})


def _encoded(word: str) -> bytes:
    # A word may come from the name of a file that is no text.
    return word.encode("utf-8", "backslashreplace")


def _readable(path: str, cache: Cache | None) -> tuple[bytes, str]:
    """The text of a file, empty where it cannot be read, and what stands for its contents."""
    try:
        data = read(path)
    except SourceError:
        return b"", ""
    return searchable(path, data), "" if cache is None else digest(data)

"""What follows from one file by itself, worked out once for its contents.

It decides which files are analysed together, and which are read beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tapemigrate import stored
from tapemigrate.model import Handed, Hidden, Links
from tapemigrate.running import garbage
from tapemigrate.running.cache import Cache, digest, key_of
from tapemigrate.running.deep import call_with_room
from tapemigrate.running.passing import running_in
from tapemigrate.running.reading import read
from tapemigrate.source.decoding import SourceFile, decode

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[_T]):
    """One kind of fact: how it is worked out, and how the cache holds it.

    ``otherwise`` takes its place where the file cannot be read.
    """

    name: str
    find: Callable[[SourceFile, frozenset[str]], _T]
    plain: Callable[[_T], Any]
    back: Callable[[Any], _T]
    otherwise: _T


@dataclass(frozen=True, slots=True)
class Question(Generic[_T]):
    """What is asked of a file, and the names that it is asked about."""

    kind: Kind[_T]
    filename: str
    names: frozenset[str] = frozenset()
    cache: Cache | None = None

    def key(self, contents: str) -> str:
        """The name, in the cache, of the answer for a file of these contents."""
        return key_of(self.kind.name, self.filename, contents, sorted(self.names))


def known(question: Question[_T], digests: Mapping[str, str]) -> tuple[_T] | None:
    """The answer of an earlier run, where ``digests`` stand for what the files hold now."""
    if question.cache is None:
        return None
    found = question.cache.get(question.key(digests.get(question.filename, "")))
    return None if found is None else (question.kind.back(found),)


def answer(question: Question[_T]) -> tuple[_T] | None:
    """The answer, worked out and kept; None where memory did not suffice for it."""

    def found() -> _T:
        data = read(question.filename)
        made = question.kind.find(decode(data, question.filename), question.names)
        if question.cache is not None:
            question.cache.put(question.key(digest(data)), question.kind.plain(made))
        return made

    try:
        garbage.collect()
        return (call_with_room(found),)
    except MemoryError:
        return None
    except Exception:
        # Whatever it is, the analysis meets it again, and reports it.
        return (question.kind.otherwise,)


def _links(file: SourceFile, names: frozenset[str]) -> Links:
    from tapemigrate import api

    return api.links(file)


def _hidden(file: SourceFile, names: frozenset[str]) -> Hidden | None:
    from tapemigrate import api

    return api.hidden(file)


def _plain_handed(functions: frozenset[Handed] | None) -> Any:
    return None if functions is None else stored.plain_handed(functions)


def _handing_on(file: SourceFile, names: frozenset[str]) -> frozenset[Handed]:
    from tapemigrate import api

    return api.handing_on(file, names)


#: The functions whose callers, in other files, decide about a fix, or share it.
LINKS = Kind("links", _links, stored.plain_links, stored.links, Links())
#: What makes ops which no tape records; None: that is not known.
HIDDEN: Kind[Hidden | None] = Kind("hidden", _hidden, stored.plain_hidden, stored.hidden, None)
#: The functions that may hand what they are given on to functions of the names asked about.
#: None: the file does not parse.
HANDING_ON: Kind[frozenset[Handed] | None] = Kind(
    "handing on", _handing_on, _plain_handed, stored.handed, None
)
#: The functions and classes that use one of the names asked about.
RUNNING: Kind[frozenset[str]] = Kind("running", running_in, sorted, frozenset, frozenset())

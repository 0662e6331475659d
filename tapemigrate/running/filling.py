"""Files that put something into what another module holds for all: dicts, lists, classes, names.

What stands there may be a part of a target. They are read off the bytes, so that most of a tree is
never parsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from tapemigrate.patterns import late
from tapemigrate.running.context import home_of
from tapemigrate.running.imports import without_imports
from tapemigrate.running.modules import Modules, anchors_of
from tapemigrate.running.projects import Projects
from tapemigrate.running.reading import read, searchable
from tapemigrate.source.decoding import SourceError

# A name that more files seem to fill is one of a library, in all likelihood: ``nn.relu(h)``.
_MOST_FILES = 20

# A name of a module, and how its value begins.
_GIVEN = late(rb"(?m)^([^\W\d]\w*)[ \t]*(?::[^=\n]+)?=(?!=)[ \t\\\n]*([^\s#][^\n]{0,80})")
_DEFINED = late(rb"(?m)^(?:class|def)[ \t]+(\w+)")
_WORD = late(rb"\w+")
# What something may be put into; of libraries, nothing is.
_HOLDING = late(
    rb"[\[{]|(?!(?:tf|np|numpy|tensorflow|keras|logging|argparse|os|re|sys|time|random)\.)[\w.]+\("
)
_CONTAINER = late(
    rb"[\[{]|(?:collections\.)?(?:dict|list|set|defaultdict|OrderedDict|deque|ChainMap)\("
)
_GLOBAL = late(rb"(?m)^[ \t]+global\b([^\n]*)")
# What stands in functions and classes, line by line.
_INSIDE = late(rb"(?m)^[ \t]+[^\n]*")
_STEP = late(rb"[ \t\\\r\n]*\.[ \t]*(\w+)")
_SET = late(rb"[ \t]*(?:[-+*/@|&]|//)?=(?!=)|[ \t]*,[^\n]*[^=!<>\n]=(?!=)")
# Before what a loop or a ``with`` sets, in its line.
_SETTING_NEXT = late(rb"\b(?:as|for)\b[ \t(]+(?:[\w.]+[ \t]*,[ \t]*)*$")
# Behind a module: what asks it for one of its names, or takes its own for something else.
_ASKED = late(rb"[ \t]*(?:\.(?!__dict__)|=(?!=)|\()")
_SETTING = b"setattr("
# Methods that put nothing in.
_LOOKING = frozenset(
    (b"get", b"items", b"keys", b"values", b"copy", b"index", b"count", b"format", b"join")
)
# A list of names, and no tensors.
_NAMES = frozenset((b"__all__",))
# Brackets are no longer than that.
_LONGEST = 400


class _Held(NamedTuple):
    """What the bytes of a module tell of its names.

    ``holding`` may be put into, ``containers`` among them by any other name, ``plain`` set anew, as
    are ``code``, classes and functions, or parts of them; functions say that they set ``shared``
    ones.
    ``words`` are all, with how often they stand there.
    """

    holding: frozenset[bytes]
    containers: frozenset[bytes]
    plain: frozenset[bytes]
    code: frozenset[bytes]
    shared: frozenset[bytes]
    words: Mapping[bytes, int]


#: The files in which each of some words stands.
Find = Mapping[str, Collection[str]]


class Filling:
    """Looks for the files that fill what others read."""

    def __init__(self, projects: Projects, modules: Modules) -> None:
        self._projects = projects
        self._modules = modules
        self._held: dict[str, _Held] = {}
        # By modules and names of theirs; None until it is looked for.
        self._filling: dict[tuple[str, str], list[str] | None] = {}

    def words(self, files: Collection[str]) -> frozenset[str]:
        """What has to be looked for to know who fills what ``files``, read together, hold."""
        asked = [(path, name) for path in files for name in self._state(path, files)]
        for each in asked:
            self._filling.setdefault(each, None)
        return frozenset(home_of(name, a) for path, name in asked for a in anchors_of(path))

    def of(self, files: Collection[str], places: Find) -> Iterator[str]:
        """The files that fill it, that hold it, and those of ``files`` that name it.

        ``places`` tells where the words stand, and always the same.
        """
        for path in files:
            for name in self._state(path, files):
                filling = self._filling.get((path, name))
                if filling is None:
                    self._look(path, name, places)
                    filling = self._filling[path, name] or []
                if len(filling) > _MOST_FILES:
                    continue
                if filling or self._fills_its_own(path, name):
                    yield from (path, *filling)
                    yield from (each for each in files if self._names(each, name, path))

    def _look(self, path: str, name: str, places: Find) -> None:
        """Looks for the files that fill what is asked about, this name of a module among it.

        Each is gone through once, for all names. Of none more than one too many is told.
        """
        self._filling.setdefault((path, name), None)
        asked = {
            key: self._near(*key, places) for key, known in self._filling.items() if known is None
        }
        about: dict[str, list[tuple[str, str]]] = {}
        for key, near in asked.items():
            for each in near:
                about.setdefault(each, []).append(key)
        found: dict[tuple[str, str], set[str]] = {key: set() for key in asked}
        for each, keys in about.items():
            text = _Text(each)
            for key in keys:
                if len(found[key]) <= _MOST_FILES and self._fills(text, key[1], key[0]):
                    found[key].add(each)
        for key, near in asked.items():
            self._filling[key] = [each for each in near if each in found[key]]

    def _near(self, path: str, name: str, places: Find) -> list[str]:
        """The other files in which what the name of a module means may be filled."""
        homes = [home_of(name, anchor) for anchor in anchors_of(path)]
        found = dict.fromkeys(p for home in homes for p in places.get(home, ()))
        return [p for p in self._projects.near(path, found) if p != path]

    def _names(self, path: str, name: str, home: str) -> bool:
        """Whether a file has a name for what has ``name`` in the module at ``home``."""
        if name.encode() not in self._of(path).words:
            return False
        return any(True for _ in self._modules.names_of(path, home, name))

    def _state(self, path: str, files: Collection[str]) -> list[str]:
        """The names of a module that others may fill, and that one of ``files`` reads."""
        held = self._of(path)
        together = [self._of(each) for each in files]
        values = held.holding | held.plain | held.code
        read = {n for n in values if sum(each.words.get(n, 0) for each in together) > 1}
        return sorted(name.decode("utf-8", "replace") for name in read - _NAMES)

    def _fills(self, text: _Text, name: str, home: str) -> bool:
        kind = _kind(self._of(home), name.encode())
        names = list(self._modules.names_of(text.path, home, name))
        if kind is Held.CONTAINER and any(each.rpartition(".")[2] != name for each in names):
            return True  # others may import it there, by a name that does not stand at home
        return any(fills(text.without_imports, each.encode(), kind) for each in names)

    def _fills_its_own(self, path: str, name: str) -> bool:
        """Whether functions of the module put something into it, or set it anew."""
        held, word = self._of(path), name.encode()
        inside = b"\n".join(_INSIDE.findall(_data(path))) if word in held.holding else b""
        return word in held.shared or fills(inside, word, _kind(held, word))

    def _of(self, path: str) -> _Held:
        if path not in self._held:
            self._held[path] = _held(_data(path))
        return self._held[path]


def _held(data: bytes) -> _Held:
    given = _GIVEN.findall(data)
    holding = {name for name, value in given if _HOLDING.match(value) is not None}
    return _Held(
        frozenset(holding),
        frozenset(name for name, value in given if _CONTAINER.match(value) is not None),
        frozenset({name for name, _ in given} - holding),
        frozenset(_DEFINED.findall(data)),
        frozenset(_WORD.findall(b" ".join(_GLOBAL.findall(data)))),
        Counter(_WORD.findall(data)),
    )


class Held(Enum):
    """What a name of a module stands for."""

    CONTAINER = auto()
    OBJECT = auto()
    PLAIN = auto()
    CODE = auto()


def _kind(held: _Held, name: bytes) -> Held:
    if name in held.containers:
        return Held.CONTAINER
    if name in held.holding:
        return Held.OBJECT
    return Held.PLAIN if name in held.plain else Held.CODE


def fills(data: bytes, name: bytes, kind: Held) -> bool:
    """Whether a text may put something into what has the name there, or set it on its module.

    Into a container by another name too, or by a call of any method, as into an object. Of classes
    and functions parts are set, or another one takes their place.
    """
    owner, _, last = name.rpartition(b".")
    if owner and _is_set_by_another_name(data, owner, last):
        return True
    if owner and b"patch(" in data and _is_quoted(data, last, before=(b".", b".")):
        return True
    places = _places(data, name)
    return any(_is_filled(data, *place, kind, dotted=bool(owner)) for place in places)


def _places(data: bytes, name: bytes, part: bool = False) -> Iterator[tuple[int, int]]:
    """From where to where the name stands, behind a dot if it is to be a ``part``."""
    place = data.find(name)
    while place >= 0:
        end = place + len(name)
        before = data[max(0, place - 1) : place]
        if (before == b".") is part and not (
            _is_of_word(before) or _is_of_word(data[end : end + 1])
        ):
            yield place, end
        place = data.find(name, end)


def _is_set_by_another_name(data: bytes, module: bytes, name: bytes) -> bool:
    """Whether a text hands the module on, ``o = lib``, and may set the name of it: ``o.Z = h``."""
    parts = _places(data, name, part=True)
    is_set = any(_SET.match(data, end) is not None for _, end in parts)
    if not is_set and not _is_quoted(data, name, before=(b"'", b'"')):
        return False
    return any(_ASKED.match(data, end) is None for _, end in _places(data, module))


def _is_quoted(data: bytes, word: bytes, before: tuple[bytes, bytes]) -> bool:
    """Whether the word ends a text, behind what stands before it with each of the quotes."""
    ends = zip(before, (b"'", b'"'), strict=True)
    return any(b"%b%b%b" % (begin, word, quote) in data for begin, quote in ends)


def _is_of_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


def _is_filled(data: bytes, start: int, end: int, kind: Held, dotted: bool) -> bool:
    """Whether what stands from ``start`` to ``end``, with the steps that follow, is filled."""
    from tapemigrate.flow.changers import CHANGERS

    steps, last = 0, b""
    while True:
        step = _STEP.match(data, end)
        if step is not None:
            end, last = step.end(), step[1]
        elif data[end : end + 1] == b"[":
            end = _closed(data, end)
            if end < 0:
                return True
        else:
            break
        steps += 1
    if data[end : end + 1] == b"(":
        # A call of a function or class itself puts nothing in; that of a method may.
        held = kind in (Held.CONTAINER, Held.OBJECT)
        return last.decode() in CHANGERS or (held and steps > 0 and last not in _LOOKING)
    line = data.rfind(b"\n", 0, start) + 1
    if _SET.match(data, end) or _SETTING_NEXT.search(data, line, start):
        return steps > 0 or dotted
    if steps:
        return False
    # By another name, or by who is handed it, it may be filled as well.
    return kind is Held.CONTAINER or data[:start].endswith(_SETTING)


def _closed(data: bytes, start: int) -> int:
    """Where a bracket that opens at ``start`` has closed; -1 where that is too far away."""
    depth = 0
    for place in range(start, min(len(data), start + _LONGEST)):
        byte = data[place : place + 1]
        depth += (byte in b"[({") - (byte in b"])}")
        if not depth:
            return place + 1
    return -1


class _Text:
    """The text of a file, read where it is asked for."""

    def __init__(self, path: str) -> None:
        self.path = path

    @cached_property
    def without_imports(self) -> bytes:
        return without_imports(_data(self.path))


def _data(path: str) -> bytes:
    try:
        return searchable(path, read(path))
    except SourceError:
        return b""

"""The files of a project by name, some of which are parsed only once something is looked for there.

Of the files in which callers may stand, most have nothing of what an analysis comes to ask about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern

from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.places import is_module, may_hold
from tapemigrate.rules.finding import Unit

_WORD = late(r"\w+")
# Ahead of the name nothing is taken: a comment that ends in "class" may stand before a definition.
# What a pattern begins with letter by letter is looked for ten times as fast.
_DEFINED = (
    late(r"def(?<!\wdef)(?=[\s\\]+(\w+))"),
    late(r"class(?<!\wclass)(?=[\s\\]+(\w+))"),
)
_LAMBDA = late(r"(\w+)[ \t\f]*=[\s\\(]*lambda\b")
# What brings names that do not stand in the file.
_STAR = "import *"
_UNASKED = object()
# In place of a name: what may define whatever is asked about.
_ANYTHING = ""


class Later:
    """A file that is not parsed yet; ``parse`` gives None where it cannot be."""

    def __init__(self, text: str, parse: Callable[[], Unit | None]) -> None:
        self.text = text
        self._parse = parse
        self._words: frozenset[str] | None = None
        self._unit: Unit | object | None = _UNASKED

    @property
    def is_parsed(self) -> bool:
        """Whether that has been tried."""
        return self._unit is not _UNASKED

    @property
    def unit(self) -> Unit | None:
        """The file, parsed."""
        if self._unit is _UNASKED:
            self._unit = self._parse()
        return self._unit if isinstance(self._unit, Unit) else None

    def may_have(self, names: frozenset[str]) -> bool:
        """Whether one of the names may stand in the file."""
        # Python takes some characters beyond ASCII for others.
        return not self.text.isascii() or not self.words.isdisjoint(names)

    @property
    def words(self) -> frozenset[str]:
        """All words of the text: of code, comments and texts."""
        if self._words is None:
            self._words = _words_in(self.text)
        return self._words

    @property
    def defined(self) -> frozenset[str] | None:
        """The functions, methods and classes that may be defined in the file; None: any."""
        return _defined_in(self.text) if self.text.isascii() else None

    def may_define(self, name: str) -> bool:
        """Whether a function, method or class of that name may be defined in the file."""
        defined = self.defined
        return defined is None or name in defined


@lru_cache(maxsize=256)
def _defined_in(text: str) -> frozenset[str]:
    patterns = [*_DEFINED, *([_LAMBDA] if "lambda" in text else [])]
    return frozenset(name for pattern in patterns for name in pattern.findall(text))


class Units(Mapping[str, Unit]):
    """Files by name, in order. One that is parsed later, and cannot be, is none of them."""

    def __init__(self, files: Mapping[str, Unit | Later]) -> None:
        self._files = dict(files)
        # All of them, where none is parsed later: asked for very often.
        self._all = tuple(file for file in files.values() if isinstance(file, Unit))
        self._some_later = len(self._all) < len(self._files)
        # What was asked for, with the files that answer: the same names are asked about often.
        self._known: dict[tuple[str, ...] | str, list[Unit | Later]] = {}
        self._defining: dict[str, list[int]] | None = None
        self._holding: dict[str, list[Unit | Later]] = {}
        self._holding_name: dict[tuple[str, str], list[Unit | Later]] = {}
        self._meant: dict[tuple[str, str], tuple[str, ...]] = {}

    def __getitem__(self, name: str) -> Unit:
        unit = parsed(self._files[name])
        if unit is None:
            raise KeyError(name)
        return unit

    def __iter__(self) -> Iterator[str]:
        return (name for name, file in self._files.items() if parsed(file) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def having(self, *names: str) -> Iterable[Unit]:
        """The files in which one of the names may stand: in the code, or as all of a text.

        Those that are not parsed later are among them, here and below.
        """
        return _each(self.may_have(*names)) if self._some_later else self._all

    def may_have(self, *names: str) -> Sequence[Unit | Later]:
        """The same files, parsed or not."""
        if not self._some_later:
            return self._all
        if names not in self._known:
            wanted = frozenset(names)
            are_names = all(map(str.isidentifier, wanted))
            self._known[names] = self._of(lambda file: not are_names or file.may_have(wanted))
        return self._known[names]

    def defining(self, name: str) -> Iterable[Unit]:
        """Those in which a function or class of that name may be defined."""
        if not self._some_later:
            return self._all
        if name not in self._known:
            if self._defining is None:
                self._defining = self._by_definitions()
            places = {*self._defining.get(name, ()), *self._defining[_ANYTHING]}
            files = list(self._files.values())
            self._known[name] = [files[place] for place in sorted(places)]
        return _each(self._known[name])

    def _by_definitions(self) -> dict[str, list[int]]:
        """By the names of functions and classes, the places of the files that may define them."""
        found: dict[str, list[int]] = {_ANYTHING: []}
        for place, file in enumerate(self._files.values()):
            defined = None if isinstance(file, Unit) else file.defined
            for name in (_ANYTHING,) if defined is None else defined:
                found.setdefault(name, []).append(place)
        return found

    def with_text(self, pieces: Collection[str]) -> Iterable[Unit]:
        """The files in whose text one of the pieces stands."""
        return _each(self._of(lambda file: any(piece in file.text for piece in pieces)))

    def files(self) -> list[tuple[str, Unit | Later]]:
        """All of them by name, for whoever can tell from their texts which need not be parsed."""
        return list(self._files.items())

    def at(self, is_place: Callable[[str], object]) -> Iterator[Unit]:
        """The files of whose paths ``is_place`` is true."""
        return _each(file for path, file in self._files.items() if is_place(path))

    def meant(self, user: str, module: str) -> Iterator[Unit]:
        """Those that the file at ``user`` may mean by ``module``."""
        return _each(self._files[path] for path in self.paths_meant(user, module))

    def paths_meant(self, user: str, module: str) -> tuple[str, ...]:
        """The paths of the same files, those that cannot be parsed among them."""
        key = user, module
        if key not in self._meant:
            self._meant[key] = tuple(p for p in self._files if is_module(user, module, p))
        return self._meant[key]

    def holding(self, module: str, name: str = "") -> Iterator[Unit]:
        """Those in which ``name``, imported from ``module``, may be made, or brought by a star."""
        if module not in self._holding:
            files = self._files.items()
            self._holding[module] = [file for path, file in files if may_hold(path, module)]
        if (module, name) not in self._holding_name:
            # In a text beyond ASCII the name may be written in another way.
            self._holding_name[module, name] = [
                file
                for file in self._holding[module]
                if name in file.text or _STAR in file.text or not file.text.isascii()
            ]
        return _each(self._holding_name[module, name])

    def _of(self, is_wanted: Callable[[Later], bool]) -> list[Unit | Later]:
        files = self._files.values()
        return [file for file in files if isinstance(file, Unit) or is_wanted(file)]

    def with_unit(self, unit: Unit) -> Units:
        """The same files, ``unit`` in place of the one of its name."""
        return Units({**self._files, unit.filename: unit})


def _each(files: Iterable[Unit | Later]) -> Iterator[Unit]:
    # One after the other: who has found what it looks for needs no more of them parsed.
    return (unit for file in files if (unit := parsed(file)) is not None)


def words_among(file: Unit | Later, names: Collection[str]) -> frozenset[str]:
    """Which of ``names`` stand in a file as words."""
    words = file.words if isinstance(file, Later) else file.once(_words)
    return words.intersection(names)


def _words(unit: Unit) -> frozenset[str]:
    return _words_in(unit.text)


def _words_in(text: str) -> frozenset[str]:
    # The parser interns names as well: one text for all files that have the word.
    return frozenset(map(intern, set(_WORD.findall(text))))


def parsed(file: Unit | Later) -> Unit | None:
    """The file, parsed; None where it cannot be."""
    return file if isinstance(file, Unit) else file.unit

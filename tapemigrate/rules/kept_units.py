"""Files that are parsed once for all analyses they take part in, as long as there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from tapemigrate.rules.finding import Unit
from tapemigrate.source.decoding import SourceFile
from tapemigrate.source.own_imports import handed_on
from tapemigrate.source.plain_tree import plain_tree
from tapemigrate.source.trees import pack


class _Kept:
    """The units that were asked for last, up to so many characters."""

    # A unit takes up to 200 times its text.
    most = 250_000

    def __init__(self) -> None:
        self._units: OrderedDict[SourceFile, Unit] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def get(self, file: SourceFile) -> Unit | None:
        """The unit of ``file``, in use from now on."""
        with self._lock:
            found = self._units.get(file)
            if found is not None:
                self._units.move_to_end(file)
                found.users += 1
            return found

    def make_room(self, characters: int) -> None:
        """Lets the oldest go for a unit that will take so many characters."""
        with self._lock:
            while self._units and self._characters + characters > self.most:
                _, oldest = self._units.popitem(last=False)
                self._drop(oldest)

    def put(self, file: SourceFile, unit: Unit) -> None:
        """Keeps a unit, which is in use, and for which there is room."""
        with self._lock:
            unit.users += 2  # the one who asked for it, and this
            other = self._units.pop(file, None)  # of a thread that was as quick
            if other is not None:
                self._drop(other)
            self._units[file] = unit
            self._characters += len(unit.text)

    def _drop(self, unit: Unit) -> None:
        self._characters -= len(unit.text)
        _let_go(unit)

    def let_go(self, units: Iterable[Unit]) -> None:
        """Ends the use of some units."""
        with self._lock:
            for each in units:
                _let_go(each)


def _let_go(unit: Unit) -> None:
    unit.users -= 1
    if not unit.users:
        unit.forget()


_kept = _Kept()


def unit(file: SourceFile, *, one_of_many: bool = False) -> Unit:
    """The file, parsed, once for all analyses that it takes part in. See ``let_go``.

    Trees of ``one_of_many`` files, all held at once, take some time to become smaller.

    Raises:
        SourceError: where it does not parse.
    """
    found = _kept.get(file)
    if found is None:
        # Before it is parsed: both at once would be the most that memory is needed for.
        _kept.make_room(len(file.text))
        tree = plain_tree(file)
        if one_of_many:
            pack(tree)
        found = Unit(file.filename, file.text, tree, file.notebook, handed_on(file.brought))
        _kept.put(file, found)
    return found


def let_go(units: Iterable[Unit]) -> None:
    """Ends the part of some units in one analysis; what nobody needs is freed at once."""
    _kept.let_go(units)

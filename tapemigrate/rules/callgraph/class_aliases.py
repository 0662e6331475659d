"""Other names of classes: ``from nets import Net as Base``, ``Base = nets.Net``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.units import Units

# Read off the texts: most files are not parsed. By custom, classes begin with a capital letter.
# What a pattern begins with letter by letter is looked for many times as fast.
_AS = late(r" as (_*[A-Z]\w*)")
_BEFORE = late(r"\w+\Z")
_ASSIGNED = late(r"\n(_*[A-Z]\w*)[ \t]*=[\s(]*(?:\w+\.)*(_*[A-Z]\w*)\s*(?=[\n#;)]|\Z)")

# What no name is longer than.
_LONGEST = 200


class ClassAliases:
    """The names that the files give to classes of other names, found once."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._found: dict[str, dict[str, set[str]]] | None = None
        self._of: defaultdict[str, set[str]] = defaultdict(set)
        self._originals: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, name: str) -> frozenset[str]:
        """By which other names some file knows a class of that name."""
        self._look()
        return frozenset(self._of.get(name, ()))

    def originals(self, alias: str) -> frozenset[str]:
        """The names of the classes that some file gives that other name."""
        self._look()
        return frozenset(self._originals.get(alias, ()))

    def may_mean(self, unit: Unit, alias: str, name: str) -> bool:
        """Whether the other name may mean a class of that name in this file."""
        own = self._look().get(unit.filename, {}).get(alias)
        return own is None or name in own

    def _look(self) -> dict[str, dict[str, set[str]]]:
        if self._found is None:
            self._found = {}
            for filename, file in self._units.files():
                for name, alias in _pairs(file.text):
                    if name != alias:
                        own = self._found.setdefault(filename, {})
                        own.setdefault(alias, set()).add(name)
                        self._of[name].add(alias)
                        self._originals[alias].add(name)
        return self._found


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """The names of what is given another name, and that."""
    for match in _AS.finditer(text):
        imported = _BEFORE.search(text, max(0, match.start() - _LONGEST), match.start())
        if imported is not None:
            yield imported[0], match[1]
    for match in _ASSIGNED.finditer(f"\n{text}"):
        yield match[2], match[1]

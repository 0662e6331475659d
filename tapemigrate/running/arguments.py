"""What the calls of a file hand over, and the names of the objects that it makes: by its bytes."""

from __future__ import annotations

from collections import defaultdict

from tapemigrate.patterns import late

#: The name of what is called. From within a word none is looked for: data in text is one long word.
CALLED = late(rb"\b(\w+)\b[ \t]*\(")
# What is called for the value of a name; the name stands before it.
_GIVEN = late(rb"=[ \t]*(?:\w+\.)*(\w+)[ \t]*\(")
_NAME = late(rb"\w+\Z")
_BRACKET = late(rb"[()]")
_WORD = late(rb"\w+")
# What arguments of a call are no longer than, and names.
_LONGEST = 2000
_LONGEST_NAME = 100


class Arguments:
    """Goes through the calls of one file once, and through what they are handed where it is asked.

    Only ``makers``, names of classes, tell what objects are called.
    """

    def __init__(self, data: bytes, makers: frozenset[bytes]) -> None:
        self._data = data
        self._words: dict[bytes, frozenset[bytes]] = {}
        self._starts: defaultdict[bytes, list[int]] = defaultdict(list)
        for match in CALLED.finditer(data):
            self._starts[match[1]].append(match.end())
        self._objects: defaultdict[bytes, set[bytes]] = defaultdict(set)
        for match in _GIVEN.finditer(data):
            if match[1] in makers:
                before = data[max(0, match.start() - _LONGEST_NAME) : match.start()]
                name = _NAME.search(before.rstrip(b" \t"))
                self._objects[match[1]].update([name[0]] if name is not None else [])

    def handed_to(self, name: bytes) -> frozenset[bytes]:
        """The words in what calls of the name are handed."""
        if name not in self._words:
            places = self._starts.get(name, ())
            found = {word for at in places for word in _WORD.findall(self._up_to_the_end(at))}
            self._words[name] = frozenset(found)
        return self._words[name]

    def names_of(self, cls: bytes) -> frozenset[bytes]:
        """The class, and the names of its objects."""
        return frozenset({cls, *self._objects.get(cls, ())})

    def _up_to_the_end(self, start: int) -> bytes:
        """The arguments of a call that begin at a place; none where they do not end soon."""
        depth = 1
        for bracket in _BRACKET.finditer(self._data, start, start + _LONGEST):
            depth += 1 if bracket[0] == b"(" else -1
            if depth == 0:
                return self._data[start : bracket.start()]
        return b""

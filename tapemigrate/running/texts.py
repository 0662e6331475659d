"""What the bytes of one file tell of a word: whether it is imported, called, defined there."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from tapemigrate.model import SET
from tapemigrate.patterns import late

if TYPE_CHECKING:
    import re

# What no word is made of becomes a space. Bytes beyond ASCII are parts of words: a name has them.
_APART = bytes(
    code if code >= 128 or chr(code).isalnum() or code == ord("_") else 32 for code in range(256)
)
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
_LAMBDA = late(rb"[ \t\f]*=[\s\\(]*lambda\b")
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

#: Between a word that has a prefix and another one: only in files in which that stands as well.
BESIDE = " "

#: All that stands before words.
PREFIXES = FOREIGN + USED + HOME + DEFINED + CALLED + SET


class Text:
    """The bytes of one file, its words, and what its imports name."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        # As long as the text, with a gap at each end.
        self._apart = b" %b " % data.translate(_APART)
        self._known: dict[bytes, list[tuple[int, int]]] = {}

    @cached_property
    def words(self) -> frozenset[bytes]:
        """All words of the file."""
        return frozenset(self._apart.split())

    def among(self, words: Collection[bytes]) -> frozenset[bytes]:
        """Those of ``words`` that stand in the file."""
        return self.words.intersection(words)

    def holds(self, prefix: str, word: bytes) -> bool:
        """Whether ``word``, which stands in the file, does so as its prefix says."""
        if prefix == HOME:
            return self.names(word) or word in self._modules or self._is_wholesale
        if prefix == DEFINED:
            return any(self._is_defined(*place) for place in self._places(word))
        if prefix in (CALLED, SET):
            return self._is_attribute(word, _CALL if prefix == CALLED else _VALUE)
        if prefix == USED and not self._uses(word):
            return False
        return self.reaches_out(word)

    def reaches_out(self, word: bytes) -> bool:
        """Whether ``word``, which stands in the file, may mean something of another file there.

        Anywhere else, what it means is made in the file itself.
        """
        return self.names(word) or self._is_wholesale

    def names(self, word: bytes) -> bool:
        """Whether ``word`` is imported, stands after a dot, or is all of a text in quotes."""
        data = self._data
        # In this order: to find the imports, all of the file is gone through.
        return (
            any(_is_after_dot_or_in_quotes(data, *place) for place in self._places(word))
            or word in self._imported
        )

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

    def _is_defined(self, start: int, end: int) -> bool:
        """Whether what stands there is a word behind ``def`` or ``class``, or names a lambda."""
        before = self._data[max(0, start - _GAP_AT_MOST) : start]
        stripped = before.rstrip(_BLANK)
        if not stripped and start > _GAP_AT_MOST:
            before = self._data[:start]
            stripped = before.rstrip(_BLANK)
        named = len(stripped) < len(before) and stripped.endswith((b"def", b"class"))
        return named or _LAMBDA.match(self._data, end) is not None

    def _places(self, word: bytes) -> list[tuple[int, int]]:
        """Where ``word`` stands, from and to; looked for once."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = []
            apart, length = self._apart, len(word)
            whole = b" %b " % word
            # The gap in front of it is where the word begins in the text.
            place = apart.find(whole)
            while place >= 0:
                found.append((place, place + length))
                place = apart.find(whole, place + length + 1)
        return found

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

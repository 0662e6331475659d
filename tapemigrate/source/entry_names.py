"""Names that stand for entries of containers.

They are names like any other as long as nobody reads them: letters mark them that no program has
(African clicks, U+01C0 to U+01C3). In what is written they are entries.
"""

from __future__ import annotations

import re
from typing import TypeGuard

Key = str | int

_OTHER, _DOUBLE, _NUMBER, _SINGLE = "\u01c0", "\u01c1", "\u01c2", "\u01c3"
_MARKS = {_DOUBLE: '"', _NUMBER: "", _SINGLE: "'"}
_NAME = re.compile(rf"([^\W\u01c0-\u01c3]+)([{''.join(_MARKS)}])([\w]*?)\2")
_SIGN = re.compile(rf"{_OTHER}([0-9a-f]+){_OTHER}")


def is_key(key: object) -> TypeGuard[Key]:
    """Whether there are names for it: of a number, or a text that stands in any quotes."""
    if isinstance(key, str):
        return key.isprintable() and not any(sign in key for sign in "\"'\\")
    return type(key) is int


def entry_name(container: str, key: Key, quote: str) -> str:
    """A name for ``container["key"]``, by which quotes it is written."""
    mark = _NUMBER if isinstance(key, int) else _DOUBLE if quote == '"' else _SINGLE
    signs = (c if (c.isascii() and c.isalnum()) or c == "_" else _sign(c) for c in str(key))
    return f"{container}{mark}{''.join(signs)}{mark}"


def as_written(text: str) -> str:
    """The text with entries in the place of their names."""
    return text if not _is_marked(text) else _NAME.sub(_entry, text)


def in_another_name(text: str) -> str:
    """The text with a part of a name in the place of each: ``made_h``."""
    return text if not _is_marked(text) else _NAME.sub(_part, text)


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _entry(found: re.Match[str]) -> str:
    quote = _MARKS[found[2]]
    key = _SIGN.sub(lambda sign: chr(int(sign[1], 16)), found[3])
    return f"{found[1]}[{quote}{key}{quote}]"


def _part(found: re.Match[str]) -> str:
    return f"{found[1]}_{_SIGN.sub('_', found[3])}"


def _sign(letter: str) -> str:
    return f"{_OTHER}{ord(letter):x}{_OTHER}"

"""Text in a form that LibCST writes back as it was, and the way back.

LibCST 1.9 garbles lone CRs, and loses form feeds in front of a statement.
"""

from __future__ import annotations

import io
from difflib import SequenceMatcher

from tapemigrate.codemods.layout import margin, newline_of
from tapemigrate.patterns import late

_NEWLINES = late(r"\r\n|\r|\n")
_LONE_CR = late(r"\r(?!\n)")
_FEEDS = late(r"(^|[\r\n])[ \t\f]*\f(?=[ \t]*[^\s#])")


def is_plain(text: str) -> bool:
    """Whether LibCST keeps the newlines and form feeds of ``text``."""
    return not (_LONE_CR.search(text) or _FEEDS.search(text))


def plain(text: str) -> str:
    """``text``, in which no line begins inside a string, with LF newlines and no form feeds."""
    return _NEWLINES.sub("\n", _FEEDS.sub(r"\1", text))


def restored(new: str, old: str, newline: str) -> str:
    """``new``, which is plain, with the newlines and form feeds of the lines that ``old`` has too.

    The other lines get ``newline``.
    """
    before = io.StringIO(old, newline="").readlines()
    after = new.split("\n")
    newlines = [newline] * (len(after) - 1) + [""]
    stripped = [line.strip() for line in before], [line.strip() for line in after]
    for block in SequenceMatcher(None, *stripped, autojunk=False).get_matching_blocks():
        for k in range(block.size):
            line, row = before[block.a + k], block.b + k
            newlines[row] = newlines[row] and (newline_of(line) or newline)
            # A form feed sets the column back to nought.
            feeds, feed, _ = margin(line).rpartition("\f")
            if "\f" not in margin(after[row]):
                after[row] = feeds + feed + after[row]
    return "".join(line + end for line, end in zip(after, newlines, strict=True))

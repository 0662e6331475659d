"""What the imports of a text may name, told without parsing it; if in doubt, they may."""

from __future__ import annotations

import re
from functools import lru_cache

from tapemigrate.patterns import late

_GAP = r"(?:[ \t\f]|\\\n)"
# Not only in statements: what looks like one in a text counts as well, and so does what stands
# behind ``import`` on a line of its own.
_FROM = late(rf"from(?<!\wfrom)\b((?:[\w.]|{_GAP})+?)\bimport\b")
_IMPORT = late(rf"(?:^|[;:]){_GAP}*import\b((?:[^\n\\;#]|\\\n)*)", re.MULTILINE)
_AS = late(r"\bas\b")

#: The steps of a path.
Steps = tuple[str, ...]


@lru_cache(maxsize=512)
def modules(text: str) -> frozenset[Steps] | None:
    """The steps with which paths of imported things may begin; None: with any.

    Of what is imported from a module, they are those of the module.
    """
    if not text.isascii():  # Python takes some characters for others
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found: set[Steps] = set()
    for module in _FROM.findall(text):
        found.add(_steps(module))
    for names in _IMPORT.findall(text):
        for name in names.split(","):
            path, *given = _AS.split(name)
            steps = _steps(path)
            found.add(steps if given else steps[:1])
    return None if () in found else frozenset(found)


def _steps(path: str) -> Steps:
    plain = "".join(path.replace("\\\n", "").split())
    return tuple(step for step in plain.split(".") if step)

"""What a text imports, told without parsing it, which takes ten times as long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from tapemigrate.patterns import late

_GAP = r"(?:[ \t\f]|\\\n)"
# Comments and texts are gone over; outside of them, the words stand in such statements only.
_PARTS = late(
    r"#[^\n]*"
    r"|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    rf"|from(?<!\wfrom)\b((?:[\w.]|{_GAP})+?)\bimport\b{_GAP}*(\([^)]*|(?:[^\n;#\\]|\\\n)*)"
    rf"|import(?<!\wimport)\b((?:[^\n\\;#]|\\\n)*)",
    re.DOTALL,
)
_COMMENT = late(r"#[^\n]*")
_AS = late(r"\bas\b")


@lru_cache(maxsize=512)
def imports_in(text: str) -> frozenset[str]:
    """The paths of the modules that a text imports, and of what it imports from them.

    Those of relative imports have their dots.
    """
    return frozenset(path for module, bound in _statements(text) for path in (*module, *bound))


@lru_cache(maxsize=512)
def bound_in(text: str) -> frozenset[str]:
    """The paths of what its import statements give names: ``a`` of ``import a.b``.

    With one of them begins whatever a name of the file means that is imported.
    """
    return frozenset(
        path if module or given else path.partition(".")[0]
        for module, bound in _statements(text)
        for path, given in bound.items()
    )


def _statements(text: str) -> Iterator[tuple[tuple[str, ...], dict[str, bool]]]:
    """By statements: the module, where names are imported from one, and what is imported.

    With each of these goes whether it is given another name.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for match in _PARTS.finditer(text):
        module, names, plain = match.groups()
        if plain is not None:
            yield (), _names(plain)
        elif module is not None:
            path = _joined(module)
            between = "" if path.endswith(".") else "."
            bound = _names(names).items()
            yield (path,), {f"{path}{between}{name}": given for name, given in bound}


def _names(listed: str) -> dict[str, bool]:
    """The names, or paths, that a statement lists, and whether they are given others."""
    if listed.startswith("("):
        listed = _COMMENT.sub("", listed[1:])
    found: dict[str, bool] = {}
    for each in listed.split(","):
        path, *given = _AS.split(each.replace("\\\n", " "))
        # ``import a as b, a`` gives both.
        if name := _joined(path):
            found[name] = bool(given) and found.get(name, True)
    return found


def _joined(path: str) -> str:
    plain = "".join(path.replace("\\\n", "").split())
    return plain if plain.isascii() else normalize("NFKC", plain)

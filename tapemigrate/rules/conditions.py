"""What a fix rests on, as one sentence: what is assumed alike of several names is said once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

_CALLED = "{rest}, called in {}, is a method of the files at hand"
# What is said of one ``item``, and of several that share the rest.
_FORMS = [
    (re.compile(one), several)
    for one, several in (
        (
            r"(?P<item>`[^`]+`), a parameter, was not computed from (?P<rest>.+)",
            "{}, parameters, were not computed from {rest}",
        ),
        (
            r"(?P<item>`[^`]+`) was not computed from (?P<rest>.+)",
            "{} were not computed from {rest}",
        ),
        (
            r"(?P<item>`[^`]+`), a parameter, keeps nothing that (?P<rest>.+)",
            "{}, parameters, keep nothing that {rest}",
        ),
        (r"(?P<item>`[^`]+`) keeps nothing that (?P<rest>.+)", "{} keep nothing that {rest}"),
        (r"(?P<item>`[^`]+`) reads nothing that (?P<rest>.+)", "{} read nothing that {rest}"),
        (r"(?P<item>`[^`]+`) holds nothing that (?P<rest>.+)", "{} hold nothing that {rest}"),
        (r"(?P<item>`[^`]+`) holds trainable (?P<rest>.+)", "{} hold trainable {rest}"),
        (r"(?P<item>`[^`]+`) is a list(?P<rest>)", "{} are lists"),
        (
            r"(?P<item>`[^`]+`) runs its forward pass where it is called, not where it was made"
            r"(?P<rest>.*)",
            "{} run their forward passes where they are called, not where they were made{rest}",
        ),
        (
            r"(?P<rest>`[^`]+`), called in (?P<item>.+), is a method of the files at hand",
            _CALLED,
        ),
    )
]
# Of a method's calls, no more are named.
_MOST_PLACES = 3

_IF = "; right if "
_AND = ", and "
_OF_EACH_OTHER = "none of {}, parameters, was computed from another"


def right_if(assumptions: Sequence[str]) -> str:
    """The end of a message that names the assumptions; empty where there are none."""
    kinds: dict[tuple[str, str], list[str]] = {}
    single: dict[tuple[str, str], str] = {}
    for sentence in dict.fromkeys(assumptions):
        several, rest, item = _read(sentence)
        kinds.setdefault((several, rest), []).append(item)
        single[several, rest] = sentence
    told = [
        single[kind] if len(items) == 1 else kind[0].format(_listed(kind[0], items), rest=kind[1])
        for kind, items in _in_pairs(kinds).items()
    ]
    return _IF + _AND.join(told) if told else ""


def listed(assumptions: Sequence[str]) -> str:
    """The same of assumptions that ``apart`` gave, one on a line where there are several."""
    if len(assumptions) < 2:
        return "".join(_IF + each for each in assumptions)
    return _IF.rstrip() + "".join(f"\n- {each}" for each in assumptions)


def apart(message: str) -> tuple[str, list[str]]:
    """What stands before the assumptions in a message, and each of these."""
    before, _, told = message.partition(_IF)
    return before, told.split(_AND) if told else []


def _read(sentence: str) -> tuple[str, str, str]:
    """What would be said of several, the part that they have to share, and of what it is said."""
    for one, several in _FORMS:
        match = one.fullmatch(sentence)
        if match is not None:
            return several, match["rest"], match["item"]
    return "", sentence, ""


def _in_pairs(kinds: dict[tuple[str, str], list[str]]) -> dict[tuple[str, str], list[str]]:
    """The same, with one kind for names of which each is asked about for each other one."""
    several = _FORMS[0][1]
    pairs = [
        (item, rest) for (kind, rest), items in kinds.items() if kind == several for item in items
    ]
    names = sorted({name for pair in pairs for name in pair})
    if len(names) < 2 or set(pairs) != set(permutations(names, 2)):
        return kinds
    others = {kind: items for kind, items in kinds.items() if kind[0] != several}
    return {(_OF_EACH_OTHER, ""): names, **others}


def _listed(several: str, items: list[str]) -> str:
    if several == _CALLED and len(items) > _MOST_PLACES + 1:
        items = [*items[:_MOST_PLACES], f"{len(items) - _MOST_PLACES} other places"]
    *before, last = items
    return f"{', '.join(before)} and {last}"

"""Which files one rewrite may tie together: those that call functions which are handed a tape."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from tapemigrate.model import Handed, Links
from tapemigrate.running.context import TENSORFLOW, home_of, ways
from tapemigrate.running.projects import Projects
from tapemigrate.running.texts import CALLED, DEFINED, USED

if TYPE_CHECKING:
    from tapemigrate.running.modules import Modules

# Files beyond this many are not tied together: a rewrite that long is no help to anybody.
_MOST_FILES = 60
# Where more files define a method of the name (``forward``), only those nearby are tied.
_MOST_NAMESAKES = 15
# Through how many files a tape is handed on.
_MOST_STEPS = 3


#: The files in which each of some words stands.
Places = Callable[[Collection[str]], Mapping[str, Collection[str]]]
#: Some of the files, by what they are to the first.
Among = Callable[[str, Collection[str]], Collection[str]]
#: The functions of files that hand what they are given on to some names: pairs of both, in order.
HandOn = Callable[[list[tuple[str, frozenset[str]]]], Iterable[frozenset[Handed]]]


class Groups:
    """Sets of files, joined as links between them are found."""

    def __init__(self, allowed: Callable[[str, str], bool]) -> None:
        self._allowed = allowed
        self._members: dict[str, list[str]] = {}
        #: The functions, in files that others led to, whose callers count as well.
        self.further: dict[str, frozenset[Handed]] = {}

    def of(self, file: str) -> list[str]:
        """The files that go together with ``file``, itself among them."""
        return self._members.get(file, [file])

    def join(self, one: str, two: str) -> bool:
        """Whether the two files go together now."""
        mine, theirs = self.of(one), self.of(two)
        if mine is theirs or two in mine:
            return True
        if len(mine) + len(theirs) > _MOST_FILES or not self._allowed(one, two):
            return False
        joined = [*mine, *theirs]
        for member in joined:
            self._members[member] = joined
        return True


def grouped(
    links: Mapping[str, Links],
    places: Places,
    hand_on: HandOn,
    allowed: Callable[[str, str], bool],
    projects: Projects,
    modules: Modules,
    tied: Iterable[tuple[str, str]] = (),
) -> Groups:
    """The files by what ties them together, the pairs that are ``tied`` otherwise first.

    ``allowed``: whether two files may be.
    """
    groups = Groups(allowed)
    for one, two in tied:
        groups.join(one, two)
    pending = {file: set(each.handed) for file, each in links.items() if each.handed}
    seen: set[tuple[str, Handed]] = set()
    for _ in range(_MOST_STEPS):
        words = ways(handed for each in pending.values() for handed in each)
        found = places(words) if words else {}
        calling: dict[str, set[str]] = {}
        for file, each in pending.items():
            holding = partial(_holding, found, projects.using, file)
            # In one order always: where there are too many files, it decides which go together.
            for handed in sorted(each, key=_by_name):
                seen.add((file, handed))
                near = {p for a in handed.anchors for p in holding(a)}
                near.intersection_update(holding(handed.name))
                homes = (home_of(handed.name, anchor) for anchor in handed.anchors)
                anchored = {path for home in homes for path in holding(home)}
                calls = holding(USED + handed.name)
                namesakes: Collection[str] = ()
                if handed.shared:
                    namesakes = projects.near(file, found.get(DEFINED + handed.name, ()))
                    near.update(calls, namesakes)
                    # Who does not name the class, and makes no tensors, has no tape to hand in.
                    able = frozenset(holding(TENSORFLOW))
                    anchored |= able.intersection(holding(CALLED + handed.name))
                    folders = {os.path.dirname(p) for p in (file, *anchored.intersection(calls))}
                    if len(namesakes) > _MOST_NAMESAKES:
                        namesakes = [
                            p for p in namesakes if p in anchored or os.path.dirname(p) in folders
                        ]
                if handed.followed:
                    calls, anchored = sorted(near), near
                if len(near - {file}) > _MOST_FILES:
                    near = {path for path in near if not modules.means_another(file, path, handed)}
                if len(near - {file}) > _MOST_FILES:
                    continue
                for caller in (*(c for c in calls if c in anchored), *namesakes):
                    if caller == file or modules.means_another(file, caller, handed):
                        continue
                    if groups.join(file, caller):
                        calling.setdefault(caller, set()).add(handed.name)
        asked = [(file, frozenset(names)) for file, names in calling.items()]
        pending = {
            file: {h for h in more if (file, h) not in seen}
            for (file, _), more in zip(asked, hand_on(asked), strict=True)
        }
        for file, more in pending.items():
            groups.further[file] = groups.further.get(file, frozenset()) | more
    return groups


def _by_name(handed: Handed) -> tuple[str, list[str], bool, bool]:
    return handed.name, sorted(handed.anchors), handed.followed, handed.shared


def _holding(
    found: Mapping[str, Collection[str]], using: Among, file: str, word: str
) -> Collection[str]:
    return using(file, found.get(word, ()))

"""Programs that turn off what a tape needs, which a fix in a file that they import turns on again.

That changes the file that turns it off as well, so that both go together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tapemigrate.model import Links
from tapemigrate.running.grouping import HandOn, Places
from tapemigrate.running.modules import Modules, anchors_of
from tapemigrate.running.projects import Projects
from tapemigrate.running.texts import FOREIGN

_OFF = FOREIGN + "disable_v2_behavior"
# A module of a name that stands in more files (``utils``) is not looked for in all of them.
_MOST_MENTIONS = 60


@dataclass(frozen=True, slots=True)
class Switched:
    """``tied``: files with gradient calls, and those that turn it off where a program has both.

    ``ways``: by such files, the others through which these programs have the two.
    """

    tied: Mapping[tuple[str, str], None]
    ways: Mapping[str, Mapping[str, None]]


def switched(
    links: Mapping[str, Links],
    places: Places,
    hand_on: HandOn,
    parsed: Collection[str],
    projects: Projects,
    modules: Modules,
) -> Switched:
    """The files that go together so. ``hand_on`` tells, in ``parsed``, which other files parse."""
    asking = [file for file, each in links.items() if each != Links()]
    off = places({_OFF})[_OFF] if asking else ()
    ahead: dict[str, list[str]] = {}
    tied: dict[tuple[str, str], None] = {}
    ways: dict[str, dict[str, None]] = {}
    for program in dict.fromkeys((*off, *_importing(off, places, modules))):
        near = projects.near(program, asking)
        reached = _reached(program, modules, ahead) if near else {}
        for file in near:
            for turning in off if file in reached else ():
                if turning in reached and turning != file:
                    tied[file, turning] = None
                    way = (*_way(reached, file), *_way(reached, turning))
                    ways.setdefault(file, {}).update(dict.fromkeys(way))
    unknown = {turning for _, turning in tied if turning not in links}
    deque(hand_on([(file, frozenset()) for file in sorted(unknown)]), maxlen=0)
    # No file that does not parse is changed.
    able = {pair: None for pair in tied if pair[1] in links or pair[1] in parsed}
    return Switched(able, ways)


def _importing(files: Collection[str], places: Places, modules: Modules) -> Iterator[str]:
    """The files that import one of ``files``."""
    named = {file: name for file in files for name in anchors_of(file)[-1:]}
    found = places(frozenset(named.values())) if named else {}
    for file, name in named.items():
        if len(found[name]) <= _MOST_MENTIONS:
            yield from (user for user in found[name] if file in modules.imported(user))


def _reached(program: str, modules: Modules, ahead: dict[str, list[str]]) -> dict[str, str]:
    """The files that a program imports, the packages around them, and so on; by what each comes."""
    found = {program: ""}
    for path in (pending := [program]):  # which grows meanwhile
        if path not in ahead:
            imported = sorted(modules.imported(path))
            ahead[path] = [p for each in imported for p in (each, *modules.packages_of(each))]
        new = [each for each in dict.fromkeys(ahead[path]) if each not in found]
        found |= dict.fromkeys(new, path)
        pending += new
    return found


def _way(reached: Mapping[str, str], path: str) -> Iterator[str]:
    """The files through which it is reached, and itself."""
    while path:
        yield path
        path = reached[path]

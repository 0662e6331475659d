"""Which other files are read beside a file, because what stands in them decides about its fixes.

They are chosen by their bytes, so that most of a tree is never parsed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from tapemigrate.model import SET, Handed, Hidden, Links
from tapemigrate.patterns import late
from tapemigrate.running.passing import Passing
from tapemigrate.running.projects import Projects
from tapemigrate.running.reading import read, searchable
from tapemigrate.running.texts import BESIDE, CALLED, DEFINED, FOREIGN, HOME, USED, Text
from tapemigrate.source.decoding import SourceError, is_notebook

if TYPE_CHECKING:
    from tapemigrate.running.modules import Modules

# A name that stands in more files than this (``main``, ``loss``) says little about who calls it,
# and reading them all for each call would cost more than all the rest. Its callers count as
# unseen: a fix that depends on them is not called safe.
_MOST_MENTIONS = 60

#: A file without this word makes no tensors of its own.
TENSORFLOW = "tensorflow"

#: What files hold of the kind, by their paths, in order; None: not known.
HiddenIn = Callable[[list[str]], Iterable[Hidden | None]]
#: Of files, those that have to be read beside them.
Reached = dict[str, list[str]]

# The functions and classes of a module itself.
_TOP = late(rb"^(?:def|class)[\s\\]+([^\s(:\\\[]+)", re.MULTILINE)
_LAMBDA = late(rb"^(\w+)[ \t\f]*=[\s\\(]*lambda\b", re.MULTILINE)


def _beside(filename: str, paths: Collection[str]) -> list[str]:
    """Those of ``paths`` in the same folder, if these are few."""
    folder = os.path.dirname(filename)
    found = [path for path in paths if os.path.dirname(path) == folder]
    return found if len(found) <= _MOST_MENTIONS else []


def words(links: Iterable[Links]) -> frozenset[str]:
    """What has to be looked for to know the files that concern files with these links."""
    links = list(links)
    imports = any(each.imports for each in links)
    links = [each for each in links if each.names or each.handed]
    found = {word for each in links for name in each.names for word in (name, FOREIGN + name)}
    found |= ways(handed for each in links for handed in each.handed)
    return frozenset(found) | (_marks() | _changing() if found or imports else frozenset())


def ways(functions: Iterable[Handed]) -> frozenset[str]:
    """What stands in the files that use the functions: their names, and their anchors."""
    found: set[str] = set()
    for each in functions:
        found.update((each.name, USED + each.name), each.anchors, _homes(each))
        found.update((CALLED + each.name, TENSORFLOW) if each.shared else ())
        found.update((DEFINED + each.name,) if each.shared or not each.followed else ())
    return frozenset(found)


def _homes(handed: Handed) -> frozenset[str]:
    """The words one of which stands in a file that uses the function; see ``Words``."""
    if handed.followed:  # where it is defined counts as well
        return handed.anchors or frozenset({FOREIGN + handed.name})
    return frozenset(map(partial(home_of, handed.name), handed.anchors))


def home_of(name: str, anchor: str) -> str:
    """The word for files in which an anchor of something of that name may be meant."""
    return HOME + anchor + BESIDE + name


def may_import(links: Links, path: str) -> bool:
    """Whether a file with these links may import the one at ``path``."""
    return not links.imports.isdisjoint(_steps(path))


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[str, ...]:
    return tuple(os.path.splitext(path)[0].split(os.sep))


class Choice:
    """Chooses among the files in which ``words`` stand; ``places`` are these, in order."""

    def __init__(
        self,
        places: Mapping[str, Collection[str]],
        projects: Projects,
        modules: Modules,
    ) -> None:
        self._places = places
        self._projects = projects
        self._modules = modules
        marked = (path for mark in sorted(_marks()) for path in places.get(mark, ()))
        self._marked = tuple(dict.fromkeys(marked))
        making = (path for mark in sorted(_marks(making=True)) for path in places.get(mark, ()))
        #: The files that may make such ops themselves.
        self.making = tuple(dict.fromkeys(making))
        changing = (path for word in sorted(_changing()) for path in places.get(word, ()))
        self._changing = tuple(dict.fromkeys(changing))
        self._tops: dict[str, frozenset[bytes] | None] = {}

    def changing(self, filename: str) -> Iterable[str]:
        """The files that may change a graph, or what holds in it, whoever calls them."""
        return self._projects.near(filename, self._changing)

    def callers(self, filename: str, links: Links) -> Iterator[str]:
        """The files that may call a function, or make a class; an empty path for too many to read.

        They reach out for its name, or have its class beside it, of which they may have a subclass.
        """
        near = {name: set(self._places[FOREIGN + name]) for name in links.names}
        chosen = {name: set(found) for name, found in near.items()}
        for handed in links.handed:
            name = handed.name
            if name.startswith(SET):
                continue  # no function: the file that sets it goes together with the other
            near.setdefault(name, set()).update(*map(self._places.__getitem__, handed.anchors))
            chosen.setdefault(name, set()).update(*map(self._places.__getitem__, _homes(handed)))
            if handed.shared:
                chosen[name].update(self._places[DEFINED + name])
            elif not handed.followed:
                alike = set(self._namesakes(handed))
                chosen[name] |= alike
                near[name] |= alike
            if handed.shared or not handed.anchors:
                near[name].update(chosen[name])
        for name in sorted(chosen):
            near_by = self._projects.using(filename, self._places[name])
            paths = [path for path in near_by if path in near[name]]
            if len(paths) > _MOST_MENTIONS:
                paths = self._meaning(filename, name, links, paths)
            if len(paths) > _MOST_MENTIONS:
                yield ""
                # What those beside it hand in still tells where an assumption would be false.
                paths = _beside(filename, paths)
            yield from (path for path in paths if path in chosen[name])

    def _meaning(self, filename: str, name: str, links: Links, paths: list[str]) -> list[str]:
        """Those of ``paths`` that have the name from ``filename``, as far as imports tell."""
        meant = [handed for handed in links.handed if handed.name == name]
        if name in links.names:
            if _is_method(filename, name):
                return paths
            meant.append(Handed(name, frozenset()))
        alike = {path for handed in meant for path in self._namesakes(handed)}
        elsewhere = partial(self._modules.means_another, filename)
        using = {p for p in paths if not all(elsewhere(p, each) for each in meant)} - alike
        # A module of the same name tells what those mean that import it.
        alike &= {path for user in using for path in self._modules.imported(user)}
        return [path for path in paths if path in using or path in alike]

    def _namesakes(self, handed: Handed) -> Iterator[str]:
        """The modules of the same name that have a function of that name, too, and packages."""
        defining = set(self._places.get(DEFINED + handed.name, ()))
        for path in self._places[handed.name]:
            steps = _steps(path)
            package = steps[-1] == "__init__"
            if (package or path in defining) and not handed.anchors.isdisjoint(steps[-2:]):
                yield path

    def marked(self, links: Mapping[str, Links], hidden_in: HiddenIn) -> dict[str, list[str]]:
        """For each file with links those whose functions it may call, if they may make such ops.

        Such are ops that no tape records. The file has to name one of the functions that
        ``hidden_in`` tells, or the other one to use one of a third.
        """
        near: dict[str, list[str]] = {}
        here: dict[str, Text] = {}
        for filename, each in links.items():
            near_by = self._projects.near(filename, self._marked)
            paths = [p for p in near_by if p != filename and may_import(each, p)]
            if paths:
                text = here[filename] = _text(filename)
                near[filename] = [p for p in paths if _may_name(text, self._tops_of(p))]
        asked = sorted({path for paths in near.values() for path in paths})
        made = dict(zip(asked, hidden_in(asked), strict=True))
        chosen: dict[str, list[str]] = {}
        for filename, paths in near.items():
            chosen[filename] = [
                p
                for p in paths
                if (hidden := made[p]) is None
                or _may_name(here[filename], frozenset(map(_encoded, hidden.names)))
                or any(o and o is not hidden and o.names & hidden.uses for o in made.values())
            ]
        return chosen

    def reached(self, links: Mapping[str, Links], passing: Mapping[str, Passing]) -> Reached:
        """For each file with links those that it may call, and through them such ops."""
        found: Reached = {}
        for filename, each in links.items():
            near_by = self._projects.near(filename, passing)
            near = {p: passing[p] for p in near_by if p != filename and may_import(each, p)}
            text = _text(filename) if near else Text(b"")
            found[filename] = [
                one
                for path, far in near.items()
                if _may_name(text, frozenset(map(_encoded, far.names)))
                for one in (path, *self._projects.near(filename, far.through))
            ]
        return found

    def _tops_of(self, path: str) -> frozenset[bytes] | None:
        """The names of a module's own functions and classes; None where its bytes do not tell."""
        if path not in self._tops:
            try:
                tops = None if is_notebook(path) else _tops(read(path))
            except SourceError:
                tops = None
            self._tops[path] = tops
        return self._tops[path]


class Naming:
    """The files whose functions that make such ops callers name: they may hand them in.

    And those through which they have them from others. ``hidden`` are such functions of files.
    """

    def __init__(
        self,
        projects: Projects,
        hidden: Mapping[str, frozenset[str]],
        passing: Mapping[str, Passing],
    ) -> None:
        self._projects = projects
        self._given = dict(passing) if hidden else {}
        self._given |= {path: Passing(names, ()) for path, names in hidden.items()}
        self._names = {
            path: frozenset(map(_encoded, each.names)) for path, each in self._given.items()
        }
        self._found: dict[str, tuple[str, ...]] = {}

    def by(self, callers: Iterable[str], gone_through: set[str]) -> Iterator[str]:
        """What the files at ``callers`` name: those that are not ``gone_through``, and now are."""
        for caller in filter(None, callers):
            if caller in gone_through:
                continue
            gone_through.add(caller)
            if caller not in self._found:
                self._found[caller] = tuple(self._by(caller))
            yield from self._found[caller]

    def _by(self, caller: str) -> dict[str, None]:
        near_by = self._projects.near(caller, self._given)
        text = _text(caller) if near_by else Text(b"")
        found: dict[str, None] = {}
        for path in near_by:
            if path != caller and _may_name(text, self._names[path]):
                found[path] = None
                found |= dict.fromkeys(self._projects.near(caller, self._given[path].through))
        return found


def _may_name(text: Text, names: frozenset[bytes] | None) -> bool:
    """Whether a text may have one of the names by an import, of all names too; None: not known."""
    return names is None or any(map(text.reaches_out, text.among(names)))


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "backslashreplace")


def _marks(making: bool = False) -> frozenset[str]:
    """The words without which a file makes no ops, or variables, that a tape does not record.

    ``making``: those of them that are hardly ever meant otherwise.
    """
    from tapemigrate.rules.unseen.reasons import MAKING, MARKS
    from tapemigrate.rules.unseen.recurrent import CELLS

    return frozenset(FOREIGN + mark for mark in (MAKING if making else MARKS) | CELLS)


def _changing() -> frozenset[str]:
    """The words without which a file does nothing that decides about the tapes of others."""
    from tapemigrate.rules.unseen.reasons import OVERRIDE
    from tapemigrate.rules.unseen.rewired import REWIRING_FILES
    from tapemigrate.rules.unseen.turned_off import SWITCHES
    from tapemigrate.rules.unseen.variable_settings import WORDS

    words = (OVERRIDE, *SWITCHES, *REWIRING_FILES, *WORDS)
    return frozenset(FOREIGN + word for word in words)


def _text(path: str) -> Text:
    try:
        return Text(searchable(path, read(path)))
    except SourceError:
        return Text(b"")


def _is_method(filename: str, name: str) -> bool:
    """Whether a function of the name is defined below the top of a module, or cannot be told."""
    if is_notebook(filename):
        return True
    try:
        data = read(filename)
    except SourceError:
        return True
    inside = rb"(?m)^[ \t]+(?:async[ \t]+)?def[ \t]+%b\b" % _encoded(name)
    return re.search(inside, data) is not None


def _tops(data: bytes) -> frozenset[bytes]:
    lambdas = _LAMBDA.findall(data) if b"lambda" in data else []
    return frozenset((*_TOP.findall(data), *lambdas))

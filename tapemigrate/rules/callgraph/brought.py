"""The files that imports of a file mean, and what these have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tapemigrate.rules.callgraph.places import is_module, steps_of
from tapemigrate.source import SourceFile
from tapemigrate.source.own_imports import Offered, asked_modules, offered, starred_modules

# Through how many packages that hand it on a function is followed.
_MOST_PACKAGES = 4


class Brought:
    """What files import of each other by a star, or under another name."""

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._by_step: defaultdict[str, list[SourceFile]] = defaultdict(list)
        for file in files.values():
            for step in steps_of(file.filename)[-2:]:  # a package goes by its folder
                self._by_step[step].append(file)
        self._code: dict[tuple[str, str, int], frozenset[str]] = {}
        self._of_libraries: dict[tuple[str, str, int], frozenset[tuple[str, str]]] = {}

    def into(self, file: SourceFile) -> SourceFile:
        """The file, with what modules at hand have of which it may import so."""
        found = [
            (
                module,
                Offered(
                    self._starred(file, module),
                    self._code_of(file, module),
                    libraries=self._libraries(file, module),
                ),
            )
            for module in asked_modules(file.text)
        ]
        brought = tuple(
            (module, there)
            for module, there in found
            if there.starred or there.code or there.libraries
        )
        return replace(file, brought=brought) if brought else file

    def _homes(self, user: SourceFile, module: str) -> Iterator[SourceFile]:
        # ``from . import *`` means the package of the file itself, ``..`` the one above.
        above = steps_of(user.filename)[-1 - len(module) :]
        last = module.rpartition(".")[2] or "".join(above[:1])
        for home in self._by_step.get(last, ()):
            if home.filename != user.filename and is_module(user.filename, module, home.filename):
                yield home

    def _starred(self, user: SourceFile, module: str) -> frozenset[str]:
        """What a star import brings: a module hands on what it has from others so."""
        found, met = set[str](), {user.filename}
        pending = [(user, module)]
        while pending:
            for home in self._homes(*pending.pop()):
                if home.filename not in met:
                    met.add(home.filename)
                    found |= offered(home.text, home.filename).starred
                    pending += [(home, each) for each in starred_modules(home.text)]
        return frozenset(found)

    def _libraries(
        self, user: SourceFile, module: str, packages: int = _MOST_PACKAGES
    ) -> frozenset[tuple[str, str]]:
        """What a module has of TensorFlow, from other modules as well."""
        key = user.filename, module, packages
        if key not in self._of_libraries:
            found = set[tuple[str, str]]()
            for home in self._homes(user, module):
                there = offered(home.text, home.filename)
                stars = starred_modules(home.text)
                hidden = self._hidden(home, stars) if there.libraries else frozenset()
                found |= {each for each in there.libraries if each[0] not in hidden}
                handed_on = {path for path, _ in there.handed_on}
                for path in handed_on.union(stars) if packages else ():
                    more = self._libraries(home, path, packages - 1)
                    names = {name for each, name in there.handed_on if each == path}
                    found |= {each for each in more if path in stars or each[0] in names}
            self._of_libraries[key] = frozenset(found)
        return self._of_libraries[key]

    def _hidden(self, home: SourceFile, stars: list[str]) -> frozenset[str]:
        """What star imports of one's own code bring on top of TensorFlow's names."""
        places = [n for n, path in enumerate(stars) if path.split(".")[0] == "tensorflow"]
        after = stars[places[-1] + 1 :] if places else []
        return frozenset().union(*(self._starred(home, path) for path in after))

    def _code_of(
        self, user: SourceFile, module: str, packages: int = _MOST_PACKAGES
    ) -> frozenset[str]:
        """The functions and classes of a module, and those that it hands on."""
        key = user.filename, module, packages
        if key not in self._code:
            found = set[str]()
            for home in self._homes(user, module):
                there = offered(home.text, home.filename)
                found |= there.code
                for path in {path for path, _ in there.handed_on} if packages else ():
                    names = {name for each, name in there.handed_on if each == path}
                    found |= names & self._code_of(home, path, packages - 1)
            self._code[key] = frozenset(found)
        return self._code[key]

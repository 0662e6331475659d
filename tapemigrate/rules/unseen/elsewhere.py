"""Functions of other files that run what a tape does not record: ops made by hand, imported graphs.

A file that calls one of them looks harmless by itself.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

from tapemigrate.flow.unpacking import each_given
from tapemigrate.model import Hidden
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.places import lies_in, may_hold
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later, parsed, words_among
from tapemigrate.rules.unseen.around import called_under, names_opened
from tapemigrate.rules.unseen.bindings import is_shared
from tapemigrate.rules.unseen.giving import giving_functions
from tapemigrate.rules.unseen.hazards import opens
from tapemigrate.rules.unseen.holding import HANDED
from tapemigrate.rules.unseen.importing import modules
from tapemigrate.rules.unseen.imports import handed_on, references, starred
from tapemigrate.rules.unseen.methods import (
    CALLED,
    asked_of_parameters,
    bases_in,
    methods_of,
    named_in,
)
from tapemigrate.rules.unseen.objects import properties, runs_unnamed
from tapemigrate.rules.unseen.reasons import CACHING, MARKS, OVERRIDE, UNDER
from tapemigrate.rules.unseen.spread import hidden, hidden_methods, uses_of_own, with_users
from tapemigrate.tape.ops.symbols import gives_no_tensors
from tapemigrate.tape.request import Refusal

# Through how many files the others are followed than those that nothing tells apart from what
# they replace: a gradient that is overridden is no error, it is another number.
_MOST_STEPS = 3
# The marks that are no words.
_SIGNS = tuple(mark for mark in MARKS if not mark.isidentifier())
# What brings names that do not stand in a file.
_STAR = "import *"
_LIBRARIES = ("tensorflow", "numpy", "__future__")


class Elsewhere:
    """Such functions and classes of all files of a project, by name."""

    def __init__(self, project: Project) -> None:
        self._by_name: dict[str, list[tuple[str, Refusal]]] = {}
        self._modules: dict[str, dict[str, None]] = {}
        self._run: dict[frozenset[str], dict[str, Refusal]] = {}
        self._computed: dict[str, bool] = {}
        files = project.units.files()
        self._files = dict(files)
        for name, file in files:
            if words_among(file, MARKS) or any(sign in file.text for sign in _SIGNS):
                self._add(name, _HIDDEN.of(file) or {})
        new: Collection[str] = list(self._by_name)
        steps = 0
        while new:
            # The others would give what they have given.
            asked = [each for each in files if self._may_import(each[1], new)]
            more = [(name, self._importing(name, file)) for name, file in asked]
            steps += 1
            if steps > _MOST_STEPS:
                more = [(n, {k: r for k, r in f.items() if r.overrides}) for n, f in more]
            new = [each for name, found in more for each in self._add(name, found)]

    def homes_by_name(self) -> dict[str, list[str]]:
        """The files in which each of them is made that runs such ops."""
        return {
            name: homes
            for name, known in self._by_name.items()
            if (homes := [home for home, r in known if not r.gathers])
        }

    def _add(self, filename: str, found: Mapping[str, Refusal]) -> list[str]:
        """Those of ``found``, functions of that file, that are new."""
        new: list[str] = []
        for name, refusal in found.items():
            known = self._by_name.setdefault(name, [])
            before = next((r for other, r in known if other == filename), None)
            if before is None or (before.gathers and not refusal.gathers):
                known[:] = [each for each in known if each[0] != filename]
                known.append((filename, refusal))
                new.append(name)
        return new

    def _importing(self, filename: str, file: Unit | Later) -> dict[str, Refusal]:
        """The functions of a file that use such a one of another file."""
        found: dict[str, Refusal] = {}
        uses = _USES.of(file)
        if uses is None:
            return found
        for path, last, top in uses.foreign:
            refusal = self._refuse(filename, path, last)
            if refusal is not None and (top not in found or found[top].gathers):
                found[top] = refusal
        for name, path in [*self._handed_on(filename)]:
            refusal = self._refuse(filename, path, name)
            if refusal is not None:
                found.setdefault(name, refusal)
        asking = {name: each for name, each in found.items() if each.gathers}
        by_hand = {name: each for name, each in found.items() if not each.gathers}
        return with_users(asking, uses.own) | with_users(by_hand, uses.own)

    def _may_import(self, file: Unit | Later, names: Collection[str]) -> bool:
        """Whether a file may import such a function of one of the names."""
        # What an import means has its name in the file.
        meant = words_among(file, names)
        begins = modules(file.text) if meant else None
        if begins is None:
            return bool(meant)
        last = {steps[-1] for steps in begins}
        homes = {name: {home for home, _ in self._by_name[name]} for name in meant}
        far = frozenset().union(*homes.values())
        near = {home for home in far if any(lies_in(home, steps) for steps in begins)}
        return any(name in last or own & near for name, own in homes.items())

    def may_be_named_in(self, unit: Unit) -> bool:
        """Whether one of them may stand in the file, told quickly."""
        # Python takes some characters beyond ASCII for others.
        if not unit.text.isascii():
            return bool(self._by_name)
        return any(name in unit.text for name in self._by_name)

    def refuse(self, unit: Unit, node: ast.expr) -> Refusal | None:
        """Why a tape would miss what ``node``, a name in ``unit``, means."""
        # Only of a name by itself may an import make another one.
        if isinstance(node, ast.Attribute) and node.attr not in self._by_name:
            return None
        path = unit.names.qualified(node)
        if path is None and isinstance(node, ast.Name) and node.id in self._by_name:
            starred = unit.names.starred(node)
            found = (self._refuse(unit.filename, each, node.id) for each in starred)
            return next(filter(None, found), None)
        if path is None or path.startswith("tensorflow."):
            return None
        return self._refuse(unit.filename, path, _last(node))

    def gives(self, unit: Unit, node: ast.expr) -> bool:
        """Whether ``node``, a name in ``unit``, means a function that may give another one."""
        path = unit.names.qualified(node)
        if path is None:
            return _last(node) in (_GIVING.of(unit) or ())
        name = path.rpartition(".")[2]
        homes = (self._files[home] for home, _ in self._by_name.get(name, ()))
        return any(name in (_GIVING.of(home) or ()) for home in homes)

    def methods(self, unit: Unit) -> Mapping[str, Refusal]:
        """The methods that run such things of the objects that ``unit`` may have from other files.

        The reasons begin with where a method is from: "of model.py: it imports a graph".
        """
        # What its own classes inherit may run what they have of the kind.
        own = self._own_home(unit) if _BASES.of(unit) else set()
        return self._run_in(own | self._all_homes(unit))

    def methods_and_own(self, user: Unit) -> Mapping[str, Refusal]:
        """The same of those that it may hand to others."""
        return self._run_in(self._own_home(user) | self._all_homes(user))

    def is_computed(self, name: str) -> bool:
        """Whether a class of some file computes what has that name where it is read."""
        if name not in self._computed:
            files = (file for file in self._files.values() if words_among(file, {name}))
            self._computed[name] = any(name in (_PROPERTIES.of(file) or ()) for file in files)
        return self._computed[name]

    def _own_home(self, unit: Unit) -> set[str]:
        return {unit.filename} if unit.filename in self._files and _METHODS.of(unit) else set()

    def _all_homes(self, unit: Unit) -> set[str]:
        homes = self._homes(unit.filename, [path for _, path in references(unit)])
        while more := {each for home in homes for each in self._uses_of(home)} - homes:
            homes |= more
        return homes

    def _run_in(self, homes: Set[str]) -> Mapping[str, Refusal]:
        # Files that import the same have it of the same others.
        asked = frozenset(homes)
        if asked not in self._run:
            self._run[asked] = self._find_run_in(asked)
        return self._run[asked]

    def _find_run_in(self, homes: Set[str]) -> dict[str, Refusal]:
        found: dict[str, Refusal] = {}
        for home in sorted(homes):
            own = _METHODS.of(self._files[home]) or {}
            found = {name: of_file(home, refusal) for name, refusal in own.items()} | found
        # A base class may run what only the classes made of it do: ``self.forward(x)``.
        users = self._with_bases(homes)
        before = -1
        while before < len(found):
            before = len(found)
            for home in sorted(users):
                found = self._with_users(home, found) | found
        found.pop(HANDED, None)
        return {name: r for name, r in found.items() if not _is_cached_unnamed(name, r)}

    def _with_bases(self, homes: Set[str]) -> set[str]:
        """The files ``homes`` with those that may hold base classes of what is made there."""
        found = set(homes)
        pending = [path for home in sorted(homes) for path in _BASES.of(self._files[home]) or ()]
        seen: set[str] = set()
        while pending:
            path = pending.pop()
            if path in seen:
                continue
            seen.add(path)
            module, _, name = path.rpartition(".")
            for other in self._below(module):
                file = self._files[other]
                if not words_among(file, {name}) and _STAR not in file.text:
                    continue
                found.add(other)
                pending += _BASES.of(file) or ()
                known = _HANDED_ON.of(file)
                if known is not None:  # it may have the class from a third file itself
                    pending += (further for each, further in known.named if each == name)
                    pending += (starred(star, name) for star in known.stars)
        return found

    def running(self, unit: Unit, methods: Mapping[str, Refusal]) -> dict[str, Refusal]:
        """The imported functions that run one of ``methods`` of what they are handed, by name."""
        found: dict[str, Refusal] = {}
        for expr, path in references(unit) if methods else ():
            if _last(expr) not in found:
                refusal = self._run_for(unit.filename, path, methods, frozenset())
                found |= {} if refusal is None else {_last(expr): refusal}
        return found

    def _run_for(
        self, filename: str, path: str, methods: Mapping[str, Refusal], seen: frozenset[str]
    ) -> Refusal | None:
        """Which of ``methods`` the function may run that a file imports by ``path``.

        ``seen`` are the files and paths that led to it.
        """
        module, _, name = path.rpartition(".")
        key = f"{filename}:{path}"
        if key in seen or not module or is_of_library(path) or gives_no_tensors(path):
            return None
        homes = self._below(module)
        if not homes:
            return next(iter(methods.values()))  # it is not seen what that does
        for other in homes:
            file = self._files[other]
            asked, uses = _ASKED.of(file) or {}, _USES.of(file)
            if other == filename or name not in asked or uses is None:
                continue
            run = dict(methods)
            here = {name, *uses.own.get(name, ())}
            for further, last in dict.fromkeys((f, n) for f, n, top in uses.foreign if top in here):
                if (refusal := self._run_for(other, further, methods, seen | {key})) is not None:
                    run[last] = refusal
            unnamed = next((r for method, r in methods.items() if runs_unnamed(method)), None)
            run |= {} if unnamed is None else {CALLED: unnamed}
            if (refusal := with_users(run, asked).get(name)) is not None:
                return refusal
        return None

    def around(self, project: Project, unit: Unit) -> dict[str, Refusal]:
        """The functions of ``unit`` that other files call where something is open of the kind."""
        opening = (n for n, made in self._by_name.items() if any(r.overrides for _, r in made))
        words = [*UNDER, *opening]
        # Most name one of them, and open nothing by it: these need not be parsed.
        opened = (f for f in project.units.may_have(*words) if self._opens_one(f, words))
        users = (user for f in opened if (user := parsed(f)) is not None and user is not unit)
        return called_under(project, unit, users, self._opened)

    def _opens_one(self, file: Unit | Later, words: Collection[str]) -> bool:
        return not (_OPENED.of(file) or frozenset()).isdisjoint(words)

    def _opened(self, user: Unit, node: ast.AST) -> Refusal | None:
        found = opens(node)
        if found is None and isinstance(node, ast.Name | ast.Attribute):
            run = self.runs(user, node)
            found = UNDER[OVERRIDE] if run is not None and run.overrides else None
        return found

    def runs(self, unit: Unit, node: ast.expr) -> Refusal | None:
        """The same as ``refuse``, of the functions and classes of ``unit`` itself as well."""
        refusal = self.refuse(unit, node)
        if refusal is None and isinstance(node, ast.Name) and is_shared(unit, node):
            known = self._by_name.get(node.id, ())
            refusal = next((r for home, r in known if home == unit.filename), None)
            if refusal is not None and not refusal.placed:
                where = os.path.basename(unit.filename)
                refusal = replace(refusal, reason=f"`{node.id}` of {where}: {refusal.reason}")
        return None if refusal is None or refusal.gathers else refusal

    def _homes(self, filename: str, paths: Iterable[str]) -> set[str]:
        """The files in which imported things are made that run the like."""
        meant = (each for path in set(paths) for each in self._meant(filename, path))
        return {other for other, refusal in meant if not refusal.gathers}

    def _uses_of(self, filename: str) -> set[str]:
        uses = _USES.of(self._files[filename])
        foreign = [path for path, _, _ in uses.foreign] if uses else []
        return self._homes(filename, [*foreign, *(p for _, p in self._handed_on(filename))])

    def _handed_on(self, filename: str) -> Iterator[tuple[str, str]]:
        """The names that a file imports, and others from it in turn, and their paths."""
        known = _HANDED_ON.of(self._files[filename])
        for name, path in known.named if known is not None else ():
            if path.rpartition(".")[2] in self._by_name:
                yield name, path
        for module in known.stars if known is not None else ():
            steps = tuple(step for step in module.split(".") if step)
            for name, homes in self._by_name.items():
                if any(lies_in(home, steps) for home, _ in homes):
                    yield name, starred(module, name)

    def _with_users(self, filename: str, methods: dict[str, Refusal]) -> dict[str, Refusal]:
        """The methods of a file that run ``methods``, or imported functions that do the like."""
        file = self._files[filename]
        names, defined, uses = _NAMED.of(file) or {}, _DEFINED.of(file) or (), _USES.of(file)
        foreign = uses.foreign if uses is not None else ()
        there = {last: self._refuse(filename, path, last) for path, last, _ in foreign}
        run = {last: of_file(filename, r) for last, r in there.items() if r is not None}
        run = methods | {last: r for last, r in run.items() if not r.gathers}
        users = with_users(run, names)
        return {name: r for name, r in users.items() if name in defined or name == HANDED}

    def _meant(self, filename: str, path: str) -> list[tuple[str, Refusal]]:
        """Where what is imported by ``path`` may be made, those first that do worse."""
        module, _, name = path.rpartition(".")
        known = self._by_name.get(name)
        if known is None:
            return []
        below = self._below(module)
        found = (each for each in known if each[0] != filename and each[0] in below)
        return sorted(found, key=lambda each: each[1].gathers)

    def _below(self, module: str) -> dict[str, None]:
        """The files in which a name imported from ``module`` may be made, in order."""
        if module not in self._modules:
            names = (name for name in self._files if may_hold(name, module))
            self._modules[module] = dict.fromkeys(names)
        return self._modules[module]

    def _refuse(self, filename: str, path: str, last: str) -> Refusal | None:
        for other, refusal in self._meant(filename, path):
            if refusal.placed:
                return refusal
            reason = f"`{last}` comes from {os.path.basename(other)}: {refusal.reason}"
            return replace(refusal, reason=reason, placed=True)
        return None


@dataclass(frozen=True, slots=True)
class _Uses:
    """What the functions and classes of a file use, by name.

    ``foreign`` are imported things: the path, the name in the file, and the function. ``own`` are
    the functions and classes of the file itself that each names.
    """

    foreign: tuple[tuple[str, str, str], ...]
    own: dict[str, frozenset[str]]


def _uses(unit: Unit) -> _Uses:
    found: list[tuple[str, str, str]] = []
    for expr, path in references(unit):
        found += ((path, _last(expr), name) for name in _top(unit, expr))
    # Of their order, only which stands first and which last makes a difference.
    last = {use: number for number, use in enumerate(found)}
    first = {use: number for number, use in reversed(tuple(enumerate(found)))}
    ends = {*first.values(), *last.values()}
    kept = (use for number, use in enumerate(found) if number in ends)
    return _Uses(tuple(kept), uses_of_own(unit))


def _is_cached_unnamed(method: str, refusal: Refusal) -> bool:
    """Whether it makes copies of variables, where no name tells that it runs.

    Any value could be an object that does so when it is called.
    """
    return refusal.recipe == CACHING.recipe and runs_unnamed(method)


def of_file(filename: str, refusal: Refusal) -> Refusal:
    """The reason with the file that it is from: "of model.py: it imports a graph"."""
    return replace(refusal, reason=f"of {os.path.basename(filename)}: {refusal.reason}")


_HIDDEN = ByText(hidden)
_USES = ByText(_uses)
_METHODS = ByText(hidden_methods)
_GIVING = ByText(giving_functions)
_NAMED = ByText(named_in)
_DEFINED = ByText(methods_of)
_BASES = ByText(bases_in)
_PROPERTIES = ByText(properties)
_HANDED_ON = ByText(handed_on)
_ASKED = ByText(asked_of_parameters)
_OPENED = ByText(names_opened)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def held(unit: Unit) -> Hidden:
    """What ``unit`` has of the kind for others, and what it may use of theirs."""
    uses = frozenset(path.rpartition(".")[2] for _, path in references(unit))
    return Hidden(frozenset(_HIDDEN.of(unit) or ()), uses)


def elsewhere(project: Project) -> Elsewhere:
    """What the files of ``project`` hold of the kind, found once."""
    return project.once(Elsewhere)


def _top(unit: Unit, node: ast.AST) -> list[str]:
    """The function, class or names of the module in which ``node`` stands."""
    while unit.parents[node] is not unit.tree:
        node = unit.parents[node]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return [t.id for t, _ in each_given(node) if isinstance(t, ast.Name)]


def imported(unit: Unit) -> frozenset[str]:
    """The parts of all that ``unit`` imports, from a project's own files perhaps."""
    found: set[str] = set()
    imports: list[ast.Import | ast.ImportFrom] = [*unit.nodes(ast.Import)]
    for node in [*imports, *unit.nodes(ast.ImportFrom)]:
        paths = [alias.name for alias in node.names]
        module = getattr(node, "module", None)
        if module is not None:
            paths = [module, *paths]
        if not paths[0].startswith(_LIBRARIES):
            found.update(step for path in paths for step in path.split("."))
    return frozenset(found)

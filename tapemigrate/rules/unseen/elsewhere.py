"""Functions of other files that run what a tape does not record: ops made by hand, imported graphs.

A file that calls one of them looks harmless by itself.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from tapemigrate.model import Hidden
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imports_in_text import bound_in
from tapemigrate.rules.callgraph.places import lies_in, may_hold
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later, parsed
from tapemigrate.rules.unseen.around import called_under
from tapemigrate.rules.unseen.given import (
    Given,
    GivingCall,
    Handed,
    given_to,
    gives_any,
    giving_call,
    names_for,
    objects,
    takers,
)
from tapemigrate.rules.unseen.hazards import Hazards, hazards, opens
from tapemigrate.rules.unseen.importing import modules
from tapemigrate.rules.unseen.imports import handed_on, references, starred
from tapemigrate.rules.unseen.methods import (
    CALLED,
    asked_of_parameters,
    bases_in,
    methods_of,
    named_in,
)
from tapemigrate.rules.unseen.objects import runs_unnamed
from tapemigrate.rules.unseen.reasons import CACHING, MARKS, OVERRIDE, UNDER
from tapemigrate.rules.unseen.spread import hidden, hidden_methods, uses_of_own, with_users
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.symbols import gives_no_tensors

# Through how many files such functions are followed.
_MOST_STEPS = 3
# Through how many callers it is followed what they hand on.
_MOST_CALLERS = 2
_LIBRARIES = ("tensorflow", "numpy", "__future__")


class Elsewhere:
    """Such functions and classes of all files of a project, by name."""

    def __init__(self, project: Project) -> None:
        self._by_name: dict[str, list[tuple[str, Refusal]]] = {}
        self._given: dict[tuple[str, int], Handed] = {}
        self._made: dict[str, Mapping[str, Refusal]] = {}
        self._giving: dict[str, dict[int, bool]] = {}
        self._running: dict[str, bool] = {}
        self._plain: dict[str, Hazards] = {}
        self._calls_giving: dict[str, frozenset[GivingCall]] = {}
        files = project.units.files()
        self._files = dict(files)
        self._names = {id(file): name for name, file in files}
        for name, file in files:
            if any(_is_word(mark, file.text) for mark in MARKS):
                self._add(name, _HIDDEN.of(file) or {})
        new = list(self._by_name)
        for _ in range(_MOST_STEPS if new else 0):
            # The others would give what they have given.
            asked = [each for each in files if self._may_import(each[1].text, new)]
            more = [(name, self._importing(name, file)) for name, file in asked]
            new = [each for name, found in more for each in self._add(name, found)]
        self._run_homes = {
            name: homes
            for name, known in self._by_name.items()
            if (homes := [home for home, r in known if not r.gathers])
        }
        self._run_here = {self._files[h].text for homes in self._run_homes.values() for h in homes}
        self._under: dict[str, frozenset[str]] = {}

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

    def _may_import(self, text: str, names: Iterable[str]) -> bool:
        """Whether a file with this text may import such a function of one of the names."""
        # What an import means has its name in the file.
        meant = {name: {home for home, _ in self._by_name[name]} for name in names if name in text}
        begins = modules(text) if meant else None
        if begins is not None:
            last = {steps[-1] for steps in begins}
            homes = frozenset().union(*meant.values())
            near = {home for home in homes if any(lies_in(home, steps) for steps in begins)}
            meant = {name: own for name, own in meant.items() if name in last or own & near}
        return any(_is_word(name, text) for name in meant)

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

    def methods(self, unit: Unit) -> dict[str, Refusal]:
        """The methods that run such things of the objects that ``unit`` may have from other files.

        The reasons begin with where a method is from: "of model.py: it imports a graph".
        """
        # What its own classes inherit may run what they have of the kind.
        own = self._own_home(unit) if _BASES.of(unit) else set()
        return self._run_in(own | self._all_homes(unit))

    def _methods_of(self, user: Unit) -> dict[str, Refusal]:
        """The same of those that it may hand to others."""
        return self._run_in(self._own_home(user) | self._all_homes(user))

    def _own_home(self, unit: Unit) -> set[str]:
        return {unit.filename} if unit.filename in self._files and _METHODS.of(unit) else set()

    def _all_homes(self, unit: Unit) -> set[str]:
        homes = self._homes(unit.filename, [path for _, path in references(unit)])
        while more := {each for home in homes for each in self._uses_of(home)} - homes:
            homes |= more
        return homes

    def _run_in(self, homes: set[str]) -> dict[str, Refusal]:
        found: dict[str, Refusal] = {}
        for home in sorted(homes):
            own = _METHODS.of(self._files[home]) or {}
            found = {name: _of(home, refusal) for name, refusal in own.items()} | found
        # A base class may run what only the classes made of it do: ``self.forward(x)``.
        users = self._with_bases(homes) if found else ()
        before = -1
        while before < len(found):
            before = len(found)
            for home in sorted(users):
                found = self._with_users(home, found) | found
        return {name: r for name, r in found.items() if not _is_cached_unnamed(name, r)}

    def _with_bases(self, homes: set[str]) -> set[str]:
        """The files ``homes`` with those that may hold base classes of what is made there."""
        found, pending = set(homes), list(homes)
        while pending:
            for path in _BASES.of(self._files[pending.pop()]) or ():
                module, _, name = path.rpartition(".")
                more = {
                    other
                    for other, file in self._files.items()
                    if other not in found and may_hold(other, module) and _is_word(name, file.text)
                }
                found |= more
                pending += more
        return found

    def given(self, project: Project, unit: Unit, steps: int = _MOST_CALLERS) -> Handed:
        """What of the kind the functions of ``unit`` are handed, by ``steps`` of callers."""
        key = (unit.filename, steps)
        if key not in self._given:
            self._given[key] = self._given_by(project, unit, steps - 1)
        return self._given[key]

    def _given_by(self, project: Project, unit: Unit, steps: int) -> Handed:
        taking = unit.once(takers) if self._by_name else {}
        functions: Given = {}
        handed: Given = {}
        methods: dict[str, Refusal] = {}
        for user in self._handing(project, unit, taking, steps):
            further = steps if user is not unit else 0
            above = partial(self._given_objects, project, user, further)
            made = partial(self._made_in, user)
            refuses, gives = partial(self._runs, user), partial(self._gives, user)
            runs = partial(self._run_as_function, user)
            called, having = given_to(project, unit, user, gives, refuses, runs, made, above)
            functions |= called
            handed |= having
            if having:
                own = self._methods_of(user)
                methods |= {**self.given(project, user, further).methods, **own} if further else own
        named = names_for(unit, handed)
        run = {**functions, **(handed if any(map(runs_unnamed, methods)) else {})}
        return Handed(names_for(unit, run), named, methods)

    def _handing(
        self, project: Project, unit: Unit, taking: Collection[str], steps: int
    ) -> Iterator[Unit]:
        """The files that may hand such a thing to what bears one of the names.

        It is handed in there, or given to a function of the file, which may hand it on.
        """
        users = project.units.may_have(*taking) if taking and self._all_giving else ()
        for user in users:
            where = self._names[id(user)]
            here = any(
                each.name in taking and each.may_mean(unit.filename)
                for each in self._giving_calls(where, user)
            )
            if here or (steps and user is not unit and self._may_be_given(where, user)):
                if (found := parsed(user)) is not None:
                    yield found

    def _may_be_given(self, filename: str, user: Unit | Later) -> bool:
        """Whether a file may have a function that is handed such a thing."""
        names = takers(user) if isinstance(user, Unit) else user.defined
        return any(
            (names is None or each.name in names) and each.may_mean(filename)
            for each in self._all_giving
        )

    @cached_property
    def _all_giving(self) -> frozenset[GivingCall]:
        found = (self._giving_calls(name, file) for name, file in self._files.items())
        return frozenset().union(*found)

    def _giving_calls(self, filename: str, file: Unit | Later) -> frozenset[GivingCall]:
        """Those calls of a file that hand in such a thing, or an object that is made there."""
        if filename not in self._calls_giving:
            found = parsed(file) if self._may_run(file) else None
            self._calls_giving[filename] = (
                frozenset() if found is None else self._calls_that_give(found)
            )
        return self._calls_giving[filename]

    def _calls_that_give(self, user: Unit) -> frozenset[GivingCall]:
        calls = enumerate(user.nodes(ast.Call))
        return frozenset(giving_call(user, call) for n, call in calls if self._gives(user, n))

    def _may_run(self, file: Unit | Later) -> bool:
        """Whether such a thing may stand in the file."""
        if file.text not in self._running:
            self._running[file.text] = file.text in self._run_here or any(
                name in file.text and _is_word(name, file.text)
                for path in bound_in(file.text)
                for name in self._run_by(path)
            )
        return self._running[file.text]

    def _run_by(self, path: str) -> frozenset[str]:
        """The names of such things that may be meant by what a file imports by a path."""
        if path not in self._under:
            steps = tuple(step for step in path.split(".") if step)
            self._under[path] = frozenset(
                name
                for name, homes in self._run_homes.items()
                if steps[:1] != ("tensorflow",)
                and any(
                    lies_in(home, steps) or (steps[-1] in (name, "*") and lies_in(home, steps[:-1]))
                    for home in homes
                )
            )
        return self._under[path]

    def _gives(self, user: Unit, number: int) -> bool:
        """Whether a call, by its number, hands in such a thing, or an object that is made there."""
        known = self._giving.setdefault(user.filename, {})
        if number not in known:
            call = user.nodes(ast.Call)[number]
            runs = partial(self._run_as_function, user)
            known[number] = gives_any(call, partial(self._runs, user), runs, self._made_in(user))
        return known[number]

    def _made_in(self, user: Unit) -> Mapping[str, Refusal]:
        if user.filename not in self._made:
            self._made[user.filename] = objects(user, partial(self._runs, user))
        return self._made[user.filename]

    def _given_objects(self, project: Project, unit: Unit, steps: int) -> Mapping[str, Refusal]:
        return self.given(project, unit, steps).objects if steps else {}

    def running(self, unit: Unit, methods: Mapping[str, Refusal]) -> dict[str, Refusal]:
        """The imported functions that run one of ``methods`` of what they are handed, by name."""
        found: dict[str, Refusal] = {}
        for expr, path in references(unit) if methods else ():
            if _last(expr) not in found:
                refusal = self._run_for(unit.filename, path, methods, _MOST_STEPS)
                found |= {} if refusal is None else {_last(expr): refusal}
        return found

    def _run_for(
        self, filename: str, path: str, methods: Mapping[str, Refusal], steps: int
    ) -> Refusal | None:
        """Which of ``methods`` the function may run that a file imports by ``path``."""
        module, _, name = path.rpartition(".")
        if not steps or not module or is_of_library(path) or gives_no_tensors(path):
            return None
        homes = [each for each in self._files.items() if may_hold(each[0], module)]
        if not homes:
            return next(iter(methods.values()))  # it is not seen what that does
        for other, file in homes:
            asked, uses = _ASKED.of(file) or {}, _USES.of(file)
            if other == filename or name not in asked or uses is None:
                continue
            run = dict(methods)
            here = {name, *uses.own.get(name, ())}
            for further, last in dict.fromkeys((f, n) for f, n, top in uses.foreign if top in here):
                if (refusal := self._run_for(other, further, methods, steps - 1)) is not None:
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
        users = (user for user in project.units.having(*words) if user is not unit)
        return called_under(project, unit, users, self._opened)

    def _opened(self, user: Unit, node: ast.AST) -> Refusal | None:
        found = opens(node)
        if found is None and isinstance(node, ast.Name | ast.Attribute):
            run = self._runs(user, node)
            found = UNDER[OVERRIDE] if run is not None and run.overrides else None
        return found

    def _runs(self, unit: Unit, node: ast.expr) -> Refusal | None:
        """The same as ``refuse``, of the functions and classes of ``unit`` itself as well."""
        refusal = self.refuse(unit, node)
        if refusal is None and isinstance(node, ast.Name):
            refusal = (_HIDDEN.of(unit) or {}).get(node.id)
            where = os.path.basename(unit.filename)
            if refusal is not None:
                refusal = replace(refusal, reason=f"`{node.id}` of {where}: {refusal.reason}")
        return None if refusal is None or refusal.gathers else refusal

    def _run_as_function(self, unit: Unit, value: ast.expr) -> Refusal | None:
        """The same of what ``unit`` may hand on as a function: lambdas and methods, too."""
        if not isinstance(value, ast.Name | ast.Attribute | ast.Lambda | ast.Call):
            return None
        refusal = self._runs(unit, value)
        if refusal is not None:
            return refusal
        if unit.filename not in self._plain:
            # Without what the file is handed itself: that is asked of its callers.
            refuse = partial(self.refuse, unit)
            self._plain[unit.filename] = hazards(unit, refuse, self._methods_of(unit))
        refusal = self._plain[unit.filename].run_by(value)
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
        run = {last: _of(filename, r) for last, r in there.items() if r is not None}
        run = methods | {last: r for last, r in run.items() if not r.gathers}
        return {name: r for name, r in with_users(run, names).items() if name in defined}

    def _meant(self, filename: str, path: str) -> list[tuple[str, Refusal]]:
        """Where what is imported by ``path`` may be made, those first that do worse."""
        module, _, name = path.rpartition(".")
        known = sorted(self._by_name.get(name, ()), key=lambda each: each[1].gathers)
        return [each for each in known if each[0] != filename and may_hold(each[0], module)]

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
        top = _top(unit, expr)
        if top is not None:
            found.append((path, _last(expr), top.name))
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


def _of(filename: str, refusal: Refusal) -> Refusal:
    return replace(refusal, reason=f"of {os.path.basename(filename)}: {refusal.reason}")


_HIDDEN = ByText(hidden)
_USES = ByText(_uses)
_METHODS = ByText(hidden_methods)
_NAMED = ByText(named_in)
_DEFINED = ByText(methods_of)
_BASES = ByText(bases_in)
_HANDED_ON = ByText(handed_on)
_ASKED = ByText(asked_of_parameters)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_word(name: str, text: str) -> bool:
    return name in text and re.search(rf"\b{re.escape(name)}\b", text) is not None


def held(unit: Unit) -> Hidden:
    """What ``unit`` has of the kind for others, and what it may use of theirs."""
    uses = frozenset(path.rpartition(".")[2] for _, path in references(unit))
    return Hidden(frozenset(_HIDDEN.of(unit) or ()), uses)


def elsewhere(project: Project) -> Elsewhere:
    """What the files of ``project`` hold of the kind, found once."""
    return project.once(Elsewhere)


def dangers(project: Project, unit: Unit) -> Hazards:
    """The hazards of ``unit``, those included that it imports from other files."""
    known = project.once(_known_dangers)
    if unit.filename not in known:
        others = elsewhere(project)
        given, around = others.given(project, unit), others.around(project, unit)
        if others.may_be_named_in(unit):
            methods = others.methods(unit)
            given = replace(given, running=others.running(unit, {**given.methods, **methods}))
            known[unit.filename] = hazards(
                unit, partial(others.refuse, unit), methods, given, around
            )
        else:
            given = replace(given, running=others.running(unit, given.methods))
            known[unit.filename] = hazards(unit, given=given, around=around)
    return known[unit.filename]


def _known_dangers(_: Project) -> dict[str, Hazards]:
    return {}


def _top(unit: Unit, node: ast.AST) -> ast.FunctionDef | ast.ClassDef | None:
    """The function or class of the module in which ``node`` stands."""
    while unit.parents[node] is not unit.tree:
        node = unit.parents[node]
    return node if isinstance(node, ast.FunctionDef | ast.ClassDef) else None


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

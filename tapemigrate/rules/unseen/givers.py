"""The files that hand what runs such things, or has methods that do, to functions of others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, partial

from tapemigrate.rules.callgraph.imports_in_text import bound_in
from tapemigrate.rules.callgraph.places import lies_in
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later, parsed, words_among
from tapemigrate.rules.unseen.elsewhere import Elsewhere, elsewhere
from tapemigrate.rules.unseen.given import (
    Given,
    GivingCall,
    Handed,
    calls_by_name,
    given_to,
    gives_any,
    giving_call,
    names_for,
    objects,
    takers,
)
from tapemigrate.rules.unseen.hazards import Hazards, hazards
from tapemigrate.rules.unseen.objects import runs_unnamed
from tapemigrate.tape.request import Refusal

# Through how many callers it is followed what they hand on.
_MOST_CALLERS = 2


class Givers:
    """What the functions of each file of a project are handed of the kind."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._others: Elsewhere = elsewhere(project)
        self._files = dict(project.units.files())
        self._names = {id(file): name for name, file in self._files.items()}
        self._given: dict[tuple[str, int], Handed] = {}
        self._may_be: dict[str, bool] = {}
        self._made: dict[str, Mapping[str, Refusal]] = {}
        self._giving: dict[str, dict[int, bool]] = {}
        self._calls_giving: dict[tuple[str, str], frozenset[GivingCall]] = {}
        self._running: dict[str, bool] = {}
        self._plain: dict[str, Hazards] = {}
        self._homes = self._others.homes_by_name()
        self._home_texts = {self._files[h].text for homes in self._homes.values() for h in homes}
        self._under: dict[str, frozenset[str]] = {}

    def given(self, unit: Unit, steps: int = _MOST_CALLERS) -> Handed:
        """What of the kind the functions of ``unit`` are handed, by ``steps`` of callers."""
        key = (unit.filename, steps)
        if key not in self._given:
            self._given[key] = self._given_by(unit, steps - 1)
        return self._given[key]

    def _given_by(self, unit: Unit, steps: int) -> Handed:
        taking = unit.once(takers) if self._homes else {}
        functions: Given = {}
        handed: Given = {}
        methods: dict[str, Refusal] = {}
        for user in self._handing(unit, taking, steps):
            further = steps if user is not unit else 0
            above = partial(self._given_objects, user, further)
            made = partial(self._made_in, user)
            refuses, gives = partial(self._others.runs, user), partial(self._gives, user)
            runs = partial(self._run_as_function, user)
            called, having = given_to(self._project, unit, user, gives, refuses, runs, made, above)
            functions |= called
            handed |= having
            if having:
                own = self._others.methods_and_own(user)
                methods |= {**self.given(user, further).methods, **own} if further else own
        named = names_for(unit, handed)
        run = {**functions, **(handed if any(map(runs_unnamed, methods)) else {})}
        return Handed(names_for(unit, run), named, methods)

    def _handing(self, unit: Unit, taking: Collection[str], steps: int) -> Iterator[Unit]:
        """The files that may hand such a thing to what bears one of the names.

        It is handed in there, or given to a function of the file, which may hand it on.
        """
        for user in self._project.units.may_have(*taking) if taking else ():
            where = self._names[id(user)]
            if self._hands_in(where, user, taking, unit.filename) or (
                steps and user is not unit and self._may_be_given(where, user)
            ):
                if (found := parsed(user)) is not None:
                    yield found

    def _may_be_given(self, filename: str, user: Unit | Later) -> bool:
        """Whether a file may have a function that is handed such a thing."""
        if filename not in self._may_be:
            names = user.once(takers).keys() if isinstance(user, Unit) else user.defined
            self._may_be[filename] = any(
                self._hands_in(where, file, names, filename) for where, file in self._may_give
            )
        return self._may_be[filename]

    @cached_property
    def _may_give(self) -> list[tuple[str, Unit | Later]]:
        """The files in which such a thing may stand: a few of all."""
        return [(where, file) for where, file in self._files.items() if self._may_run(file)]

    def _hands_in(
        self, filename: str, file: Unit | Later, names: Collection[str] | None, home: str
    ) -> bool:
        """Whether a file may hand such a thing to something of ``home`` that bears a name.

        ``names``: None stands for any.
        """
        if not self._may_run(file):
            return False
        if isinstance(file, Later) and names is not None and not file.may_have(frozenset(names)):
            return False
        user = parsed(file)
        if user is None:
            return False
        called = user.once(calls_by_name).keys()
        return any(
            each.may_mean(home)
            for name in (called if names is None else called & set(names))
            for each in self._giving_calls(filename, user, name)
        )

    def _giving_calls(self, filename: str, user: Unit, name: str) -> frozenset[GivingCall]:
        """Those calls of a name that hand in such a thing, or an object that is made there."""
        key = filename, name
        if key not in self._calls_giving:
            numbers = user.once(calls_by_name)[name]
            calls = user.nodes(ast.Call)
            found = (giving_call(user, calls[n]) for n in numbers if self._gives(user, n))
            self._calls_giving[key] = frozenset(found)
        return self._calls_giving[key]

    def _may_run(self, file: Unit | Later) -> bool:
        """Whether such a thing may stand in the file."""
        if file.text not in self._running:
            self._running[file.text] = file.text in self._home_texts or any(
                words_among(file, self._run_by(path)) for path in bound_in(file.text)
            )
        return self._running[file.text]

    def _run_by(self, path: str) -> frozenset[str]:
        """The names of such things that may be meant by what a file imports by a path."""
        if path not in self._under:
            steps = tuple(step for step in path.split(".") if step)
            self._under[path] = frozenset(
                name
                for name, homes in self._homes.items()
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
            refuses, runs = partial(self._others.runs, user), partial(self._run_as_function, user)
            known[number] = gives_any(call, refuses, runs, self._made_in(user))
        return known[number]

    def _made_in(self, user: Unit) -> Mapping[str, Refusal]:
        if user.filename not in self._made:
            self._made[user.filename] = objects(user, partial(self._others.runs, user))
        return self._made[user.filename]

    def _given_objects(self, unit: Unit, steps: int) -> Mapping[str, Refusal]:
        return self.given(unit, steps).objects if steps else {}

    def _run_as_function(self, unit: Unit, value: ast.expr) -> Refusal | None:
        """The same of what ``unit`` may hand on as a function: of lambdas and methods, too."""
        if not isinstance(value, ast.Name | ast.Attribute | ast.Lambda | ast.Call):
            return None
        refusal = self._others.runs(unit, value)
        if refusal is not None:
            return refusal
        if unit.filename not in self._plain:
            # Without what the file is handed itself: that is asked of its callers.
            gives, refuse = partial(self._others.gives, unit), partial(self._others.refuse, unit)
            methods = self._others.methods_and_own(unit)
            self._plain[unit.filename] = hazards(unit, gives, refuse, methods)
        refusal = self._plain[unit.filename].run_by(value)
        return None if refusal is None or refusal.gathers else refusal

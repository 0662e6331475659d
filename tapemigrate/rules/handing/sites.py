"""Where a function that is to be handed a tape is called."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.callers import Callers, may_be_another
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.companions import companions
from tapemigrate.rules.callgraph.imported import missing_folders
from tapemigrate.rules.callgraph.library_methods import TENSORFLOW_METHODS
from tapemigrate.rules.callgraph.meaning import is_called_from_outside
from tapemigrate.rules.callgraph.namesakes import Namesakes, namesakes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.own_parts import set_out_of_sight
from tapemigrate.rules.handing.placed import TAPE, Helper
from tapemigrate.rules.project import CallSite, Project


class Sites:
    """The calls that hand a tape to functions of ``project``."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._circles: dict[Scope, Namesakes | str] = {}

    def of(self, helper: Helper) -> list[CallSite] | str:
        """The calls of the function, or why it takes no tape.

        Its circle, what is assumed of its callers, and why some hand in none, are noted on it.
        """
        unit = helper.placed.view.unit
        found = callers(self._project, unit, helper.function)
        if found.problem:
            return found.problem
        method = isinstance(unit.parents[helper.function], ast.ClassDef)
        shared = method and (found.overridden or found.unsure)
        circle = self._circle(helper) if shared or found.mates else ""
        if isinstance(circle, str):
            if found.overridden or found.mates:
                return circle
            calls, unseen = found.calls, found.unseen
            if not (method or calls):
                calls, unseen = self._by_folders(helper, found)
        else:
            helper.circle, calls, unseen = circle, circle.calls, circle.unseen
        own = (*helper.own_targets, *helper.own_sources)
        if own and (problem := set_out_of_sight(self._project, helper.placed.view, own, calls)):
            return problem
        helper.without += unseen
        cls = helper.placed.view.cls
        named = {helper.function.name} if cls is None else {helper.function.name, cls.name}
        unread = self._project.unread(named - {"__init__"})
        if unread:
            helper.without.append(f"{unread} may call it")
        if helper.without and not calls:
            return helper.without[0]
        if cls is not None and self._may_be_called_back(unit, cls, helper.function.name, bool(own)):
            helper.without.append(f"a library may call `{helper.function.name}`")
        if not calls:
            if is_called_from_outside(self._project, unit, helper.function):
                return f"a library may call `{helper.function.name}`"
            if helper.computes:
                return (
                    f"`{helper.function.name}` computes more of it before it asks for the "
                    "gradient, and no caller can be seen whose tape would still record"
                )
            if own:
                return f"no caller can be seen whose tape has recorded `self.{own[0]}`"
            if helper.standing:
                return f"no caller can be seen that would watch `{helper.standing[0]}`"
            names = " and ".join(f"`{t}`" for t in helper.targets)
            kind = "persistent " if helper.often else ""
            watched = " and ".join(f"`{s}`" for s in helper.sources)
            helper.assumptions.append(
                f"every caller of `{helper.function.name}` hands in a {kind}tape that "
                f"{'still records and ' if helper.records else ''}has "
                f"{f'watched {watched} and ' if watched else ''}recorded {names}"
            )
        return calls

    def _may_be_called_back(self, unit: Unit, cls: ast.ClassDef, name: str, own: bool) -> bool:
        """Whether what the class extends, out of sight, may call the method.

        What TensorFlow's classes call of others has names that are known, or begins like private
        ones; one that differentiates what is its ``own`` may stand in for any.
        """
        known = classes(self._project)
        if name.startswith("__") or not known.may_be_called_back(unit, cls):
            return False
        if own:
            return not name.startswith("_")
        bases = [path for path in known.unseen_bases(unit, cls) if is_of_library(path)]
        if bases and (name.startswith("_") or name in TENSORFLOW_METHODS):
            return True
        return any(path is not None and path.split(".")[0] != "tensorflow" for path in bases)

    def _by_folders(self, helper: Helper, found: Callers) -> tuple[list[CallSite], list[str]]:
        """The calls that only the name of a folder above the files can tell, and the rest."""
        home, name = helper.placed.view.unit, helper.function.name
        calls: list[CallSite] = []
        unseen = list(found.unseen)
        for site in found.unsure:
            path = site.unit.names.qualified(site.call.func)
            either = site.unit.names.reference_kind(site.call.func) == "either"
            if path is None or either:
                continue
            module = missing_folders(self._project, path, site.unit, home)
            if module:
                calls.append(site)
                unseen.remove(may_be_another(home, name, site))
                sentence = f"`{module}` is {home.filename}"
                if sentence not in helper.assumptions:
                    helper.assumptions.append(sentence)
        return calls, unseen

    def _circle(self, helper: Helper) -> Namesakes | str:
        """The methods that take the tape as well, or why one of them cannot."""
        function = helper.function
        if function not in self._circles:
            unit = helper.placed.view.unit
            method = isinstance(unit.parents[function], ast.ClassDef)
            find = namesakes if method else companions
            found = find(self._project, unit, function)
            if isinstance(found, Namesakes):
                found = self._barred(found) or found
            self._circles[function] = found
        return self._circles[function]

    def _barred(self, circle: Namesakes) -> str:
        """Why one of the methods cannot take the tape."""
        for unit, member in circle.members:
            where = f"`{member.name}` of {unit.filename}, line {member.lineno}"
            if unit.filename not in self._project.asked:
                return f"{where}, would take it as well, and is not changed along with this one"
            if TAPE in unit.names.bound_names(member):
                return f"{where}, would take it as well, and knows something else as `{TAPE}`"
        return ""

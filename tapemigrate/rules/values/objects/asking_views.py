"""Which scopes of a class are told the same of their object, and stand for each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.put_in import handed_in

# So many scopes of a class are told by themselves what they hand to parts of their object.
_MANY = 30


class AskingViews:
    """Keeps one view of each class of one project, for all scopes that are told the same."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._of_classes: dict[tuple[ast.ClassDef, str | None], View] = {}
        self._handing: dict[ast.ClassDef, int] = {}

    def of(self, view: View, name: str, method: bool) -> View:
        """One view for all scopes of a class that are told the same of ``self.name``, or its own.

        A scope that hands something to a part of its object is told less of that part, and of
        methods, which may read it.
        """
        assert view.cls is not None
        handed = handed_in(self._project, view.unit)
        if view.scope in handed:
            known = self._project.effects(view.unit).method(view.cls, name)
            method = method or known is not None
            if not method and name in handed[view.scope]:
                return view
            if method and self._are_few(view.unit, view.cls, handed):
                return view
        own = self._of_classes.get((view.cls, view.kinds.self_name))
        if own is None:
            # A scope that is not there hands nothing to anybody.
            own = replace(view, scope=ast.Module([view.cls], []))
            self._of_classes[view.cls, view.kinds.self_name] = own
        return own

    def _are_few(self, unit: Unit, cls: ast.ClassDef, scopes: Iterable[Scope]) -> bool:
        """Whether each of the scopes of a class can be told something else in good time."""
        if cls not in self._handing:
            of_class = (self._project.class_of(unit, scope) is cls for scope in scopes)
            self._handing[cls] = sum(of_class)
        return self._handing[cls] <= _MANY

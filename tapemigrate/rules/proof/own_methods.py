"""What a value was made of for certain, and not only if a method of the object did it out of sight.

``w = self.make()`` may read all that the object has by then; most methods read little of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import arguments_of, walk


def certainly_behind(project: Project, view: View, uses: Iterable[Use]) -> frozenset[Def]:
    """The definitions that values are made of, where own methods read no more than is seen."""
    me = view.kinds.self_name
    found: set[Def] = set()
    pending = [use.made for use in uses]
    while pending:
        made = pending.pop()
        if made in found:
            continue
        found.add(made)
        if made.kind is Kind.MUTATE and made.path == (me,):
            continue
        method = _own_method(made.value, me)
        if method:
            assert isinstance(made.value, ast.Call)
            read = _read_by(project, view, method)
            given = {u for a in arguments_of(made.value) for u in view.flow.uses_in(a)}
            parts = {u for u in made.uses if u.made.path[0] != me or set(u.made.path[1:2]) & read}
            pending += [use.made for use in given | parts]
        else:
            pending += [use.made for use in made.uses]
    return frozenset(found)


def _own_method(value: ast.expr | None, me: str | None) -> str:
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return path[1].lstrip(".") if path is not None and len(path) == 2 and path[0] == me else ""


def _read_by(project: Project, view: View, name: str) -> set[str]:
    """The parts of its object that a method reads itself."""
    method = None
    if view.cls is not None:
        method = project.effects(view.unit).method(view.cls, name)
    if method is None or not method.args.args:
        return set()
    own = method.args.args[0].arg
    paths = (path_of(n) for n in walk(method) if isinstance(n, ast.Attribute))
    return {path[1] for path in paths if path is not None and len(path) > 1 and path[0] == own}

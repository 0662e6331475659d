"""What a value was made of for certain, and not only if a method of the object did it out of sight.

``w = self.make()`` may read all that the object has by then; most methods read little of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import arguments_of, walk


def certainly_behind(project: Project, view: View, uses: Iterable[Use]) -> frozenset[Def]:
    """The definitions that values are made of, where own methods read no more than is seen."""
    me = view.kinds.self_name
    found: set[Def] = set()
    read = [use.made for use in uses]
    asked = frozenset(made.path[1] for made in read if made.path[0] == me and len(made.path) > 1)
    pending = [(made, asked) for made in read]
    while pending:
        made, asked = pending.pop()
        if made in found:
            continue
        found.add(made)
        method = _own_method(made.value, me)
        if made.kind is Kind.MUTATE and made.path == (me,) and not (asked & _set_by(view, method)):
            continue
        behind = made.uses
        if method:
            assert isinstance(made.value, ast.Call)
            parts = _read_by(project, view, method)
            given = {u for a in arguments_of(made.value) for u in view.flow.uses_in(a)}
            behind = frozenset(
                u for u in made.uses if u.made.path[0] != me or set(u.made.path[1:2]) & parts
            ).union(given)
        own = made.path[0] == me and made.path[1:2]
        pending += [(use.made, frozenset(own) if own else frozenset()) for use in behind]
    return frozenset(found)


def perhaps_behind(project: Project, view: View, uses: Iterable[Use]) -> frozenset[Def]:
    """The definitions that values may be made of, but for what own methods in sight do not read."""
    me = view.kinds.self_name
    found: set[Def] = set()
    pending = [use.made for use in uses]
    while pending:
        made = pending.pop()
        if made in found:
            continue
        found.add(made)
        read = _read_in_all(project, view, _own_method(made.value, me))
        behind: Iterable[Use] = made.uses
        if read is not None and made.kind is not Kind.MUTATE:
            assert isinstance(made.value, ast.Call)
            given = {u for a in arguments_of(made.value) for u in view.flow.uses_in(a)}
            parts = {f".{name}" for name in read}
            behind = given.union(
                u
                for u in made.uses
                if u.made.path[0] != me
                or u.made.kind is Kind.MUTATE
                or set(u.made.path[1:2]) & parts
            )
        pending += [use.made for use in behind]
    return frozenset(found)


def _read_in_all(project: Project, view: View, method: str) -> frozenset[str] | None:
    """The attributes that a method reads with all that it calls; None where more may be read."""
    cls = view.cls
    if cls is None or not method or classes(project).has_unseen_bases(view.unit, cls):
        return None
    if any(unit is not view.unit for unit, _ in beside(project, cls)):
        return None
    told = view.kinds.effects.touched.told(cls, method)
    return None if told.unseen or told.whole else told.read


def _set_by(view: View, method: str) -> frozenset[str]:
    """The attributes that a method of the object sets, where it leaves the others as they are."""
    if view.cls is None or not method:
        return frozenset()
    written = view.kinds.effects.touched.written(view.cls, method)
    return frozenset(f".{name}" for name in written)


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

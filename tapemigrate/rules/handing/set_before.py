"""Whether an attribute that a tape has to watch is there when the method runs that opens the tape.

A forward pass that reads it shows that by itself. ``self.loss = build(); self.vars = found()``
does not: what is found later may be what the loss was computed from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.not_set_yet import of_class
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk

# Through how many methods it is followed what runs, and what reads.
_DEPTH = 4

# Where a method is run: in a scope, on its object; and the first row and column there.
_Where = tuple[Scope, tuple[str, ...]]
_Runs = dict[_Where, tuple[int, int]]
# The object of which a method runs others.
_OWN: tuple[str, ...] = ()


def set_too_late(project: Project, producer: View, name: str) -> str:
    """Why ``self.name`` may not be there yet where the method of ``producer`` runs; or nothing."""
    scope, cls = producer.scope, producer.cls
    if not isinstance(scope, ast.FunctionDef) or cls is None:
        return ""
    if _reads(producer, scope, name, _DEPTH) or of_class(project, producer, name):
        return ""
    family = {each for _, each in of_one_object(project, cls)}
    runs = _Order(project, family)
    computing = runs.of(scope)
    seen = False
    for unit, node in project.stores(name):
        setter = project.scope_of(unit, node)
        if not isinstance(setter, ast.FunctionDef) or project.class_of(unit, setter) not in family:
            continue
        setting = runs.of(setter)
        setting[setter, _OWN] = begin(node)
        for where in computing.keys() & setting.keys():
            if setting[where] > computing[where]:
                return f"`{setter.name}` sets `self.{name}` after `{scope.name}` has run"
            seen |= setting[where] < computing[where]
        seen |= setter.name == "__init__"
    return "" if seen else f"nothing here sets `self.{name}` before `{scope.name}` runs"


class _Order:
    """Where methods of one object are run from."""

    def __init__(self, project: Project, family: set[ast.ClassDef]) -> None:
        self._project = project
        self._family = family

    def of(self, method: ast.FunctionDef) -> _Runs:
        """Where the method is run, also by way of others, and where that is done first."""
        found: _Runs = {}
        seen, pending = {method}, [(method, _DEPTH)]
        while pending:
            each, depth = pending.pop()
            for where, place in self._calls(each):
                found[where] = min(place, found.get(where, place))
                caller = where[0]
                if where[1] == _OWN and isinstance(caller, ast.FunctionDef) and depth:
                    if caller not in seen:
                        seen.add(caller)
                        pending.append((caller, depth - 1))
        return found

    def _calls(self, method: ast.FunctionDef) -> Iterator[tuple[_Where, tuple[int, int]]]:
        for site in self._project.mentions(method.name).calls:
            func = site.call.func
            if not isinstance(func, ast.Attribute):
                continue
            scope = self._project.scope_of(site.unit, site.call)
            owner = path_of(func.value)
            place = begin(site.call)
            own = owner == (self._project.view(site.unit, scope).kinds.self_name,)
            if own or is_super(func.value):
                if self._project.class_of(site.unit, scope) in self._family:
                    yield (scope, _OWN), place
            elif owner is not None:
                yield (scope, owner), place


def _reads(view: View, method: ast.AST, name: str, depth: int) -> bool:
    """Whether a method reads the attribute, or one that it calls does."""
    me = view.kinds.self_name
    own = [n for n in walk(method) if isinstance(n, ast.Attribute) and path_of(n.value) == (me,)]
    if any(n.attr == name and isinstance(n.ctx, ast.Load) for n in own):
        return True
    if not depth or view.cls is None:
        return False
    called = {view.kinds.effects.method(view.cls, n.attr) for n in own} - {None, method}
    return any(_reads(view, each, name, depth - 1) for each in called if each is not None)

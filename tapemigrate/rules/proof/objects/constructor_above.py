"""Which constructor ``super().__init__(…)`` runs, or ``Base.__init__(self, …)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.rules.callgraph.classes import bases, classes
from tapemigrate.rules.callgraph.descent import means_class
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.elsewhere import elsewhere
from tapemigrate.source.trees import calls_in

# A tape does not record what other threads do, and sees no cached copies.
_HIDING = ("Thread", "caching_device")


class Above(NamedTuple):
    """A constructor, and where it stands."""

    unit: Unit
    cls: ast.ClassDef
    method: ast.FunctionDef


def constructor_above(
    project: Project, unit: Unit, cls: ast.ClassDef, call: ast.Call
) -> Above | None:
    """What ``call``, in the constructor of ``cls``, runs above it; None: perhaps another.

    What comes next after a class is its base, as long as nothing extends it beside another.
    """
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "__init__":
        return None
    if any(True for _ in project.stores("__init__")):
        return None
    if not is_super(func.value):
        named = [base for base in cls.bases if ast.unparse(base) == ast.unparse(func.value)]
        return _constructor(project, unit, named[0]) if named and call.args else None
    given = func.value.args if isinstance(func.value, ast.Call) else []
    if given and path_of(given[0]) != (cls.name,):
        return None
    known = classes(project)
    below = [each for name in known.extending(cls.name) for _, each in known.named(name)]
    if any(len(each.bases) > 1 for each in (cls, *below)) or not cls.bases:
        return None
    return _constructor(project, unit, cls.bases[0])


def _constructor(project: Project, unit: Unit, base: ast.expr) -> Above | None:
    name = (path_of(base) or ("",))[-1].lstrip(".")
    met = [
        (home, cls, meant)
        for home, cls in classes(project).named(name)
        if (meant := means_class(project, unit, base, home, cls)) is not False
    ]
    if len(met) != 1 or not met[0][2]:
        return None
    home, cls, _ = met[0]
    # What its file does that no tape records is told of its functions, and not of what it hands on.
    if home is not unit and (
        elsewhere(project).refuse(unit, base) or any(word in home.text for word in _HIDING)
    ):
        return None
    for stmt in cls.body:
        if isinstance(stmt, ast.FunctionDef) and stmt.name == "__init__":
            plain = stmt.args.args and not stmt.decorator_list
            return Above(home, cls, stmt) if plain else None
    if len(cls.bases) != 1 or bases(cls) == [cls.name]:
        return None
    return _constructor(project, home, cls.bases[0])


def constructors_elsewhere(project: Project, view: View, run: Iterable[ast.AST]) -> list[Above]:
    """The constructors above, of other files, that ``run`` in a constructor leads to."""
    scope = view.scope
    if view.cls is None or not isinstance(scope, ast.FunctionDef) or scope.name != "__init__":
        return []
    found: list[Above] = []
    pending = [(view.unit, view.cls, node) for node in run]
    while pending:
        unit, cls, root = pending.pop()
        for call in calls_in(root):
            above = constructor_above(project, unit, cls, call)
            if above is not None and all(above.method is not each.method for each in found):
                found.append(above)
                pending.append((above.unit, above.cls, above.method))
    return [each for each in found if each.unit is not view.unit]

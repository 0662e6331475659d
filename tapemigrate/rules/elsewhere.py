"""Functions of other files that run what a tape does not record: ops made by hand, imported graphs.

A file that calls one of them looks harmless by itself.
"""

from __future__ import annotations

import ast
from pathlib import PurePath
from weakref import WeakKeyDictionary

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.hazards import MARKS, Hazards, hazards, hidden
from tapemigrate.rules.project import Project
from tapemigrate.tape.request import Refusal

_LIBRARIES = ("tensorflow", "numpy", "__future__")
_FOUND: WeakKeyDictionary[Project, Elsewhere] = WeakKeyDictionary()


class Elsewhere:
    """Such functions and classes of all files of a project, by name."""

    def __init__(self, project: Project) -> None:
        self._by_name: dict[str, list[tuple[Unit, Refusal]]] = {}
        for unit in project.units.values():
            if any(mark in unit.text for mark in MARKS):
                for name, refusal in unit.once(hidden).items():
                    self._by_name.setdefault(name, []).append((unit, refusal))

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def refuse(self, unit: Unit, node: ast.expr) -> Refusal | None:
        """Why a tape would miss what ``node``, a name in ``unit``, means."""
        last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        path = unit.names.qualified(node)
        if path is None or path.startswith("tensorflow."):
            return None
        # An import may give it another name.
        module, _, name = path.rpartition(".")
        for other, refusal in self._by_name.get(name, ()):
            if other is not unit and _may_hold(other.filename, module):
                where = PurePath(other.filename).name
                return Refusal(f"`{last}` comes from {where}: {refusal.reason}", refusal.recipe)
        return None


def elsewhere(project: Project) -> Elsewhere:
    """What the files of ``project`` hold of the kind, found once."""
    if project not in _FOUND:
        _FOUND[project] = Elsewhere(project)
    return _FOUND[project]


def dangers(project: Project, unit: Unit) -> Hazards:
    """The hazards of ``unit``, those included that it imports from other files."""
    others = elsewhere(project)
    return hazards(unit, (lambda node: others.refuse(unit, node)) if others else None)


def imported(unit: Unit) -> frozenset[str]:
    """The parts of all that ``unit`` imports, from a project's own files perhaps."""
    found: set[str] = set()
    for node in unit.parents:
        if isinstance(node, ast.Import | ast.ImportFrom):
            paths = [alias.name for alias in node.names]
            module = getattr(node, "module", None)
            if module is not None:
                paths = [module, *paths]
            if not paths[0].startswith(_LIBRARIES):
                found.update(step for path in paths for step in path.split("."))
    return frozenset(found)


def _may_hold(filename: str, module: str) -> bool:
    """Whether a name imported from ``module`` may be made in the file: by the folders' names."""
    file = PurePath(filename)
    places = [*file.parts[:-1], *([] if file.stem == "__init__" else [file.stem])]
    steps = [step for step in module.split(".") if step]
    # A package hands on what its modules make.
    return not steps or any(
        places[k : k + len(steps)] == steps for k in range(len(places) - len(steps) + 1)
    )

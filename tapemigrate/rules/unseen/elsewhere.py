"""Functions of other files that run what a tape does not record: ops made by hand, imported graphs.

A file that calls one of them looks harmless by itself.
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import replace
from threading import Lock
from weakref import WeakKeyDictionary

from tapemigrate.model import Hidden
from tapemigrate.rules.callgraph.places import steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.hazards import MARKS, Hazards, hazards, hidden, with_users
from tapemigrate.tape.request import Refusal

# Through how many files such functions are followed.
_MOST_STEPS = 3
_LIBRARIES = ("tensorflow", "numpy", "__future__")
_MOST_TEXTS = 200
_HIDDEN: dict[tuple[str, str], dict[str, Refusal]] = {}
_FINDING = Lock()
_FOUND: WeakKeyDictionary[Project, Elsewhere] = WeakKeyDictionary()


class Elsewhere:
    """Such functions and classes of all files of a project, by name."""

    def __init__(self, project: Project) -> None:
        self._by_name: dict[str, list[tuple[Unit, Refusal]]] = {}
        for unit in project.units.with_text(MARKS):
            self._add(unit, _hidden(unit))
        for _ in range(_MOST_STEPS if self._by_name else 0):
            users = project.units.having(*self._by_name)
            more = [(unit, self._importing(unit)) for unit in users]
            if not sum(self._add(unit, found) for unit, found in more):
                break

    def _add(self, unit: Unit, found: dict[str, Refusal]) -> int:
        """How many of ``found``, functions of ``unit``, are new."""
        count = 0
        for name, refusal in found.items():
            known = self._by_name.setdefault(name, [])
            before = next((r for other, r in known if other is unit), None)
            if before is None or (before.gathers and not refusal.gathers):
                known[:] = [each for each in known if each[0] is not unit]
                known.append((unit, refusal))
                count += 1
        return count

    def _importing(self, unit: Unit) -> dict[str, Refusal]:
        """The functions of ``unit`` that use such a one of another file."""
        found: dict[str, Refusal] = {}
        # What an import means has its name in the file.
        if not any(name in unit.text and _is_word(name, unit.text) for name in self._by_name):
            return found
        for expr, _ in unit.names.references():
            refusal = self.refuse(unit, expr)
            top = None if refusal is None else _top(unit, expr)
            if refusal is not None and top is not None:
                if top.name not in found or found[top.name].gathers:
                    found[top.name] = refusal
        asking = {name: each for name, each in found.items() if each.gathers}
        by_hand = {name: each for name, each in found.items() if not each.gathers}
        return with_users(unit, asking) | with_users(unit, by_hand)

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
        known = sorted(self._by_name.get(name, ()), key=lambda each: each[1].gathers)
        for other, refusal in known:
            if other is not unit and may_hold(other.filename, module):
                if " comes from " in refusal.reason:
                    return refusal
                where = os.path.basename(other.filename)
                return replace(refusal, reason=f"`{last}` comes from {where}: {refusal.reason}")
        return None


def _hidden(unit: Unit) -> dict[str, Refusal]:
    """Such functions of ``unit``, found once for a text: many analyses have it in their context."""
    if not any(mark in unit.text for mark in MARKS):
        return {}
    key = (unit.filename, unit.text)
    with _FINDING:
        found = _HIDDEN.get(key)
    if found is None:
        found = hidden(unit)
        with _FINDING:
            _HIDDEN[key] = found
            if len(_HIDDEN) > _MOST_TEXTS:
                del _HIDDEN[next(iter(_HIDDEN))]
    return found


def _is_word(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def held(unit: Unit) -> Hidden:
    """What ``unit`` has of the kind for others, and what it may use of theirs."""
    paths = [path for _, path in unit.names.references() if not path.startswith("tensorflow.")]
    uses = frozenset(path.rpartition(".")[2] for path in paths)
    return Hidden(frozenset(_hidden(unit)), uses)


def elsewhere(project: Project) -> Elsewhere:
    """What the files of ``project`` hold of the kind, found once."""
    if project not in _FOUND:
        _FOUND[project] = Elsewhere(project)
    return _FOUND[project]


def dangers(project: Project, unit: Unit) -> Hazards:
    """The hazards of ``unit``, those included that it imports from other files."""
    others = elsewhere(project)
    return hazards(unit, (lambda node: others.refuse(unit, node)) if others else None)


def _top(unit: Unit, node: ast.AST) -> ast.FunctionDef | ast.ClassDef | None:
    """The function or class of the module in which ``node`` stands."""
    while unit.parents[node] is not unit.tree:
        node = unit.parents[node]
    return node if isinstance(node, ast.FunctionDef | ast.ClassDef) else None


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


def may_hold(filename: str, module: str) -> bool:
    """Whether a name imported from ``module`` may be made in the file: by the folders' names."""
    *folders, stem = steps_of(filename)
    places = folders if stem == "__init__" else [*folders, stem]
    steps = [step for step in module.split(".") if step]
    # A package hands on what its modules make.
    return not steps or any(
        places[k : k + len(steps)] == steps for k in range(len(places) - len(steps) + 1)
    )

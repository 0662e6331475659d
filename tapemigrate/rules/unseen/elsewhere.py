"""Functions of other files that run what a tape does not record: ops made by hand, imported graphs.

A file that calls one of them looks harmless by itself.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from tapemigrate.model import Hidden
from tapemigrate.rules.callgraph.places import lies_in, may_hold
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later
from tapemigrate.rules.unseen.by_text import ByText
from tapemigrate.rules.unseen.hazards import (
    MARKS,
    Hazards,
    hazards,
    hidden,
    uses_of_own,
    with_users,
)
from tapemigrate.rules.unseen.importing import modules
from tapemigrate.tape.request import Refusal

# Through how many files such functions are followed.
_MOST_STEPS = 3
_LIBRARIES = ("tensorflow", "numpy", "__future__")
_FOUND: WeakKeyDictionary[Project, Elsewhere] = WeakKeyDictionary()


class Elsewhere:
    """Such functions and classes of all files of a project, by name."""

    def __init__(self, project: Project) -> None:
        self._by_name: dict[str, list[tuple[str, Refusal]]] = {}
        files = project.units.files()
        for name, file in files:
            if any(_is_word(mark, file.text) for mark in MARKS):
                self._add(name, _HIDDEN.of(file) or {})
        new = list(self._by_name)
        for _ in range(_MOST_STEPS if new else 0):
            # The others would give what they have given.
            asked = [each for each in files if self._may_import(each[1].text, new)]
            more = [(name, self._importing(name, file)) for name, file in asked]
            new = [each for name, found in more for each in self._add(name, found)]

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
        asking = {name: each for name, each in found.items() if each.gathers}
        by_hand = {name: each for name, each in found.items() if not each.gathers}
        return with_users(asking, uses.own) | with_users(by_hand, uses.own)

    def _may_import(self, text: str, names: Iterable[str]) -> bool:
        """Whether a file with this text may import such a function of one of the names."""
        begins = modules(text)
        last = {steps[-1] for steps in begins or ()}
        return any(
            # What an import means has its name in the file.
            name in text
            and (
                begins is None
                or name in last
                or any(lies_in(other, s) for other, _ in self._by_name[name] for s in begins)
            )
            and _is_word(name, text)
            for name in names
        )

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
        if path is None or path.startswith("tensorflow."):
            return None
        return self._refuse(unit.filename, path, _last(node))

    def _refuse(self, filename: str, path: str, last: str) -> Refusal | None:
        module, _, name = path.rpartition(".")
        known = sorted(self._by_name.get(name, ()), key=lambda each: each[1].gathers)
        for other, refusal in known:
            if other != filename and may_hold(other, module):
                if " comes from " in refusal.reason:
                    return refusal
                where = os.path.basename(other)
                return replace(refusal, reason=f"`{last}` comes from {where}: {refusal.reason}")
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
    for expr, path in unit.names.references():
        top = None if path.startswith("tensorflow.") else _top(unit, expr)
        if top is not None:
            found.append((path, _last(expr), top.name))
    # Of their order, only which stands first and which last makes a difference.
    last = {use: number for number, use in enumerate(found)}
    first = {use: number for number, use in reversed(tuple(enumerate(found)))}
    ends = {*first.values(), *last.values()}
    kept = (use for number, use in enumerate(found) if number in ends)
    return _Uses(tuple(kept), uses_of_own(unit))


_HIDDEN = ByText(hidden)
_USES = ByText(_uses)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_word(name: str, text: str) -> bool:
    return name in text and re.search(rf"\b{re.escape(name)}\b", text) is not None


def held(unit: Unit) -> Hidden:
    """What ``unit`` has of the kind for others, and what it may use of theirs."""
    paths = [path for _, path in unit.names.references() if not path.startswith("tensorflow.")]
    uses = frozenset(path.rpartition(".")[2] for path in paths)
    return Hidden(frozenset(_HIDDEN.of(unit) or ()), uses)


def elsewhere(project: Project) -> Elsewhere:
    """What the files of ``project`` hold of the kind, found once."""
    if project not in _FOUND:
        _FOUND[project] = Elsewhere(project)
    return _FOUND[project]


def dangers(project: Project, unit: Unit) -> Hazards:
    """The hazards of ``unit``, those included that it imports from other files."""
    others = elsewhere(project)
    if not others.may_be_named_in(unit):
        return hazards(unit)
    return hazards(unit, lambda node: others.refuse(unit, node))


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

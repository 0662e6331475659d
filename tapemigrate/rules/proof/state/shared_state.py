"""What functions of all files read that outlives their calls, and that other code sets."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.places import stem
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import value_given
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.source.trees import top_level, walk
from tapemigrate.tape.ops.kinds import INDEPENDENT


@dataclass(slots=True)
class _Read:
    """The state that is read, with the scopes that set it, and the functions that are called."""

    names: dict[str, frozenset[ast.AST]] = field(default_factory=dict)
    called: list[tuple[Unit, ast.FunctionDef]] = field(default_factory=list)


class SharedState:
    """Attributes of modules and classes, and names of other modules, that hold tensors."""

    def __init__(self) -> None:
        self._functions: dict[str, list[tuple[Unit, ast.FunctionDef]]] = {}
        self._read: dict[ast.AST, _Read] = {}

    def read_by(self, project: Project, home: Unit, nodes: Iterable[ast.AST]) -> frozenset[str]:
        """What such state ``nodes`` of ``home`` read, by themselves or in functions they call.

        What is set by functions that they all call as well is no such state.
        """
        found: dict[str, frozenset[ast.AST]] = {}
        seen: set[ast.AST] = set()
        pending: list[tuple[Unit, ast.AST]] = [(home, node) for node in nodes]
        while pending:
            unit, node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            if node not in self._read:
                self._read[node] = self._read_in(project, unit, node)
            found |= self._read[node].names
            if unit is not home and isinstance(node, ast.FunctionDef):
                names = {n.id for n in walk(node) if isinstance(n, ast.Name)}
                found |= dict.fromkeys(names & unit.once(filled_state), frozenset())
            pending += self._read[node].called
        return frozenset(name for name, setters in found.items() if not setters or setters - seen)

    def _read_in(self, project: Project, unit: Unit, root: ast.AST) -> _Read:
        found = _Read()
        for node in walk(root):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                setters = _setters(project, unit, node)
                if setters is not None:
                    found.names[ast.unparse(node)] = setters
                found.called += self._meant(project, unit, node)
        return found

    def _named(self, project: Project, name: str) -> list[tuple[Unit, ast.FunctionDef]]:
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = [
                (unit, each)
                for unit in project.units.defining(name)
                for each in unit.once(_functions).get(name, ())
            ]
        return found

    def _meant(
        self, project: Project, unit: Unit, node: ast.Name | ast.Attribute
    ) -> list[tuple[Unit, ast.FunctionDef]]:
        """The functions of the files at hand that the node means."""
        path = unit.names.qualified(node)
        if path is None and isinstance(node, ast.Name):
            path = brought_from(project, unit, node.id)
        if path is None:
            own = unit.once(_functions).get(node.id, ()) if isinstance(node, ast.Name) else ()
            return [(unit, each) for each in own]
        if is_of_library(path):
            return []
        name = path.rpartition(".")[2]
        return [
            each
            for each in self._named(project, name)
            if each[0] is not unit and leads_to(project, path, unit, each[0], name) is not False
        ]


def _functions(unit: Unit) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a module itself, by name."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for stmt in top_level(unit.tree):
        if isinstance(stmt, ast.FunctionDef):
            found.setdefault(stmt.name, []).append(stmt)
    return found


def _setters(
    project: Project, unit: Unit, node: ast.Name | ast.Attribute
) -> frozenset[ast.AST] | None:
    """What sets the state that ``node`` reads, as far as it can be told; None if it is no such."""
    if isinstance(node, ast.Name):
        if unit.names.qualified(node) is not None or not global_values(unit, node.id):
            return None
        return _setting(project, node.id, stem(unit.filename)) or None
    owner = _owner(unit, node.value)
    if owner is None:
        return None
    homes = project.units.at(lambda filename: stem(filename) == owner)
    if any(node.attr in home.once(filled_state) for home in homes if home is not unit):
        return frozenset()
    return _setting(project, node.attr, owner) or None


def _setting(project: Project, attribute: str, owner: str) -> frozenset[ast.AST]:
    """The scopes that set the attribute of the module or class to what an op makes."""
    found = set[ast.AST]()
    for unit, node in project.stores(attribute):
        value = value_given(unit, node)
        if value is not None and _owner(unit, node.value) == owner:
            scope = project.scope_of(unit, node)
            if project.view(unit, scope).kinds.make(value) not in INDEPENDENT:
                found.add(scope)
    return frozenset(found)


def _owner(unit: Unit, node: ast.expr) -> str | None:
    """The last name of the module or class of the user's that the expression means."""
    path = unit.names.qualified(node)
    if path is not None:
        return None if is_of_library(path) else path.rpartition(".")[2]
    if isinstance(node, ast.Name):
        classes = (stmt.name for stmt in top_level(unit.tree) if isinstance(stmt, ast.ClassDef))
        return node.id if node.id in classes else None
    return None


def shared_state(project: Project) -> SharedState:
    """That of a project, made once."""
    return project.once(_unasked)


def _unasked(_: Project) -> SharedState:
    return SharedState()

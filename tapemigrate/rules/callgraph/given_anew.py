"""Functions of modules whose names may mean something else: ``actor = other``, by whatever file."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.set_on_modules import set_unseen
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project


def is_given_anew(project: Project, unit: Unit, function: NamedFunction) -> bool:
    """Whether the name of the function, at the top of its file, may mean something else."""
    name = function.name
    given = unit.once(_given)
    if [*given.get(name, ()), *given.get("*", ())] != [function]:
        return True
    return is_set_elsewhere(project, unit, name)


def is_set_elsewhere(project: Project, unit: Unit, name: str) -> bool:
    """Whether a name of the module may be set from elsewhere, or by a text."""
    if any(user.names.qualified(node) is not None for user, node in project.stores(name)):
        return True
    unseen = any(True for _ in set_unseen(project, unit, name))
    return unseen or bool(set_by_text(project, unit, name))


def _given(unit: Unit) -> dict[str, list[ast.AST]]:
    """The nodes that give something to a name, by that."""
    found: dict[str, list[ast.AST]] = {}
    for node in (*unit.definitions, *unit.nodes(ast.AsyncFunctionDef)):
        found.setdefault(node.name, []).append(node)
    for name in unit.nodes(ast.Name):
        if not isinstance(name.ctx, ast.Load):
            found.setdefault(name.id, []).append(name)
    for alias in unit.nodes(ast.alias):
        found.setdefault((alias.asname or alias.name).split(".")[0], []).append(alias)
    return found

"""Where a file writes what it imports, ``layers.fc`` or ``features``, and by which import path."""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.stars import brought_from, own_stars
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk


def import_chains(unit: Unit) -> dict[ast.expr, str]:
    """The longest chains of the file that mean imported things, with their paths."""
    return unit.once(_chains)


def _chains(unit: Unit) -> dict[ast.expr, str]:
    return dict(unit.names.references())


def imports_below(project: Project, unit: Unit, root: ast.AST) -> list[tuple[ast.expr, str]]:
    """Those that stand below ``root``, and names that a star import of the user's brings."""
    chains = import_chains(unit)
    found = [(node, chains[node]) for node in walk(root) if node in chains]
    for node in walk(root) if own_stars(unit) else ():
        if isinstance(node, ast.Name) and node not in chains:
            path = brought_from(project, unit, node.id)
            found += [(node, path)] if path is not None else []
    return found

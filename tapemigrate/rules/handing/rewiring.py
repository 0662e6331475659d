"""Functions of all files that change the graph in place, which may run after a tape has recorded.

The file that asks for a gradient holds none of it: it calls them, or whoever calls it does.
"""

from __future__ import annotations

import ast
import os

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.run import run_before
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.rewired import REWIRING, REWIRING_WORDS, rewires
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import QUIET
from tapemigrate.tape.request import Refusal


class Rewiring:
    """``refusal``: why a tape of the project would miss it; ``names``: of what may run it."""

    def __init__(self, project: Project) -> None:
        self.refusal: Refusal | None = None
        self.names: set[str] = set()
        for unit in project.units.with_text(REWIRING_WORDS):
            for node in _named(unit):
                if _last(node) in REWIRING:
                    found = rewires(unit, node, f"`{os.path.basename(unit.filename)}`")
                    if found is not None:
                        self.refusal = self.refusal or found
                        self.names |= _around(unit, node)
        pending = set(self.names)
        while pending:
            above: set[str] = set()
            for unit in project.units.having(*sorted(pending)):
                for node in _named(unit):
                    if _last(node) in pending and not is_of_library(unit.names.qualified(node)):
                        above |= _around(unit, node)
            pending = above - self.names
            self.names |= pending


def rewired(project: Project, view: View, stmt: ast.stmt, kept: bool) -> Refusal | None:
    """Why a tape may have recorded a graph that is another one where ``stmt`` asks for a gradient.

    ``kept``: the gradient is asked for in another method than the one that it records.
    """
    known = project.once(Rewiring)
    if known.refusal is None or kept:
        return known.refusal
    qualified = view.unit.names.qualified
    inside = view.unit.is_below(stmt, view.scope)
    for each in (*(run_before(stmt, view.scope, view) if inside else ()), stmt):
        for node in walk(each):
            if isinstance(node, ast.Name | ast.Attribute) and _last(node) in known.names:
                if not is_of_library(qualified(node)):
                    return known.refusal
    return None


def _around(unit: Unit, node: ast.AST) -> set[str]:
    """The names of the functions in which the node stands, of a class for its constructor."""
    found: set[str] = set()
    above = unit.parents.get(node)
    while above is not None:
        if isinstance(above, NamedFunction):
            holder = unit.parents.get(above)
            made = above.name == "__init__" and isinstance(holder, ast.ClassDef)
            found.add(holder.name if made and isinstance(holder, ast.ClassDef) else above.name)
        above = unit.parents.get(above)
    # Sessions are run everywhere.
    return found - QUIET


def _named(unit: Unit) -> list[ast.Attribute | ast.Name]:
    return [*unit.nodes(ast.Attribute), *unit.nodes(ast.Name)]


def _last(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id

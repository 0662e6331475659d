"""Values that other modules at hand hold, and whether one of them was made of another there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Use
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.aliases import with_aliases
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

# What was made of nothing that a tape could have watched.
_APART = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES)


def imported_values(
    project: Project, view: View, run: Iterable[ast.AST]
) -> Iterator[tuple[View, str]]:
    """The values of other modules that are read in ``run``: the module, and its name for each."""
    qualified = view.unit.names.qualified
    for node in (n for each in run for n in walk(each) if isinstance(n, ast.Name | ast.Attribute)):
        path = qualified(node)
        if path is None or "." not in path or is_of_library(path):
            continue
        for home, name in homes_of(project, path):
            if global_values(home, name):
                yield project.view(home, home.tree), name


def parts_computed(project: Project, unit: Unit, run: Iterable[ast.AST]) -> set[Path]:
    """What ``run`` reads of other modules that was computed there: ``data.pay``."""
    found = set[Path]()
    for node in (n for each in run for n in walk(each) if isinstance(n, ast.Attribute)):
        path, meant = path_of(node), unit.names.qualified(node)
        if path is None or path in found or meant is None or is_of_library(meant):
            continue
        homes = ((h, n) for h, n in homes_of(project, meant) if h is not unit)
        if any(_is_computed(project.view(h, h.tree), n) for h, n in homes if global_values(h, n)):
            found.add(path)
    return found


def are_apart(
    project: Project, view: View, source: ast.expr, run: Iterable[ast.AST]
) -> bool | None:
    """Whether none that is read in ``run`` was made of ``source``; None if that cannot be told."""
    computed = [each for each in imported_values(project, view, run) if _is_computed(*each)]
    if not computed:
        return True
    mine = list(imported_values(project, view, [source]))
    verdict: bool | None = True if mine else None
    for home, name in computed:
        made = home.flow.given(name)
        behind = backward([use for d in made for use in (Use(d), *d.uses)]).made
        for there, own in mine:
            if there.unit is not home.unit:
                verdict = None
            elif own != name and with_aliases(frozenset(home.flow.given(own)), home) & behind:
                return False
    return verdict


def _is_computed(module: View, name: str) -> bool:
    return any(
        d.value is None or module.kinds.make(d.value) not in _APART for d in module.flow.given(name)
    )

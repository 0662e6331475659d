"""Names that mean variables of a module: of the file itself, or of another from which they are
imported.
"""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of, import_paths, leads_to
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.variables.module_variables import are_variables, values_of
from tapemigrate.rules.values.variables.variable_values import VARIABLE, parts


def names_variables(project: Project, unit: Unit, name: str) -> bool:
    """Whether a name that a function of the file has from outside is a variable, or holds some."""
    known = project.once(_known)
    key = (unit.filename, name)
    if key not in known:
        known[key] = False  # for names that lead to each other
        known[key] = (
            _are(project, unit, name)
            or _are_imported(project, unit, name)
            or _are_of_another_name(project, unit, name)
        )
    return known[key]


def _are(project: Project, unit: Unit, name: str) -> bool:
    """Whether they are variables of the file, and no constants alone."""
    top = project.view(unit, unit.tree)
    values = (part for value in values_of(project, unit, name) for part in parts(value))
    return are_variables(project, unit, name) and any(
        top.kinds.make(value) in VARIABLE for value in values
    )


def _known(_: Project) -> dict[tuple[str, str], bool]:
    return {}


def _are_imported(project: Project, unit: Unit, name: str) -> bool:
    path = import_paths(unit).get(name) or brought_from(project, unit, name)
    if path is None or is_of_library(path):
        return False
    return any(
        _are(project, home, own)
        for home, own in homes_of(project, path)
        if leads_to(project, path, unit, home, own) is not False
    )


def _are_of_another_name(project: Project, unit: Unit, name: str) -> bool:
    """``kernel = W``"""
    values = values_of(project, unit, name)
    named = [value.id for value in values if isinstance(value, ast.Name)]
    return len(named) == len(values) > 0 and all(
        names_variables(project, unit, each) for each in named
    )

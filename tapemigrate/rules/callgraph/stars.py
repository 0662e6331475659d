"""Which names star imports of the user's own modules bring, ``from nets import *``, and whence."""

from __future__ import annotations

import ast

from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names, left_to_stars, names_bound
from tapemigrate.rules.project import Project
from tapemigrate.source.points import Point, begin
from tapemigrate.source.trees import top_level

_STAR = late(r"\bimport[ \t(]*\*")
_WORD = late(r"\w+")


def own_stars(unit: Unit) -> list[str]:
    """The user's own modules of which the file imports all names; relative ones have their dots."""
    return [module for module in unit.names.stars if not is_of_library(module)]


def brought_from(project: Project, unit: Unit, name: str) -> str | None:
    """The import path of a name that a star import brings; where its module is not at hand, the
    one that it would have there.
    """
    if name not in left_to_stars(unit):
        return None
    unseen: str | None = None
    pending, met = [(unit, module) for module in own_stars(unit)], {unit.filename}
    while pending:
        user, module = pending.pop()
        path = f"{module}{'' if module.endswith('.') else '.'}{name}"
        homes = list(project.units.meant(user.filename, module))
        if any(name in home.once(names_bound) for home in homes):
            return path
        unseen = unseen if homes else unseen or path
        # A module hands on what it has from others.
        new = [home for home in homes if home.filename not in met]
        pending += [(home, star) for home in new for star in own_stars(home)]
        met |= {home.filename for home in new}
    return unseen


def star_statements(unit: Unit) -> list[ast.ImportFrom]:
    """The star imports that run as the file does, in their order."""
    return unit.once(_star_statements)


def brings(project: Project, unit: Unit, module: str, name: str) -> bool:
    """Whether a star import of ``module`` in ``unit`` brings the name, from a file at hand."""
    pending, met = [(unit, module)], {unit.filename}
    while pending:
        user, path = pending.pop()
        for home in project.units.meant(user.filename, path):
            if home.filename in met or not _hands_on(home, name):
                continue
            if name in home.names.bound_names(home.tree):
                return True
            met.add(home.filename)
            pending += [(home, star) for star in own_stars(home)]
    return False


def _hands_on(home: Unit, name: str) -> bool:
    """Whether a star import of the file would bring the name, if the file has it."""
    listed = home.once(_listed)
    return not name.startswith("_") if listed is None else name in listed


def words_beside_stars(project: Project, unit: Unit) -> frozenset[str]:
    """The words of the files to which a star import may bring a new name of ``unit``.

    And of what else these import: one of the same name may be meant there.
    """
    beside = project.imports.around([unit.filename]) - {unit.filename}
    texts = [file.text for name, file in project.units.files() if name in beside]
    if not any(_STAR.search(text) for text in texts):
        return frozenset()
    return frozenset(word for text in texts for word in _WORD.findall(text))


# What a file tells by itself; see ``Unit.once``.


def bound_at_top(unit: Unit) -> dict[str, Point]:
    """The names that the file itself binds as it runs, and where it last does so."""
    found: dict[str, Point] = {}
    for stmt in top_level(unit.tree):
        names: list[str] = []
        if isinstance(stmt, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.partition(".")[0] for alias in stmt.names]
        elif isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [stmt.name]
        elif isinstance(stmt, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            parts = (node for target in targets for node in ast.walk(target))
            names = [node.id for node in parts if isinstance(node, ast.Name)]
        for name in names:
            found[name] = max(begin(stmt), found.get(name, begin(stmt)))
    return found


def _star_statements(unit: Unit) -> list[ast.ImportFrom]:
    found = [n for n in top_level(unit.tree) if isinstance(n, ast.ImportFrom)]
    return sorted((n for n in found if n.names[0].name == "*"), key=begin)


def _listed(unit: Unit) -> frozenset[str] | None:
    """The texts of its ``__all__``, where that is one list; None: there is none, or it grows."""
    if len(unit.once(bound_names).get("__all__", ())) != 1:
        return None
    for stmt in unit.tree.body:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.List | ast.Tuple):
            if [t.id for t in stmt.targets if isinstance(t, ast.Name)] == ["__all__"]:
                texts = [e.value for e in stmt.value.elts if isinstance(e, ast.Constant)]
                return frozenset(t for t in texts if isinstance(t, str))
    return None

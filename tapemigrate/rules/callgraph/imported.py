"""Where an import path leads: whether to a function or class of one file, and to no namesake."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tapemigrate.flow.paths import Path
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.places import (
    import_path,
    is_module,
    may_hold,
    nearness,
    split_path,
    stem,
)
from tapemigrate.rules.callgraph.stars import brings, own_stars
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names, effects_of, given_at_top, names_bound
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import top_level

# Through how many packages an imported name is followed.
MOST_PACKAGES = 4


def leads_to(
    project: Project, path: str, user: Unit, home: Unit, name: str, most: int = MOST_PACKAGES
) -> bool | None:
    """Whether a path that ``user`` imports ends in ``name`` of the module, or package, of ``home``.

    Packages hand on what they import: ``most`` is the number of them that are followed. None: it
    may mean another file of the same name.
    """
    known = project.once(_known_ends)
    key = (path, user.filename, home.filename, name, most)
    if key not in known:
        known[key] = _leads_to(project, path, user, home, name, most)
    return known[key]


def _known_ends(_: Project) -> dict[tuple[str, str, str, str, int], bool | None]:
    return {}


def _leads_to(
    project: Project, path: str, user: Unit, home: Unit, name: str, most: int
) -> bool | None:
    module, last = split_path(path)
    if not module:
        return False
    found: list[bool | None] = []
    if last == name:
        found.append(_is_home(project, module, user, home))
        found.append(_is_package_of(project, module, user, home))
    if most and True not in found and not is_of_library(path):
        found += [
            leads_to(project, import_path(stmt, alias.name), unit, home, name, most - 1)
            for unit in _handing_on(project, module, user)
            if last in unit.text and unit is not home
            for stmt in top_level(unit.tree)
            if isinstance(stmt, ast.ImportFrom)
            for alias in stmt.names
            if last == (alias.asname or alias.name)
        ]
        found += [
            _leads_on_by_star(project, unit, last, home, name, most - 1)
            for unit in _handing_on(project, module, user)
            if unit is not home and own_stars(unit) and last not in unit.once(names_bound)
        ]
        found += [
            leads_to(project, f"{way}.{last}", unit, home, name, most - 1)
            for unit, way in _modules_handed_on(project, module, user)
        ]
        if last == name and True not in found and _may_be_module(project, module, user, home):
            found.append(None)
        if last == name and True not in found and _may_be_installed(project, module, user, home):
            found.append(None)
    return True if True in found else None if None in found else False


def _modules_handed_on(project: Project, module: str, user: Unit) -> Iterator[tuple[Unit, str]]:
    """What ``module`` may be by another path, where a file has it from its imports, and the file.

    ``lib.ops`` is ``lib/kernels.py`` after ``from . import kernels as ops`` in its package.
    """
    package, part = split_path(module)
    if not part or project.units.paths_meant(user.filename, module):
        return
    for unit in project.units.meant(user.filename, package) if package else ():
        if part in unit.once(bound_names):
            continue
        path = import_paths(unit).get(part)
        if path is not None:
            yield unit, path
        elif part not in unit.once(names_bound):
            for star in own_stars(unit):
                yield unit, f"{star}{'' if star.endswith('.') else '.'}{part}"


def _may_be_module(project: Project, module: str, user: Unit, home: Unit) -> bool:
    """Whether ``module`` may be ``home`` by a name that a file which is not at hand gives it."""
    package, part = split_path(module)
    if (
        not package
        or project.units.paths_meant(user.filename, module)
        or not may_hold(home.filename, package)
    ):
        return False
    made = (d.name for unit in project.units.defining(part) for d in unit.definitions)
    seen = project.units.meant(user.filename, package)
    # What such a file makes itself, ``net = Net()``, may be a module as well.
    return part not in made and not any(
        part in import_paths(unit) and part not in unit.once(bound_names) for unit in seen
    )


def _may_be_installed(project: Project, module: str, user: Unit, home: Unit) -> bool:
    """Whether ``module`` may be that of ``home`` under the name by which it is installed.

    After ``import hoomd.htf``, where the folder ``htf`` lies in none of the name ``hoomd``.
    """
    first, _, rest = module.partition(".")
    if not first or not rest or project.units.paths_meant(user.filename, module):
        return False
    return may_hold(home.filename, rest)


def _leads_on_by_star(
    project: Project, unit: Unit, last: str, home: Unit, name: str, most: int
) -> bool | None:
    """The same of a name that ``unit`` may have from one of its star imports, to hand it on."""
    unsure = False
    leading = False
    for star in own_stars(unit):
        way = f"{star}{'' if star.endswith('.') else '.'}{last}"
        meant = leads_to(project, way, unit, home, name, most)
        leading |= meant is True
        unsure |= meant is None or (not meant and brings(project, unit, star, last))
    return None if unsure else leading


def homes_of(project: Project, path: str) -> Iterator[tuple[Unit, str]]:
    """The files in which what is imported by a path may be made, and its name there.

    Files hand on what they import themselves, by its name or with all others.
    """
    paths, met = [path], set[tuple[str, str]]()
    for each in paths:  # which grows meanwhile
        module, name = split_path(each)
        for unit in project.units.holding(module, name):
            if (unit.filename, name) in met:
                continue
            met.add((unit.filename, name))
            yield unit, name
            if module.strip("."):
                further = _handed_on(unit, name)
                paths += [p for p in further if p not in paths and not is_of_library(p)]


def given_at(project: Project, path: str) -> bool:
    """Whether the path means what a file gives a name, or a class of it: no module, at any rate."""
    return any(
        name in home.once(given_at_top) or effects_of(home).class_named(name) is not None
        for home, name in homes_of(project, path)
    )


def _handed_on(unit: Unit, name: str) -> list[str]:
    """The paths by which a file may import what others import from it."""
    path = import_paths(unit).get(name)
    if path is not None or name in unit.once(bound_names):
        return [] if path is None else [path]
    return [f"{star}{'' if star.endswith('.') else '.'}{name}" for star in own_stars(unit)]


def import_paths(unit: Unit) -> dict[str, str]:
    """The import paths of the names that a file imports."""
    return unit.once(_import_paths)


def _import_paths(unit: Unit) -> dict[str, str]:
    found = {a.asname: a.name for s in unit.nodes(ast.Import) for a in s.names if a.asname}
    found |= {a.name: a.name for s in unit.nodes(ast.Import) for a in s.names if "." not in a.name}
    for stmt in unit.nodes(ast.ImportFrom):
        found |= {each.asname or each.name: import_path(stmt, each.name) for each in stmt.names}
    return found


def module_steps(unit: Unit, path: Path) -> int:
    """How many steps of a path name a module with its packages: two of ``nets.layers.KERNEL``.

    That is ``import nets.layers``, which binds ``nets`` alone. Zero where there is none.
    """
    modules = unit.once(_dotted_imports).get(path[0], ())
    lengths = range(len(path) - 1, 1, -1) if modules else ()
    return next((n for n in lengths if "".join(path[:n]) in modules), 0)


def _dotted_imports(unit: Unit) -> dict[str, set[str]]:
    """The modules that a file imports with their packages, by the names that this binds."""
    found: dict[str, set[str]] = {}
    for stmt in unit.nodes(ast.Import):
        for alias in stmt.names:
            if alias.asname is None and "." in alias.name:
                found.setdefault(alias.name.partition(".")[0], set()).add(alias.name)
    return found


def missing_folders(project: Project, path: str, user: Unit, home: Unit) -> str:
    """The module of an absolute import that is ``home``, if the folders above that are named so.

    Files in the topmost folder are imported by its name where that is a package, and that of a
    checkout may be another one. Empty where another file at hand is meant, or may be.
    """
    module, _ = split_path(path)
    meant = is_module(user.filename, module, home.filename)
    if module.startswith(".") or meant:
        return ""
    _, _, below = module.partition(".")
    ways = [module]
    if meant is False:
        if not below or not is_module(user.filename, below, home.filename):
            return ""
        ways.append(below)
    others = [name for name, _ in project.units.files() if name != home.filename]
    found = any(is_module(user.filename, way, name) is not False for name in others for way in ways)
    return "" if found else module


def _handing_on(project: Project, module: str, user: Unit) -> list[Unit]:
    """The files of ``module``; all of the package, where its own file is not at hand."""
    exact = list(project.units.meant(user.filename, module))
    return exact or list(project.units.holding(module))


def _is_home(project: Project, module: str, user: Unit, home: Unit) -> bool | None:
    """Whether ``module`` is the file of ``home``, and none that lies nearer to its user."""
    meant = is_module(user.filename, module, home.filename)
    if meant is None:
        # Folders that are not in the path are no reason to pass over the file that lies there.
        return False if project.units.paths_meant(user.filename, module) else None
    if not meant or module.startswith("."):
        return meant
    mine = nearness(user.filename, module, home.filename)
    others = [
        nearness(user.filename, module, unit.filename)
        for unit in project.units.meant(user.filename, module)
        if unit is not home
    ]
    best = max(others, default=-2)
    return None if mine == best else mine > best


def _is_package_of(project: Project, module: str, user: Unit, home: Unit) -> bool | None:
    """Whether ``module`` is the package of ``home``, which hands on what is not seen."""
    package = os.path.join(os.path.dirname(home.filename), "__init__.py")
    if stem(home.filename) == "__init__" or package in project.units:
        return False
    meant = is_module(user.filename, module, package)
    if meant is None and project.units.paths_meant(user.filename, module):
        return False
    return meant

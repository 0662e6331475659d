"""Which names star imports of the user's own modules bring, ``from nets import *``, and whence."""

from __future__ import annotations

from functools import partial

from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.places import is_module
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import left_to_stars, names_bound
from tapemigrate.rules.project import Project


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
        homes = list(project.units.at(partial(is_module, user.filename, module)))
        if any(name in home.once(names_bound) for home in homes):
            return path
        unseen = unseen if homes else unseen or path
        # A module hands on what it has from others.
        new = [home for home in homes if home.filename not in met]
        pending += [(home, star) for home in new for star in own_stars(home)]
        met |= {home.filename for home in new}
    return unseen

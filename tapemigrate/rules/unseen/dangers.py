"""What a file runs that no tape records, with what it has from others and is handed by them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.elsewhere import elsewhere
from tapemigrate.rules.unseen.givers import Givers
from tapemigrate.rules.unseen.hazards import Hazards, hazards


def dangers(project: Project, unit: Unit) -> Hazards:
    """The hazards of ``unit``, those included that it imports from other files."""
    known = project.once(_known_dangers)
    if unit.filename not in known:
        others = elsewhere(project)
        given, around = project.once(Givers).given(unit), others.around(project, unit)
        gives = partial(others.gives, unit)
        if others.may_be_named_in(unit):
            methods = others.methods(unit)
            given = replace(given, running=others.running(unit, {**given.methods, **methods}))
            known[unit.filename] = hazards(
                unit, gives, partial(others.refuse, unit), methods, given, around
            )
        else:
            given = replace(given, running=others.running(unit, given.methods))
            known[unit.filename] = hazards(unit, gives, given=given, around=around)
    return known[unit.filename]


def _known_dangers(_: Project) -> dict[str, Hazards]:
    return {}

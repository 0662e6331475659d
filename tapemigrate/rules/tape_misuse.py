"""TM301–TM311: a tape used wrongly, in code that has been migrated or was written for one."""

from __future__ import annotations

from tapemigrate.rules import tape_asking, tape_targets, tape_watching
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.tape_uses import tapes
from tapemigrate.rules.tape_values import Values


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of the tapes of ``unit``."""
    found: list[Finding] = []
    values = Values(project)
    for tape in tapes(project, unit):
        found += tape_asking.findings(tape, values)
        found += tape_targets.findings(tape, values)
        found += tape_watching.findings(tape, values)
    return found

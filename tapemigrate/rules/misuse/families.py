"""TM301–TM311: a tape used wrongly, in code that has been migrated or was written for one."""

from __future__ import annotations

from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.misuse import asking, targets, watching
from tapemigrate.rules.misuse.uses import tapes
from tapemigrate.rules.misuse.values import Values
from tapemigrate.rules.project import Project


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of the tapes of ``unit``."""
    found: list[Finding] = []
    values = Values(project)
    for tape in tapes(project, unit):
        found += asking.findings(tape, values)
        found += targets.findings(tape, values)
        found += watching.findings(tape, values)
    return found

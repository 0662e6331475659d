"""The families of rules, in the order in which their findings are made.

A family whose modules are many is loaded for a file that may hold something for it.
"""

from __future__ import annotations

from collections.abc import Callable

from tapemigrate.rules import catalog, cells, gradients, references
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project

# Without one of these words a file cannot mean anything of tf.contrib.eager.
_EAGER = ("contrib", "eager", "tfe", "enable_v2_behavior")


def families() -> list[Callable[[Project, Unit], list[Finding]]]:
    """Every family: given the project and one of its files, the findings there."""
    return [
        gradients.findings,
        references.findings,
        _tfe,
        _optimizers,
        _tape_misuse,
        cells.findings,
    ]


def _tfe(project: Project, unit: Unit) -> list[Finding]:
    handed_on = any("eager" in path for _, path in unit.handed_on)
    if not (project.aliases or handed_on) and not any(word in unit.text for word in _EAGER):
        return []
    from tapemigrate.rules.tfe import transformers

    return transformers.findings(project, unit)


def _optimizers(project: Project, unit: Unit) -> list[Finding]:
    if not any(name in unit.text for name in catalog.methods()):
        return []
    from tapemigrate.rules import optimizers

    return optimizers.findings(project, unit)


def _tape_misuse(project: Project, unit: Unit) -> list[Finding]:
    if not any(path.endswith("GradientTape") for _, path in unit.names.references()):
        return []
    from tapemigrate.rules.misuse import families

    return families.findings(project, unit)

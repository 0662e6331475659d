"""The families of rules, in the order in which their findings are made."""

from __future__ import annotations

from collections.abc import Callable

from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project


def families() -> list[Callable[[Project, Unit], list[Finding]]]:
    """Every family: given the project and one of its files, the findings there."""
    from tapemigrate.rules import cells, gradients, optimizers, references, tape_misuse, tfe

    return [
        gradients.findings,
        references.findings,
        tfe.findings,
        optimizers.findings,
        tape_misuse.findings,
        cells.findings,
    ]

"""Whether values come out of the graph, by name or from a collection: they may be made of anything
that was there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.collected import ASKING
from tapemigrate.rules.unseen.dangers import dangers
from tapemigrate.rules.unseen.elsewhere import elsewhere
from tapemigrate.rules.unseen.reasons import WALKING

_WORDS = (*WALKING, *sorted(ASKING))


def found_in_graph(project: Project, unit: Unit, values: Iterable[ast.AST]) -> bool:
    """Whether one of ``values``, or a function that is called for it, looks a tensor up there."""
    if not unit.once(_may_look) and not elsewhere(project).may_be_named_in(unit):
        return False
    danger = dangers(project, unit)
    listed = list(values)
    return bool(danger.collected(listed)) or danger.walked(listed) is not None


def _may_look(unit: Unit) -> bool:
    return any(word in unit.text for word in _WORDS)

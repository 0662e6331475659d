"""Names that nothing in their file sets: code that is not read does, or nothing."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import left_to_stars
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.verdicts import names_of
from tapemigrate.tape.placing.region import Region


def unset(region: Region, view: View) -> list[str]:
    """What is assumed of such names that the region reads: ``__main__.h = tf.sin(x)`` sets one."""
    unknown = view.unit.once(_unset)
    names = sorted({d.path[0] for d in region.roots} & unknown) if unknown else ()
    leaves = names_of(region.sources.leaves)
    return [f"`{name}`, which nothing here sets, was not computed from {leaves}" for name in names]


def _unset(unit: Unit) -> frozenset[str]:
    stars = (a.name == "*" for node in unit.nodes(ast.ImportFrom) for a in node.names)
    return frozenset() if any(stars) else left_to_stars(unit) - {"__file__"}

"""Objects that the scope's own object keeps, and what networks gave them where they were made."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.globals_read import run_in
from tapemigrate.rules.proof.kept_results import KeptResults
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.source.trees import walk
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal


def results_of_parts(
    project: Project, results: KeptResults, view: View, region: Region, recorded: frozenset[Path]
) -> Refusal | None:
    """Why the tape of a region would miss what networks gave the objects that it reads.

    ``recorded`` are attributes that the tape has recorded elsewhere.
    """
    me = view.kinds.self_name
    read: frozenset[str] | None = None
    for root in sorted(region.roots, key=lambda d: d.path):
        if root.path[0] != me or any(root.path[: len(path)] == path for path in recorded):
            continue
        steps = [step.lstrip(".") for step in root.path[1:] if step.startswith(".")]
        if len(steps) > 1:
            names = frozenset({steps.pop()})
        else:
            names = read = _read_of_others(project, view, region) if read is None else read
        kept = results.kept_of(view, steps, names) if steps else ""
        if kept:
            path = root.path if root.path[-1] == f".{kept}" else (*root.path, f".{kept}")
            return wrong(text_of(path), "computed where its object was made", "the variables")
    return None


def _read_of_others(project: Project, view: View, region: Region) -> frozenset[str]:
    """The attributes that the region, with all that it runs, reads of other objects."""
    roots, _ = run_in(project, region, view)
    nodes = (n for root in roots for n in walk(root) if isinstance(n, ast.Attribute))
    return frozenset(n.attr for n in nodes if path_of(n.value) != (view.kinds.self_name,))

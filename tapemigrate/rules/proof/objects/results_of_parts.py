"""Objects that the scope's own object keeps, or that are handed in: what networks gave them as they
were made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.state.globals_read import run_in
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.source.trees import arguments_of, calls_in, walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal


def results_of_parts(
    project: Project, results: KeptResults, view: View, region: Region, recorded: frozenset[Path]
) -> Refusal | None:
    """Why the tape of a region would miss what networks gave the objects that it reads.

    ``recorded`` are attributes that the tape has recorded elsewhere.
    """
    return next(each_of_parts(project, results, view, region, recorded), None)


def each_of_parts(
    project: Project,
    results: KeptResults,
    view: View,
    region: Region,
    recorded: frozenset[Path] = frozenset(),
) -> Iterator[Refusal]:
    """The same of each such object."""
    me = view.kinds.self_name
    args = [] if isinstance(view.scope, ast.Module) else parameters(view.scope.args)
    handed = {each.arg for each in args} - {me}
    read: frozenset[str] | None = None
    for root in sorted(region.roots, key=lambda d: d.path):
        own = root.path[0] == me
        if not own and root.kind is not Kind.PARAM and root.path[0] not in handed:
            continue
        if any(root.path[: len(path)] == path for path in recorded):
            continue
        owner, parts = root.path[: 2 if own else 1], root.path[2 if own else 1 :]
        if len(owner) < 2 and own:
            continue
        steps = [step.lstrip(".") for step in parts if step.startswith(".")]
        whole = not steps
        if steps:
            names = frozenset({steps.pop()})
        else:
            names = read = _read_of_others(project, view, region) if read is None else read
        kept = results.kept_of(view, owner, steps, names, whole)
        if kept:
            path = root.path if f".{kept}" in root.path else (*root.path, f".{kept}")
            part = not whole and (not steps or steps[0] == kept)
            keeps = owner[1].lstrip(".") if own and part else ""
            how = "computed where its object was made"
            yield wrong(text_of(path), how, "the variables", keeps=keeps)
    for name in _handed_to_overridden(project, view, region):
        path = (me or "", f".{name}")
        if path not in recorded and results.keeps(view, name):
            yield wrong(text_of(path), "computed in another method", "the variables", keeps=name)


def _handed_to_overridden(project: Project, view: View, region: Region) -> Iterator[str]:
    """The attributes that the region hands to methods which subclasses write anew."""
    me, cls = view.kinds.self_name, view.cls
    if cls is None or me is None:
        return
    below = beside(project, cls)
    members = {s.name for _, each in below for s in each.body if isinstance(s, NamedFunction)}
    body = [*region.block.body[region.first : region.last + 1], region.request.target]
    for call in (c for each in body for c in calls_in(each)):
        path = path_of(call.func)
        if path is None or len(path) != 2 or path[0] != me or path[1].lstrip(".") not in members:
            continue
        for handed in map(path_of, arguments_of(call)):
            if handed is not None and len(handed) == 2 and handed[0] == me:
                yield handed[1].lstrip(".")


def _read_of_others(project: Project, view: View, region: Region) -> frozenset[str]:
    """The attributes that the region, with all that it runs, reads of other objects."""
    roots, _ = run_in(project, region, view)
    nodes = (n for root in roots for n in walk(root) if isinstance(n, ast.Attribute))
    return frozenset(n.attr for n in nodes if path_of(n.value) != (view.kinds.self_name,))

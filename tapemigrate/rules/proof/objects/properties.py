"""Properties of the class at hand, which run where they are asked for."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.project import Project, View
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region


def asked_for_within(project: Project, view: View, region: Region) -> frozenset[str]:
    """The properties that run while the tape records, and did not run in the scope before."""
    cls, me = view.cls, view.kinds.self_name
    names = {d.path[1].lstrip(".") for d in region.roots if d.path[0] == me and d.path[1:]}
    if cls is None or not names:
        return frozenset()
    methods = {name: project.effects(view.unit).method(cls, name) for name in names}
    names = {name for name, method in methods.items() if method and method.decorator_list}
    if not names:
        return frozenset()
    rows = region.block.body[region.first : region.last + 1]
    inside = {n for root in (*rows, region.request.stmt) for n in walk(root)}
    start = region.block.body[region.first]
    again = bool(view.blocks.loops_around(start))
    before = {
        n.attr
        for n in walk(view.scope)
        if isinstance(n, ast.Attribute)
        and n not in inside
        and (again or begin(n) < begin(start))
        and path_of(n.value) == (me,)
    }
    return frozenset(names - before)

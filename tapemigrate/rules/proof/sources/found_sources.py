"""Sources that are found where functions put them: what else enters may have been made of them."""

from __future__ import annotations

import ast
from functools import partial

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.state_read import finds_state
from tapemigrate.rules.values.computed import Computed
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.syntax import may_give_back
from tapemigrate.tape.placing.region import Region


def made_of_found(project: Project, view: View, region: Region) -> list[str]:
    """What is assumed of what enters the region beside sources that were put aside before."""
    found = [x for x in region.sources.leaves if x.watch and _is_found(project, view, region, x)]
    computed = project.once(Computed)
    entering = [
        root
        for root in sorted(region.roots, key=lambda d: d.path)
        if root.kind in (Kind.PARAM, Kind.ENTRY)
        and root.path != (view.kinds.self_name,)
        and not any(root in leaf.defs for leaf in found)
        and (found and computed.enters(view, root.path))
    ]
    return [
        f"`{text_of(root.path)}` was not computed from `{leaf.watch}`"
        for leaf in found
        for root in (*entering, *_made_outside(view, region, leaf))
    ]


def _made_outside(view: View, region: Region, leaf: Leaf) -> list[Def]:
    """What the scope itself computes for the target where no tape records it.

    It may do so by the name that the source had before it was put aside.
    """
    inside = {n for s in region.block.body[region.first : region.last + 1] for n in walk(s)}
    behind = backward(view.flow.uses_in(region.request.target), leaf.defs).made - leaf.defs
    made = [
        d
        for d in behind
        if d.kind in (Kind.ASSIGN, Kind.ELEMENT, Kind.AUGMENT)
        and d.stmt not in inside
        and d.value is not None
        and view.kinds.make(d.value) is Make.TENSOR
    ]
    return sorted(made, key=lambda d: d.path)


def _is_found(project: Project, view: View, region: Region, leaf: Leaf) -> bool:
    """Whether the source comes out of what functions put values into.

    What an op of this scope made anew is no value that was put anywhere before.
    """
    values = [d.value for d in leaf.defs if d.kind is Kind.ASSIGN and d.value is not None]
    if len(values) == len(leaf.defs) and all(map(partial(_is_new, view), values)):
        return False
    here = [n for n in walk(region.request.sources) if ast.unparse(n) == leaf.watch]
    return bool(values or here) and finds_state(project, view, [*values, *here])


def _is_new(view: View, value: ast.expr) -> bool:
    return view.kinds.is_op(value) and not may_give_back(value, view.kinds)

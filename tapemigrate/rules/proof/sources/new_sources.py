"""Sources that are made just where the tape opens: nothing that was kept before is made of them."""

from __future__ import annotations

import ast

from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.names.same import is_new
from tapemigrate.tape.placing.region import Region


def are_new_there(view: View, region: Region, leaves: list[Leaf]) -> bool:
    """Whether nothing has met the sources, which ops make, before the tape records.

    Objects, lists and the module may keep what was computed of older tensors, but of no such one.
    """
    return bool(leaves) and all(_is_new_there(view, region, leaf) for leaf in leaves)


def _is_new_there(view: View, region: Region, leaf: Leaf) -> bool:
    if not leaf.is_new or len(leaf.defs) != 1:
        return False
    (made,) = leaf.defs
    body = region.block.body
    if made.stmt not in body or not is_new(made, view.flow, view.kinds):
        return False
    later = {made, *view.flow.made_of(leaf.defs)}
    between = body[body.index(made.stmt) + 1 : region.first]
    read = (n for stmt in between for n in walk(stmt) if isinstance(n, ast.expr))
    return not any(use.made in later for n in read for use in view.flow.reads.get(n, ()))

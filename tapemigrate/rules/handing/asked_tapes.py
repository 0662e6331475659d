"""Regions in which a tape is asked that stands there already."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region

#: The methods by which a tape is asked.
ASKS = frozenset({"gradient", "jacobian", "batch_jacobian"})


def _has_asked_tapes(unit: Unit) -> bool:
    calls = (call.func for call in unit.nodes(ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in ASKS for func in calls)


def asks_a_tape_from_outside(region: Region, view: View) -> bool:
    """Whether the region holds a gradient of a tape that was not opened in it.

    Or of one that was, where parts of it must not be recorded.
    """
    if not view.unit.once(_has_asked_tapes):
        return False
    inside = {
        node for stmt in region.block.body[region.first : region.last + 1] for node in walk(stmt)
    }
    for root in (*inside, region.request.target):
        for node in walk(root) if root is region.request.target else (root,):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = node.func.value
            if node.func.attr not in ASKS or view.kinds.name(owner) is not None:
                continue
            if path_of(owner) == (view.kinds.self_name,) or view.kinds.called(node) is not None:
                continue  # a method of the user's, which may bear that name as well
            made = origins(view.flow.reads.get(owner, frozenset()))
            opened = any(d.stmt in inside for d in made if d.kind is not Kind.MUTATE)
            if path_of(owner) is not None and (region.stops or not opened):
                return True
    return False

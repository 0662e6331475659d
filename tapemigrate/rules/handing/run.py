"""What runs where a region does."""

from __future__ import annotations

import ast

from tapemigrate.rules.project import View
from tapemigrate.rules.values.objects.captured import captured_functions
from tapemigrate.source.points import AHEAD, Point, begin
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.placing.region import Region


def run_by(region: Region, view: View) -> list[ast.AST]:
    """What the region runs, and what the sources and the target were taken from."""
    body = region.block.body
    found: list[ast.AST] = list(body[region.first : min(region.last, region.call - 1) + 1])
    if region.last >= region.call:
        found += run_before(region.request.stmt, body[region.call], view)
    found += [region.request.target, region.request.sources]
    found += (n for n in captured_functions(region, view) if isinstance(n, ast.Lambda))
    uses = view.flow.uses_in(region.request.target) | view.flow.uses_in(region.request.sources)
    made = [u.made for u in uses if u.made.value is not None]
    made += [d for leaf in region.sources.leaves for d in leaf.defs if d not in made]
    first = _place_of_new(region.sources)
    # The blocks around it may change what its ops are.
    node = view.unit.parents.get(region.request.stmt)
    while node is not None and node is not view.scope:
        if isinstance(node, ast.With | ast.AsyncWith):
            found += [item.context_expr for item in node.items]
        node = view.unit.parents.get(node)
    # What was there before its sources were made cannot come from them.
    found += [d.value for d in made if d.value and (d.stmt is None or begin(d.stmt) >= first)]
    return found


def run_before(stmt: ast.stmt, top: ast.AST, view: View) -> list[ast.stmt]:
    """What runs before a statement inside ``top``, which holds it."""
    found: list[ast.stmt] = []
    node: ast.AST = stmt
    while node is not top:
        parent = view.unit.parents[node]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, ())
            if node in block:
                again = isinstance(parent, ast.For | ast.AsyncFor | ast.While)
                found += [s for s in block[: None if again else block.index(node)] if s is not node]
        node = parent
    return found


def _place_of_new(sources: Sources) -> Point:
    """Where the first source is made, if all of them are new tensors; else ahead of everything."""
    if any(leaf.outside and not leaf.fresh for leaf in sources.leaves):
        return AHEAD
    made = [d for leaf in sources.leaves for d in leaf.defs]
    return min((d.begin for d in made), default=AHEAD)

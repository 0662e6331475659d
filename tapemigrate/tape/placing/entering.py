"""What enters a region from outside its scope."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.slices import backward
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.syntax import prefix_of_longer, read_whole
from tapemigrate.tape.placing.region import Region

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


def entering(
    region: Region, nodes: frozenset[Def], flow: Flow, kinds: Kinds, ops: Ops
) -> frozenset[Def]:
    """The definitions from outside the scope whose *values* the recorded statements read."""
    cut = frozenset(d for leaf in region.sources.leaves for d in leaf.defs)
    reads: set[Use] = set()
    functions: set[Use] = set()
    exprs: list[ast.AST] = [d.value for d in nodes if d.value is not None]
    exprs += [d.stmt for d in nodes if d.kind is Kind.MUTATE and d.stmt is not None]
    exprs.append(region.request.target)
    if region.request.output_gradients is not None and region.inside:
        exprs.append(region.request.output_gradients)
    for expr in exprs:
        for node in ops.value_paths(expr):
            reads |= flow.reads.get(node, frozenset())
        lambdas = (n for n in walk(expr) if isinstance(n, ast.Lambda))
        functions = functions.union(*(flow.reads.get(n, ()) for n in lambdas))
    # What is added to is read as well, and stands on the left.
    for made in nodes:
        if made.kind is Kind.AUGMENT:
            reads |= {u for u in made.uses if u.made.path == made.path}
    # What a function reads of the scope where it runs, which is not where it was made.
    functions |= {Use(d) for d in nodes if d.kind is Kind.FUNCTION}
    reads = reads.union(*(use.made.uses for use in functions))
    barren = {d for d in backward(reads).made if ops.is_barren(d) and d not in cut}
    found = backward(reads, frozenset(cut | barren | nodes)).made
    whole = read_whole(reads, found, cut) - {d for d in found if d.path == (kinds.self_name,)}
    return frozenset(
        d
        for d in found
        if d.kind in _OUTSIDE
        and d not in cut
        and d.path[0] != HIDDEN[0]
        and (d in whole or not prefix_of_longer(d, found))
        and not any(d.path[: len(c.path)] == c.path for c in cut if c.kind in _OUTSIDE)
    )

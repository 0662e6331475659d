"""Outputs of one op, of which the target is made of one, and another is a source.

``tf.gradients`` goes back through the op as a whole, and gives zeros for the other output if it
comes to it: an input of the op leads on to another source. For a tape it is nothing that the target
depends on: it gives None.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

# What gives several tensors that several ops have made.
_APART = frozenset({"map_fn", "meshgrid", "moments", "tuple", "weighted_moments"})


def sibling_outputs(region: Region, flow: Flow, kinds: Kinds) -> Refusal | None:
    """Why the call gives zeros for a source where a tape gives None."""
    unconnected = region.request.unconnected
    if unconnected is not None and "zero" in ast.unparse(unconnected).lower():
        return None
    leaves = region.sources.leaves
    behind = backward(flow.uses_in(region.request.target)).made
    for leaf in leaves if len(leaves) > 1 else ():
        others = {d for other in leaves if other is not leaf for d in other.defs}
        for made in _named(leaf, flow):
            call = made.value
            if not isinstance(call, ast.Call) or kinds.make(call) is not Make.TENSOR:
                continue
            if (kinds.name(call.func) or "").rpartition(".")[2] in _APART:
                continue
            among = made.kind is Kind.ELEMENT and made not in behind
            siblings = [d for d in behind if d.value is call and d.kind is Kind.ELEMENT]
            if not (leaf.many and made in behind) and not (among and siblings):
                continue
            if others & backward(flow.uses_in(call)).made or any(x.variables for x in leaves):
                return Refusal(
                    f"`{leaf.watch}` is one of several outputs of an op, of which the target is "
                    "made of another: `tf.gradients` gives zeros for it, and a tape None",
                    "Leave it out of the sources, or ask with "
                    '`unconnected_gradients="zero"`: then both give zeros.',
                )
    return None


def _named(leaf: Leaf, flow: Flow) -> set[Def]:
    """What made the source, seen through names that it was given."""
    found: set[Def] = set()
    pending = list(leaf.defs)
    while pending:
        made = pending.pop()
        if made in found:
            continue
        found.add(made)
        if made.kind is Kind.ASSIGN and made.value is not None and path_of(made.value):
            pending += origins(flow.reads.get(made.value, frozenset()))
    return found

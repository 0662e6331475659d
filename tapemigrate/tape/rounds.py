"""Sources that are what a loop goes through."""

from __future__ import annotations

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.definitions import Kind
from tapemigrate.tape.leaf import Leaf


def of_this_round(leaf: Leaf, block: Block, blocks: Blocks) -> str | None:
    """The name of a source that is what a loop round ``block`` has come to.

    What the loop goes through may be filled anew since, so that it holds the source no longer.
    """
    around = blocks.loops_around(block.body[0])
    taken = [d for d in leaf.defs if d.kind is Kind.LOOP]
    if len(taken) != 1 or taken[0].stmt not in around or len(taken[0].path) > 1:
        return None
    return taken[0].path[0]

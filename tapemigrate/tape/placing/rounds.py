"""Sources that are of one round of a loop: what it goes through, and what it makes anew."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import Function, free_names
from tapemigrate.source.trees import declarations, walk
from tapemigrate.tape.leaf import Leaf, Sources
from tapemigrate.tape.names.same import is_new
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.request import Request

_RUNS_LATER = Function | ast.GeneratorExp


def of_this_round(leaf: Leaf, block: Block, blocks: Blocks) -> str | None:
    """The name of a source that is what a loop round ``block`` has come to.

    What the loop goes through may be filled anew since, so that it holds the source no longer.
    """
    around = blocks.loops_around(block.body[0])
    taken = [d for d in leaf.defs if d.kind is Kind.LOOP]
    if len(taken) != 1 or taken[0].stmt not in around or len(taken[0].path) > 1:
        return None
    return taken[0].path[0]


def making_anew(
    request: Request, sources: Sources, flow: Flow, blocks: Blocks, kinds: Kinds
) -> frozenset[ast.stmt]:
    """The loops of which a round is given nothing that is made of the sources.

    What was carried round such a loop is older than they are, and so made of none of them, whatever
    the round before had by the same names.
    """
    loops = new_in_rounds(request, sources, flow, blocks, kinds)
    if loops and any(_is_read_later(leaf, flow) for leaf in sources.leaves):
        return frozenset()
    return loops


def new_in_rounds(
    request: Request, sources: Sources, flow: Flow, blocks: Blocks, kinds: Kinds
) -> frozenset[ast.stmt]:
    """The loops in each round of which all the sources are new tensors."""
    loops = frozenset(blocks.loops_around(request.stmt))
    read = flow.uses_in(request.sources) if loops else frozenset()
    for leaf in sources.leaves:
        uses = {u for u in read if u.made.path == (leaf.watch,)}
        if not uses or {u.made for u in uses} != leaf.defs:
            return frozenset()  # all variables, say: earlier rounds had them too
        for use in uses:
            stmt = use.made.stmt
            if stmt is None or not is_new(use.made, flow, kinds):
                return frozenset()
            loops &= frozenset(blocks.loops_around(stmt)) - use.carried
    return loops


def _is_read_later(leaf: Leaf, flow: Flow) -> bool:
    """Whether what is made of the source may be read by code that an earlier round has made."""
    body = flow.scope.body
    own = body if isinstance(body, list) else [body]
    later = {n for stmt in own for n in walk(stmt) if isinstance(n, _RUNS_LATER)}
    read = {name for stmt in declarations(own) for name in stmt.names}
    read = read.union(*(_names_read(each) for each in later))
    return any(d.path[0] in read for d in flow.made_of(leaf.defs))


def _names_read(code: ast.AST) -> Iterable[str]:
    """The names of the scope around it that a function or generator reads where it runs."""
    if isinstance(code, Function):
        return free_names(code)
    return (n.id for n in walk(code) if isinstance(n, ast.Name))

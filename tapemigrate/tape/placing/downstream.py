"""Sources that nothing can watch in time, taken for what was computed from variables.

A tape records what is computed from trainable variables, whoever computes it. A tensor that comes
out of a call, or is a part of an object, needs no watch if it is made of such; what a tape has to
record then is what it has to where the variables themselves are asked for.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf, Sources
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.placing.handed import is_passed_in
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)


def flows_on(text: str) -> str:
    """The assumption on a source that no tape can watch before it is used."""
    return f"`{text}` was computed from trainable variables"


def of_variables(
    request: Request, read: Sources | Refusal, flow: Flow, kinds: Kinds
) -> Sources | None:
    """The sources of ``request``, those that cannot be watched as computed from variables.

    None where they may have been there before, or are seen to be made of something else.
    """
    made_by = makers(request, flow)
    if not made_by or any(d.kind in _OUTSIDE or _ends_there(d, kinds) for d in made_by):
        return None
    if isinstance(read, Refusal):
        text = ast.unparse(request.sources)
        listed = isinstance(request.sources, ast.List | ast.Tuple)
        many = True if listed else None
        return Sources([_unwatched(None, text, many)], False if listed else None)
    leaves = [x if x.watch is None else _unwatched(x, x.watch, x.many) for x in read.leaves]
    return replace(read, leaves=leaves)


def of_variables_passed(request: Request, read: Sources | Refusal) -> Sources | None:
    """The same where a tape of the callers has recorded what the sources are taken out of."""
    if isinstance(read, Refusal):
        return None
    leaves = [
        x if x.watch is None or is_passed_in(x) else _unwatched(x, x.watch, x.many)
        for x in read.leaves
    ]
    return replace(read, leaves=leaves)


def is_made_within(request: Request, region: Region, flow: Flow, blocks: Blocks) -> bool:
    """Whether the tape records all that made the sources."""
    for made in makers(request, flow):
        if made.stmt is None or made.stmt is request.stmt:
            continue
        row = blocks.index_in(made.stmt, region.block)
        if row is None or row < region.first:
            return False
    return True


def is_taken_out(request: Request, flow: Flow) -> bool:
    """Whether the sources are nothing but what is looked up in what came into the scope."""
    made_by = makers(request, flow)
    return any(d.kind in _OUTSIDE for d in made_by) and all(
        d.kind in _OUTSIDE or (d.value is not None and not _computes(d.value)) for d in made_by
    )


def makers(request: Request, flow: Flow) -> set[Def]:
    """What gave the sources, or what they were taken out of, their values."""
    found: set[Def] = set()
    pending = [request.sources]
    while pending:
        uses = frozenset(use for part in _taken_from(pending.pop()) for use in flow.uses_in(part))
        made = ({u.made for u in uses} | {*origins(uses)}) - found
        found |= made
        pending += [d.value for d in made if d.value is not None and not _computes(d.value)]
    return {d for d in found if d.kind not in (*_COUNTED, Kind.IMPORT, Kind.FUNCTION, Kind.CLASS)}


def _taken_from(value: ast.expr) -> list[ast.expr]:
    """What it is, or is looked up in, whatever by."""
    match value:
        case ast.Subscript() | ast.Starred():
            return _taken_from(value.value)
        case ast.List() | ast.Tuple():
            return [part for each in value.elts for part in _taken_from(each)]
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
            return [*_taken_from(elt), *(g.iter for g in value.generators)]
    return [value]


def _computes(value: ast.expr) -> bool:
    """Whether it is more than something that was there, by another name or looked up."""
    return any(isinstance(n, ast.Call | ast.BinOp) for n in walk(value))


def _ends_there(made: Def, kinds: Kinds) -> bool:
    """Whether no gradient flows on from what is made, or it is no tensor."""
    value = made.value
    if value is None or made.kind is not Kind.ASSIGN:
        return False
    stopped = isinstance(value, ast.Call) and short(kinds.name(value.func)) == "stop_gradient"
    return stopped or kinds.make(value) in (Make.LEAF, Make.PYTHON, Make.FROZEN)


def _unwatched(leaf: Leaf | None, text: str, many: bool | None) -> Leaf:
    told = [leaf.assumption] if leaf is not None and leaf.assumption else []
    sentence = " and ".join([*told, flows_on(text)])
    return Leaf(frozenset(), None, True, many, variables=True, assumption=sentence)

"""Regions on tapes that are opened elsewhere, by callers or by another method."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.source.trees import arguments_of
from tapemigrate.tape.leaf import Leaf, Sources, assumed_of, taken_for_variables
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.syntax import VARIABLES_BY_NAME
from tapemigrate.tape.placing.between import Between
from tapemigrate.tape.placing.downstream import makers
from tapemigrate.tape.placing.entering import entering
from tapemigrate.tape.placing.handed import is_passed_in, is_read_outside, own_attribute
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.recipes import THREAD
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources.arguments import sources_of
from tapemigrate.tape.sources.sources import SourceReader

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


class Received:
    """Finds the regions of one scope on tapes that it receives."""

    def __init__(
        self,
        flow: Flow,
        blocks: Blocks,
        kinds: Kinds,
        reader: SourceReader,
        ops: Ops,
        between: Between,
    ) -> None:
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._reader = reader
        self._ops = ops
        self._between = between

    def given(self, request: Request, others: Sequence[Request], tape: str) -> Region | Refusal:
        """The region of ``request`` on ``tape``, which the callers of this function hand in."""
        sources = sources_of(request, self._reader, self._flow, self._kinds)
        if isinstance(sources, Refusal):
            return replace(sources, threads=True)
        if unfit := request.unfit_for_others():
            return Refusal(unfit, THREAD, threads=True)
        sources.leaves = [self._own_variables(self._as_variables(x)) for x in sources.leaves]
        for leaf in sources.leaves:
            own = own_attribute(leaf, self._kinds.self_name)
            if not own and not is_passed_in(leaf) and not is_read_outside(leaf):
                name = leaf.watch or "a source"
                return Refusal(
                    f"the target's forward pass runs in the callers, and `{name}` is not among "
                    "what they pass",
                    THREAD,
                    threads=True,
                    unwatched=True,
                )
        cut = frozenset(d for leaf in sources.leaves for d in leaf.defs)
        made = backward(self._flow.uses_in(request.target), cut).made - cut
        nodes = frozenset(d for d in made if d.stmt is not None)
        top = self._blocks.top
        call = self._blocks.index_in(request.stmt, top)
        assert call is not None
        lower = self._between.lower(request, nodes, others)
        region = Region(
            request, sources, top, call, call - 1, call, False, True, given=tape, lower=lower
        )
        region.roots = entering(region, nodes, self._flow, self._kinds, self._ops)
        region.begins = request.received
        if request.received:
            # What a source is taken out of has to be recorded, as nothing watches the source.
            region.roots |= {d for d in makers(request, self._flow) if d.kind in _OUTSIDE}
        region.assumptions = assumed_of(sources)
        return region

    def kept(self, request: Request, tape: str) -> Region:
        """The region of ``request`` on ``tape``, which another method keeps beside the target."""
        sources = sources_of(request, self._reader, self._flow, self._kinds)
        assert isinstance(sources, Sources)
        top = self._blocks.top
        call = self._blocks.index_in(request.stmt, top)
        assert call is not None
        region = Region(request, sources, top, call, call - 1, call, False, True, given=tape)
        region.assumptions = assumed_of(sources)
        return region

    def records(self, region: Region) -> bool:
        """Whether ops that run here lie between what was passed in and the target."""
        request = region.request
        made = backward(self._flow.uses_in(request.target)).made
        return (
            request.records
            or bool(region.lower)
            or not self._ops.is_only_read(request.target)
            or any(d.stmt is not None and self._ops.makes_ops(d) for d in made)
        )

    def joins(self, region: Region) -> bool:
        """Whether a path leads here from each source that was passed in to the target."""
        made = backward(self._flow.uses_in(region.request.target)).made
        passed = [x for x in region.sources.leaves if any(d.kind is Kind.PARAM for d in x.defs)]
        own = bool(passed) and all(made & leaf.defs for leaf in passed)
        return region.request.joins or (own and self.records(region))

    def _as_variables(self, leaf: Leaf) -> Leaf:
        """What a function gives that is called after variables: no tensor that is passed in."""
        made = [d for d in leaf.defs if d.kind not in (Kind.LOOP, Kind.COMPREHENSION)]
        if leaf.watch is None or not made or not all(self._gives_variables(d) for d in made):
            return leaf
        return replace(
            leaf,
            watch=None,
            variables=True,
            assumption=taken_for_variables(leaf.watch),
        )

    def _own_variables(self, leaf: Leaf) -> Leaf:
        """What is looked up in a list or dict that the object keeps, called after variables.

        ``self.weights[i]`` is no tensor that is passed in.
        """
        paths = {d.path for d in leaf.defs if d.kind is Kind.ENTRY}
        kept = len(paths) == 1 == len(leaf.defs) and leaf.looked_up and leaf.variables
        path = paths.pop() if kept else ()
        if leaf.watch is None or len(path) != 2 or path[0] != self._kinds.self_name:
            return leaf
        if not VARIABLES_BY_NAME.search(path[1]) and "bias" not in path[1]:
            return leaf
        return replace(leaf, watch=None, assumption=taken_for_variables(text_of(path)))

    def _gives_variables(self, made: Def) -> bool:
        if made.kind is not Kind.ASSIGN or not isinstance(made.value, ast.Call):
            return False
        path = path_of(made.value.func)
        args = arguments_of(made.value)
        return (
            path is not None
            and VARIABLES_BY_NAME.search(path[-1]) is not None
            and all(self._kinds.make(a) is Make.PYTHON for a in args)
        )

"""Neighbouring calls on one target that become one: ``u_t, u_x = tape.gradient(u, [t, x])``.

Nothing but other such calls may stand between them: ``u_x``, ``u_xx``, ``u_t``. What they give is
the same wherever they stand, once what they are asked about is there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tapemigrate.flow.paths import path_of
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.planner import REAL, Tape
from tapemigrate.tape.writing.surroundings import Surroundings


class Merging:
    """Finds such calls on the tapes of one scope."""

    def __init__(self, tapes: Sequence[Tape], around: Surroundings) -> None:
        self._tapes = tapes
        self._around = around
        self._plain = {
            g.request.stmt: g
            for tape in tapes
            if not tape.optional
            for g in tape.regions
            if _mergeable(g)
        }

    def runs(self) -> list[list[Region]]:
        """Runs of neighbouring ``name = tf.gradients(same target, …)[0]`` on one tape."""
        runs: list[list[Region]] = []
        for tape in self._tapes:
            ready = [] if tape.optional else [g for g in tape.regions if _mergeable(g)]
            ready.sort(key=lambda g: begin(g.request.stmt))
            run: list[Region] = []
            for region in ready:
                if run and self._follows(run, region):
                    run.append(region)
                    continue
                if len(run) > 1:
                    runs.append(run)
                run = [region]
            if len(run) > 1:
                runs.append(run)
        return runs

    def shrink(self, runs: Sequence[Sequence[Region]]) -> None:
        """Ends tapes before what stood last on them, where that was asked for further up."""
        moved = {g.request.stmt: run[0].request.stmt for run in runs for g in run[1:]}
        for tape in self._tapes:
            if tape.given or tape.empty or tape.end[1] != REAL:
                continue
            last = max((self._needed(tape, g, moved) for g in tape.regions), default=tape.last_real)
            if tape.block.body[tape.last_real] in moved and last < tape.last_real:
                tape.end = (max(last, tape.first_real), REAL)

    def _needed(self, tape: Tape, region: Region, moved: Mapping[ast.stmt, ast.stmt]) -> int:
        """The index of the last statement that has to be recorded for the region."""
        body, index = tape.block.body, tape.last_real
        if region.block is not tape.block:
            return index
        index_of = self._around.blocks.index_in
        rows = (index_of(moved.get(each, each), tape.block) for each in region.needed)
        floor = max([tape.first_real, *(row for row in rows if row is not None)])
        index = min(index, region.last)
        while index > floor and (body[index] in moved or body[index] in self._plain):
            index -= 1
        return index

    def _follows(self, run: list[Region], region: Region) -> bool:
        first, stmt = run[0].request.stmt, region.request.stmt
        blocks = self._around.blocks
        here, there = blocks.place(first), blocks.place(stmt)
        if here.block is not there.block or here.index >= there.index:
            return False
        rows = here.block.body[here.index : there.index + 1]
        ours = {first, stmt, *(g.request.stmt for g in run)}
        between = [each for each in rows if each not in ours]
        if not all(each in self._plain for each in between):
            return False
        if ast.dump(run[0].request.target) != ast.dump(region.request.target):
            return False
        if any(t.records(there) and not t.records(here) for t in self._tapes if not t.given):
            return False  # a tape opens between them
        bound = {assigned(g.request.stmt) for g in run}
        read = {n.id for n in walk(region.request.call) if isinstance(n, ast.Name)}
        if bound & read or assigned(stmt) in bound:
            return False
        for other in between:
            used = {n.id for n in walk(other) if isinstance(n, ast.Name)}
            if assigned(other) in read or assigned(stmt) in used:
                return False
        gaps = (self._between(*pair) for pair in pairwise(rows))
        after = self._around.lines.row(stmt.end_lineno or 0)
        end = self._around.lines.span(stmt).end_column
        if any(gap.strip() for gap in gaps) or after[end:].strip():
            return False
        cells = {self._around.cell(each.lineno) for each in rows}
        return not between or len(cells) == 1

    def _between(self, before: ast.stmt, after: ast.stmt) -> str:
        lines = self._around.lines
        start, end = lines.span(before), lines.span(after)
        first = lines.offset(start.end_row, start.end_column)
        return lines.text[first : lines.offset(end.row, end.column)]


def _mergeable(region: Region) -> bool:
    request = region.request
    stmt = request.stmt
    return (
        request.api == "gradients"
        and request.first
        and not request.gated
        and isinstance(stmt, ast.Assign)
        and stmt.value is request.node
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], ast.Name)
        and path_of(request.target) is not None
        and not region.hoist
        and request.output_gradients is None
        and request.unconnected is None
        and one_source(region) is not None
    )


def one_source(region: Region) -> ast.expr | None:
    """The only source of a call, if it is a plain name."""
    node = region.request.sources
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 1:
        node = node.elts[0]
    elif region.sources.single is not True:
        return None
    return node if path_of(node) is not None else None


def assigned(stmt: ast.stmt) -> str:
    """The only name that an assignment gives a value; empty for another statement."""
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""

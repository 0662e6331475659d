"""Neighbouring calls on one target that become one: ``u_t, u_x = tape.gradient(u, [t, x])``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.flow.paths import path_of
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.planner import Tape
from tapemigrate.tape.writing.surroundings import Surroundings


class Merging:
    """Finds such calls on the tapes of one scope."""

    def __init__(self, tapes: Sequence[Tape], around: Surroundings) -> None:
        self._tapes = tapes
        self._around = around

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

    def _follows(self, run: list[Region], region: Region) -> bool:
        last, stmt = run[-1].request.stmt, region.request.stmt
        blocks = self._around.blocks
        here, there = blocks.place(last), blocks.place(stmt)
        if here.block is not there.block or there.index != here.index + 1:
            return False
        if ast.dump(run[0].request.target) != ast.dump(region.request.target):
            return False
        if any(t.records(there) and not t.records(here) for t in self._tapes if not t.given):
            return False  # a tape opens between them
        bound = {assigned(g.request.stmt) for g in run}
        read = {n.id for n in walk(region.request.call) if isinstance(n, ast.Name)}
        if bound & read or assigned(stmt) in bound:
            return False
        between = self._between(last, stmt)
        after = self._around.lines.row(stmt.end_lineno or 0)
        end = self._around.lines.span(stmt).end_column
        return not between.strip() and not after[end:].strip()

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

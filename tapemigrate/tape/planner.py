"""From the regions of one scope to its tapes: one an order, nested, asked as seldom as can be."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tapemigrate.flow.blocks import Block, Blocks, Place
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.syntax import repetitions
from tapemigrate.tape.placing.graph_gradients import asking_graph, may_run_graph
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.recipes import STOP
from tapemigrate.tape.request import Refusal, Request

# The place of a statement among those that a rewrite puts before it.
REAL = 1 << 30
Slot = tuple[int, int]


@dataclass(eq=False, slots=True)
class Tape:
    """One tape: what it records (slots of ``block``), for which regions, and how it is asked.

    ``given``: it is a parameter of the function, ``optional`` where some callers hand in none.
    ``resumes``: it was opened somewhere else. ``late``: the graph may be asked for gradients first,
    ``run``: a session may run it first.
    """

    block: Block
    start: Slot
    end: Slot
    order: int
    regions: list[Region]
    persistent: bool = False
    name: str = "tape"
    given: bool = False
    optional: bool = False
    resumes: str = ""
    late: bool = False
    run: bool = False

    @property
    def kept(self) -> str:
        """The name under which it is kept for another method."""
        return next((g.request.parameter for g in self.regions if g.request.api == "kept"), "")

    @property
    def empty(self) -> bool:
        """Whether it records no statement that was there before."""
        return self.last_real < self.first_real

    @property
    def first_real(self) -> int:
        """The index of the first statement it records."""
        return self.start[0]

    @property
    def last_real(self) -> int:
        """The index of the last statement it records."""
        return self.end[0] if self.end[1] == REAL else self.end[0] - 1

    def records(self, place: Place) -> bool:
        """Whether the statement at ``place`` is among those that it records."""
        here = place.block is self.block
        return here and self.first_real <= place.index <= self.last_real

    def holds(self, other: Tape) -> bool:
        """Whether ``other``, in the same block, lies within."""
        return self.start <= other.start and other.end <= self.end


def life(tape: Tape, blocks: Blocks) -> tuple[Point, Point]:
    """The places between which its name is needed, from where it opens to where it is last asked.

    What a loop asks in every round is needed all through the loop.
    """
    body = tape.block.body
    start = begin(body[min(tape.start[0], len(body) - 1)])
    last = body[min(max(tape.last_real, tape.first_real), len(body) - 1)]
    stmts = [last, *(g.request.stmt for g in tape.regions)]
    stmts += [loop for s in stmts for loop in blocks.loops_around(s, tape.block)]
    if any(g.request.late or g.lasting for g in tape.regions):
        return start, (sys.maxsize, 0)
    return start, max(map(end, stmts))


@dataclass(slots=True)
class Layout:
    """The tapes of one scope, outermost first, and the calls that stay."""

    tapes: list[Tape] = field(default_factory=list)
    refused: dict[Request, Refusal] = field(default_factory=dict)
    hoisted: dict[tuple[int, int], list[Region]] = field(default_factory=dict)


def lay_out(
    found: dict[Request, Region | Refusal],
    blocks: Blocks,
    parents: dict[ast.AST, ast.AST],
) -> Layout:
    """One tape for each order and stretch of statements."""
    layout = Layout()
    regions = {r: f for r, f in found.items() if isinstance(f, Region)}
    layout.refused = {r: f for r, f in found.items() if isinstance(f, Refusal)}
    _refuse_stopped_orders(regions, layout, blocks)
    _refuse_dependents(regions, layout)
    orders = _orders(regions, layout)
    _number_hoists(regions, orders, layout)
    local = {r: g for r, g in regions.items() if not g.given}
    tapes = [
        Tape(g.block, *_slots(g, layout), orders[r], [g], resumes=g.resumes)
        for r, g in local.items()
    ]
    tapes = _merge(tapes)
    _nest(tapes)
    for name in dict.fromkeys(g.given for g in regions.values() if g.given):
        given = [g for g in regions.values() if g.given == name]
        end = (len(given[0].block.body) - 1, REAL)
        tapes.append(Tape(given[0].block, (0, -1), end, 0, given, name=name, given=True))
    moved = {request.call for request in regions}
    left = {
        block: [call for call in asking_graph(block.body) if call not in moved]
        for block in dict.fromkeys(t.block for t in tapes if not t.given)
    }
    running = {
        block: sorted(begin(call) for call in may_run_graph(block.body) if call not in moved)
        for block in left
    }
    for tape in tapes:
        tape.persistent = _asked_often(tape, blocks, parents)
        tape.late = _asked_after(tape, left.get(tape.block, ()))
        tape.run = _may_run_before(tape, running.get(tape.block, ()))
    tapes.sort(key=lambda t: (_place(t), -t.end[0], -t.end[1], -t.order))
    layout.tapes = tapes
    return layout


def _refuse_stopped_orders(regions: dict[Request, Region], layout: Layout, blocks: Blocks) -> None:
    """What a higher order holds constant, the order below may have to record."""
    for request, region in list(regions.items()):
        below = [regions[q] for q in region.lower if q in regions]
        for stop in region.stops:
            if stop.stmt is not None and any(_records(g, stop.stmt, blocks) for g in below):
                regions.pop(request, None)
                layout.refused[request] = Refusal(
                    "`stop_gradients` holds a tensor constant that counts in the gradient below",
                    STOP,
                )


def _records(region: Region, stmt: ast.stmt, blocks: Blocks) -> bool:
    index = blocks.index_in(stmt, region.block)
    return index is not None and region.first <= index <= region.last


def _refuse_dependents(regions: dict[Request, Region], layout: Layout) -> None:
    changed = True
    while changed:
        changed = False
        for request, region in list(regions.items()):
            staying = [q.call for q in region.lower if q not in regions]
            if not staying:
                continue
            bad = min(staying, key=begin)
            del regions[request]
            changed = True
            layout.refused[request] = Refusal(
                f"it differentiates the gradient of line {bad.lineno}, which stays as it is",
                "Migrate that gradient first; this call then runs on an outer tape round it.",
            )


def _orders(regions: dict[Request, Region], layout: Layout) -> dict[Request, int]:
    orders: dict[Request, int] = {}
    pending = dict(regions)
    while pending:
        ready = [[r] for r, g in pending.items() if all(q in orders for q in g.lower)]
        ready = ready or _asked_in_turn(pending)
        if not ready:
            for request in pending:
                del regions[request]
                layout.refused[request] = Refusal(
                    "its gradients depend on each other round a loop",
                    "Unroll the loop, or let one persistent tape record all of it; ask it inside.",
                )
            break
        for together in ready:
            below = {q for r in together for q in pending[r].lower}.difference(together)
            above = 1 + max((orders[q] for q in below), default=0)
            for request in together:
                orders[request] = 0 if pending.pop(request).given else above
    return orders


def _asked_in_turn(pending: dict[Request, Region]) -> list[list[Request]]:
    """Calls that one loop asks in turn, each for what the others gave the round before.

    A tape that records the whole loop has every path, those through the gradients as well.
    """
    found: list[list[Request]] = []
    circles = {r: _circle(r, pending) for r in pending}
    for first, circle in circles.items():
        together = [r for r in pending if r in circle]
        if first is together[0] and all(circles[r] == circle for r in together):
            regions = [pending[r] for r in together]
            if all(_is_recorded_with(regions[0], g) for g in regions):
                found.append(together)
    return found


def _is_recorded_with(first: Region, region: Region) -> bool:
    """Whether one tape records the statement that holds both calls, and is asked there for both."""
    there = region.block is first.block and region.call == first.call and region.inside
    elsewhere = region.given or region.resumes or region.lasting or region.request.late
    return there and not elsewhere and region.request.api == "gradients" and not region.stops


def _circle(request: Request, pending: dict[Request, Region]) -> set[Request]:
    """The request, and all that its target is made of, as far as they are ``pending``."""
    found = {request}
    queue = [request]
    while queue:
        more = {q for q in pending[queue.pop()].lower if q in pending} - found
        found |= more
        queue += more
    return found


def _number_hoists(
    regions: dict[Request, Region], orders: dict[Request, int], layout: Layout
) -> None:
    hoists = [g for g in regions.values() if g.hoist]
    hoists.sort(key=lambda g: (orders[g.request], begin(g.request.call)))
    for region in hoists:
        layout.hoisted.setdefault((id(region.block), region.call), []).append(region)


def _slots(region: Region, layout: Layout) -> tuple[Slot, Slot]:
    if not region.hoist:
        return (region.first, -1), (region.last, REAL)
    queue = layout.hoisted[id(region.block), region.call]
    place = queue.index(region)
    end = (region.call, place)
    if region.first < region.call:
        return (region.first, -1), end
    needed = [queue.index(g) for g in queue[:place] if g.request in region.lower]
    return (region.call, min(needed, default=place)), end


def _merge(tapes: list[Tape]) -> list[Tape]:
    """Tapes of one order whose statements overlap become one."""
    merged: list[Tape] = []
    alike: dict[tuple[object, ...], list[Tape]] = {}
    for tape in sorted(tapes, key=lambda t: (t.order, _place(t), t.end)):
        # What goes on cannot be entered again inside of itself, whatever it is asked for there.
        order = 0 if tape.resumes else tape.order
        others = alike.setdefault((id(tape.block), order, tape.kept, tape.resumes), [])
        for other in others:
            if (
                tape.start <= other.end
                and other.start <= tape.end
                and other.regions[0].stops == tape.regions[0].stops
                and not _opens_too_early(tape, other)
                and not _opens_too_early(other, tape)
            ):
                other.start = min(other.start, tape.start)
                other.end = max(other.end, tape.end)
                other.regions += tape.regions
                break
        else:
            merged.append(tape)
            others.append(tape)
    return merged if len(merged) == len(tapes) else _merge(merged)


def _opens_too_early(other: Tape, tape: Tape) -> bool:
    """Whether something of which ``tape`` watches a part is not there yet when ``other`` opens."""
    between = tape.block.body[other.start[0] : tape.start[0]]
    first = begin(between[0]) if between else (sys.maxsize, 0)
    parts = {
        re.split(r"\W", leaf.watch)[0]
        for region in tape.regions
        for leaf in region.sources.leaves
        if leaf.watch and not leaf.watch.isidentifier()
        # It is watched where it is made, if that is shown.
        if all(d.stmt is None or begin(d.stmt) < first for d in leaf.defs)
    }
    return any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in parts
        for stmt in (between if parts else ())
        for n in walk(stmt)
    )


def _nest(tapes: list[Tape]) -> None:
    """No two tapes of a block cross: recording more than is needed changes no gradient."""
    while _cross(tapes):
        for a in tapes:
            for b in tapes:
                if a is b or a.block is not b.block:
                    continue
                if a.start < b.start <= a.end < b.end:
                    if b.order > a.order and not _opens_too_early(a, b):
                        b.start = a.start
                    else:
                        a.end = b.end


def _cross(tapes: list[Tape]) -> bool:
    """Whether one of them ends while another one, begun after it in the same block, goes on."""
    ends: dict[int, list[Slot]] = {}
    for tape in sorted(sorted(tapes, key=lambda t: t.end, reverse=True), key=lambda t: t.start):
        around = ends.setdefault(id(tape.block), [])
        while around and around[-1] < tape.start:
            around.pop()
        if around and around[-1] < tape.end:
            return True
        around.append(tape.end)
    return False


def _asked_often(tape: Tape, blocks: Blocks, parents: dict[ast.AST, ast.AST]) -> bool:
    if len(tape.regions) > 1:
        return True
    request = tape.regions[0].request
    if request.often:
        return True
    if blocks.loops_around(request.stmt, tape.block):
        return True
    found = repetitions(request.call, request.stmt, parents)
    return any(not isinstance(n, ast.IfExp | ast.BoolOp) for n in found)


def _may_run_before(tape: Tape, calls: Sequence[Point]) -> bool:
    """Whether one of ``calls``, in order, stands behind what it records, and before it is asked."""
    body, last = tape.block.body, max(tape.last_real, 0)
    first = begin(body[last + 1]) if last + 1 < len(body) else end(body[-1])
    asked = max(begin(g.request.call) for g in tape.regions)
    place = bisect_left(calls, first)
    return place < len(calls) and calls[place] < asked


def _asked_after(tape: Tape, calls: Iterable[ast.Call]) -> bool:
    """Whether one of ``calls`` stands between what it records and where it is asked."""
    first = begin(tape.block.body[min(tape.first_real, len(tape.block.body) - 1)])
    asked = max(begin(g.request.call) for g in tape.regions)
    return any(first <= begin(call) < asked for call in calls)


def _place(tape: Tape) -> tuple[Point, int]:
    index = min(tape.start[0], len(tape.block.body) - 1)
    return begin(tape.block.body[index]), tape.start[1]


def nested(tapes: Sequence[Tape]) -> bool:
    """Whether one of the tapes records while another one does."""
    return any(
        a is not b
        and not a.given
        and a.block is b.block
        and a.holds(b)
        and (a.order, a.end) != (b.order, b.end)
        for a in tapes
        for b in tapes
    )

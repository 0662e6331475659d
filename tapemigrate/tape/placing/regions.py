"""Finds, for each gradient call of one scope, the statements that a tape has to record."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from itertools import permutations

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Sources, assumed_of, taken_for_variables
from tapemigrate.tape.names.beside import Beside
from tapemigrate.tape.names.second_names import Apart, SecondNames
from tapemigrate.tape.ops.deferred import Deferred
from tapemigrate.tape.ops.generators import is_kept_generator
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.operands import Operands
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.order import acts_before
from tapemigrate.tape.ops.symbols import gives_no_tensors
from tapemigrate.tape.ops.syntax import (
    ASKS_FOR_VARIABLES,
    base,
    fills_state,
    holds,
    is_elif,
    is_elif_test,
    repetitions,
    runs_ahead,
)
from tapemigrate.tape.placing.between import Between
from tapemigrate.tape.placing.entering import entering
from tapemigrate.tape.placing.numbers import number_among
from tapemigrate.tape.placing.outside import elsewhere, may_be_passed_in, together
from tapemigrate.tape.placing.putting_aside import PuttingAside
from tapemigrate.tape.placing.received import Received
from tapemigrate.tape.placing.region import Region, Slice
from tapemigrate.tape.placing.room import Room
from tapemigrate.tape.placing.rounds import making_anew, new_in_rounds
from tapemigrate.tape.recipes import SOURCE, THREAD
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources.arguments import sources_of, stopped_at
from tapemigrate.tape.sources.sources import SourceReader

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


class RegionFinder:
    """Finds the region of each request of one scope."""

    def __init__(
        self,
        flow: Flow,
        blocks: Blocks,
        kinds: Kinds,
        reader: SourceReader,
        parents: dict[ast.AST, ast.AST],
        apart: Apart,
        parts_apart: Callable[[Path, Path], bool],
        holds_variables: Callable[[Path], bool],
        deferred: Deferred,
        is_plain: Callable[[str], bool],
        gives_numbers: Callable[[ast.Call], bool],
        may_find: Callable[[ast.AST, Path], bool],
    ) -> None:
        """``parts_apart`` tells whether the first part of an object was made of nothing, and so
        was the second one, ``holds_variables`` whether what comes from outside holds nothing else.

        ``is_plain``: whether a name of the module is of an object that knows no tensors;
        ``gives_numbers``: whether a function of the user's gives nothing but such, or numbers;
        ``may_find``: whether code that runs for a value may come by a source that has a path.
        """
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._reader = reader
        self._parents = parents
        operands = Operands(kinds)
        self._ops = Ops(flow, kinds, operands, deferred, is_plain, gives_numbers)
        self._between = Between(flow, self._ops, holds_variables, may_find)
        self.received = Received(flow, blocks, kinds, reader, self._ops, self._between)
        self._names = SecondNames(flow, blocks, kinds, operands, self._ops, apart)
        self._beside = Beside(flow, kinds, self._ops, self._names, apart, parts_apart)
        self._room = Room(flow, blocks, kinds)
        self._aside = PuttingAside(flow, blocks, kinds, self._ops)
        self._nodes: dict[tuple[Request, frozenset[Path]], frozenset[Def]] = {}

    def find(
        self,
        request: Request,
        others: Sequence[Request],
        recorded: frozenset[Path] = frozenset(),
        early: bool = False,
        aside: bool = False,
        effects: Sequence[ast.stmt] = (),
    ) -> Region | Refusal:
        """The region of ``request``, or why a tape cannot be placed in this scope.

        ``recorded`` are attributes that the tape has recorded somewhere else.
        ``early``: what ran before in this scope may have put aside what the target is made of.
        ``aside``: so may have what was handed a source. ``effects``: these statements have.
        """
        part = self._slice(request, others, recorded)
        if isinstance(part, Refusal):
            return part
        earlier = self._with_what_was_put_aside(part, recorded, early, aside, effects)
        region = self._placed(part)
        if isinstance(region, Refusal):
            return region
        earliest = self._effect(region)
        if earliest is not None and earliest not in effects:
            return self.find(request, others, recorded, early, aside, [*effects, earliest])
        region.earlier = earlier
        region.again = self._is_put_in_rounds(region)
        region.lasting = is_kept_generator(request.call, request.stmt, self._parents)
        refusal = self._room.unfit(region)
        if refusal is not None:
            return refusal
        region.roots = entering(region, part.nodes, self._flow, self._kinds, self._ops)
        region.needed = frozenset(part.statements)
        renamed = self._renamed(region)
        if renamed is not None:
            name, made = renamed
            if set(made) <= set(effects):
                return Refusal(
                    f"`{name}` names another tensor by the time a tape could watch it", SOURCE
                )
            return self.find(request, others, recorded, early, aside, [*effects, *made])
        return self._with_assumptions(region, part.target)

    def _slice(
        self, request: Request, others: Sequence[Request], recorded: frozenset[Path]
    ) -> Slice | Refusal:
        """What the target is made of, from the sources on."""
        sources = self.sources(request)
        if isinstance(sources, Refusal):
            return sources
        if request.api == "threaded" and self._ops.computes_parts(request.sources):
            named = ast.unparse(request.sources).strip("[]")
            return Refusal(
                f"`{named}` is computed anew wherever it is read: a tape would watch another "
                "tensor than is passed",
                SOURCE,
            )
        if (number := number_among(request, self._flow, self._kinds)) is not None:
            return number
        if (inside := _named_within(request, sources)) is not None:
            return inside
        target = self._flow.uses_in(request.target)
        stops = stopped_at(request, self._reader, self._room, self._ops, self._flow, self._kinds)
        if isinstance(stops, Refusal):
            return stops
        if any(d.kind is Kind.EXCEPT for d in backward(target).made):
            return Refusal("the target is made of what an exception carries", SOURCE)
        rounds = making_anew(request, sources, self._flow, self._blocks, self._kinds)
        nodes, edges = self._between.definitions(
            target, sources.leaves, frozenset(stops), recorded, rounds
        )
        self._nodes[request, recorded] = nodes
        lower = self._between.lower(request, nodes, others)
        itself = self._is_source(request, target, sources)
        outside = self._made_outside(request, target, sources, recorded, itself)
        if outside is not None:
            return outside
        part = Slice(request, sources, target, stops, nodes, edges, lower, itself)
        self._choose_statements(part)
        if not (part.statements or part.inline):
            return self._elsewhere(request, target)
        if not (part.inline or recorded) and self._is_from_before(target, sources, nodes):
            return self._elsewhere(request, target)
        if not recorded and not self._between.connects(request, sources, stops, others):
            holder = self._between.holder_of_both(sources, target)
            if holder is not None:
                return replace(together(ast.unparse(holder)), unwatched=False)
            cut = {d for leaf in sources.leaves for d in leaf.defs}
            asked = {u.made for q in lower for u in self._flow.uses_in(q.sources)}
            return self._elsewhere(request, target, cut | asked)
        return part

    def _choose_statements(self, part: Slice) -> None:
        """Says which statements compute the target, and whether that of the call does."""
        request = part.request
        inline = part.itself or request.records or not self._ops.is_only_read(request.target)
        # Whoever is handed an iterator makes the elements that it is asked for.
        inline = inline or (request.api == "threaded" and self._ops.iterates(request.target))
        making = [d for d in part.nodes if self._ops.makes_ops(d)]
        statements = {d.stmt for d in making if d.stmt is not None} | set(request.beside)
        own = [d for d in making if d.stmt is request.stmt]
        # ``y = gradients(y, x)`` in a loop asks for what it gave the round before.
        part.again = any(holds(d, request.call) for d in own)
        part.ahead = any(runs_ahead(d, request.call) for d in part.nodes if d.stmt is request.stmt)
        beside = part.ahead or any(d.kind is Kind.COMPREHENSION for d in own)
        if not inline and not part.again and not beside:
            statements.discard(request.stmt)
        part.statements = self._after_sources(statements, part.sources)
        part.inline = inline or (not part.statements and self._is_apart(part.target, part.sources))

    def _with_what_was_put_aside(
        self,
        part: Slice,
        recorded: frozenset[Path],
        early: bool,
        aside: bool,
        effects: Sequence[ast.stmt],
    ) -> bool:
        """Adds what may have put aside a part of the target; whether some of it stays outside."""
        request, sources = part.request, part.sources
        if early:
            part.statements |= self._aside.before(request, part.run)
        reading = part.run
        put_aside = list(self._aside.of_sources(sources, reading))
        earlier = not aside and any(stmt not in part.statements for stmt in put_aside)
        by_reading = self._aside.by_reading(sources, reading)
        putting = [*(put_aside if aside else ()), *by_reading, *effects]
        if putting:
            read = frozenset(use for stmt in putting for use in self._aside.read_by(stmt))
            put, _ = self._between.definitions(
                read, sources.leaves, frozenset(part.stops), recorded
            )
            self._nodes[request, recorded] = part.nodes | put
            making = [d for d in put if self._ops.makes_ops(d)]
            part.statements |= {d.stmt for d in making if d.stmt is not None}
            part.statements |= set(putting)
        return earlier

    def _is_put_in_rounds(self, region: Region) -> bool:
        """Whether a round of a loop may put aside what the tape of the next one would not see."""
        around = self._blocks.loops_around(region.block.body[min(region.first, region.call)])
        anew = new_in_rounds(region.request, region.sources, self._flow, self._blocks, self._kinds)
        return self._aside.in_rounds(region.sources, frozenset(around) - anew)

    def _placed(self, part: Slice) -> Region | Refusal:
        """The rows of one block that hold it."""
        request = part.request
        needed = part.statements | {request.stmt}
        block, indices = self._blocks.common(needed)
        block, indices = self._lift(block, needed, indices, part.edges, part.nodes)
        if is_elif(block, self._parents):
            return Refusal("the target is computed in the test of an `elif`", SOURCE)
        call = indices[request.stmt]
        if not self._blocks.loops_around(request.stmt):
            # What stands further down has not run yet; only a captured name can point there.
            part.statements = {s for s in part.statements if indices[s] <= call}
        rows = [indices[s] for s in part.statements if not (part.inline and s is request.stmt)]
        first, last = min(rows, default=call), max(rows, default=call - 1)
        if first <= last:
            first, last = block.whole(first, last)
        if last > call:
            return Refusal(
                "the target is computed after the call, on an earlier round of a loop",
                SOURCE,
            )
        hoist = inside = False
        if part.inline:
            if (moved := self._out_of_order(request, part.sources)) is not None:
                return moved
            hoist = request.stmt is block.body[call] and self._hoistable(request) and last < call
            hoist = hoist and not part.ahead
            inside = not hoist
            last = call - 1 if hoist else call
            first = min(first, call)
        elif last == call:
            inside = True
        if part.again and not inside:
            return Refusal("it differentiates its own result round a loop", SOURCE)
        return Region(
            request,
            part.sources,
            block,
            first,
            last,
            call,
            hoist,
            inside,
            tuple(part.stops),
            part.itself,
            part.lower,
        )

    def _with_assumptions(self, region: Region, target: frozenset[Use]) -> Region | Refusal:
        """The region with what it is right under, where that is more than can be told."""
        request, sources, stops = region.request, region.sources, list(region.stops)
        twice = self._names.named_twice(region, target, stops)
        hidden = twice or self._beside.assumed(request, target, sources, stops)
        if isinstance(hidden, Refusal):
            return hidden
        region.assumptions += hidden
        perhaps = self._names.perhaps_named_twice(region, target, stops)
        if isinstance(perhaps, Refusal):
            return perhaps
        region.assumptions += [s for s in perhaps if s not in region.assumptions]
        region.assumptions += assumed_of(sources)
        region.assumptions += self._named_late(region)
        return region

    def _named_late(self, region: Region) -> list[str]:
        """What is assumed of parts of what has a name, ``net.w``, only after the forward pass.

        No tape could watch them in time.
        """
        late = [
            x.watch
            for x in region.sources.leaves
            if x.may_be_tensor and x.watch and x.defs and not x.assumption
            if all(self._is_below(d, region) for d in x.defs)
        ]
        return [s for s in map(taken_for_variables, late) if s not in region.assumptions]

    def _is_below(self, made: Def, region: Region) -> bool:
        """Whether the name is given further down than the rows of ``region``."""
        row = self._blocks.index_in(made.stmt, region.block) if made.stmt is not None else None
        return made.kind is Kind.ASSIGN and row is not None and row > region.last

    def _renamed(self, region: Region) -> tuple[str, list[ast.stmt]] | None:
        """Where a list holds what a name stood for, and the name another value by now.

        The name, and the statements that gave it both: a tape round them watches either in time.
        """
        read = self._flow.uses_in(region.request.sources)
        now = {u.made for u in read} | {*origins(read)}
        named: dict[str, dict[Def, ast.stmt]] = {}
        for leaf in region.sources.leaves:
            for d in leaf.defs if leaf.watch is not None else ():
                if d.kind is Kind.ASSIGN and d.stmt is not None:
                    if text_of(d.path) == leaf.watch and not self._is_in(d.stmt, region):
                        named.setdefault(leaf.watch, {})[d] = d.stmt
        for watch, ahead in named.items():
            for old, new in permutations(ahead, 2):
                if old not in now and self._replaces(new, old):
                    return watch, [*ahead.values()]
        return None

    def _is_in(self, stmt: ast.stmt, region: Region) -> bool:
        row = self._blocks.index_in(stmt, region.block)
        return row is not None and region.first <= row <= region.last

    def _replaces(self, new: Def, old: Def) -> bool:
        """Whether ``new`` may be given to the name after ``old``, rather than in its stead."""
        if new.stmt is None or old.stmt is None or new.stmt is old.stmt:
            return False
        if old in backward(frozenset(new.uses)).made:
            return True
        _, indices = self._blocks.common({new.stmt, old.stmt})
        return indices[old.stmt] < indices[new.stmt]

    def _made_outside(
        self,
        request: Request,
        target: frozenset[Use],
        sources: Sources,
        recorded: frozenset[Path],
        itself: bool,
    ) -> Refusal | None:
        """Where the target, or a part of it, was computed, if that was not in this scope."""
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        loops = frozenset(self._blocks.loops_around(request.stmt))
        if may_be_passed_in(request.target, self._flow, cut, loops):
            return Refusal(
                f"the target `{ast.unparse(request.target)}` may be the parameter's own value, "
                "whose forward pass ran in the caller",
                THREAD,
                threads=True,
            )
        below = self._flow.uses_in(base(request.target))
        unmade = not any(d.stmt or d in cut for d in origins(below))
        if below and below != target and unmade and not recorded:
            # Only the index is made here.
            return self._elsewhere(request, below)
        for part in () if recorded else request.alone:
            used = self._flow.uses_in(part)
            made = backward(used).made
            if used and not made & cut and not any(map(self._computes, made)):
                return self._elsewhere(replace(request, target=part), used)
        if itself and len(sources.leaves) > 1 and any(u.made.kind in _OUTSIDE for u in target):
            return self._elsewhere(request, target)
        return None

    def _elsewhere(
        self, request: Request, target: frozenset[Use], sources: Set[Def] = frozenset()
    ) -> Refusal:
        made_of_none = self._reader.is_made_of_none
        return elsewhere(request, target, self._flow, self._kinds, self._ops, made_of_none, sources)

    def _computes(self, made: Def) -> bool:
        """Whether it is no mere name of what came from outside."""
        return made.stmt is not None and (made.kind is Kind.MUTATE or self._ops.makes_ops(made))

    def _is_from_before(
        self, target: frozenset[Use], sources: Sources, nodes: frozenset[Def]
    ) -> bool:
        """Whether the target was there before, and something was merely asked for variables.

        A method that gives variables may change its object, but computes no loss for it.
        """
        changed = {d for d in nodes if d.kind is Kind.MUTATE}
        if not all(_asks_for_variables(d.stmt) for d in changed):
            return False
        if not all(u.made in changed or u.made.kind in _OUTSIDE for u in target):
            return False
        asked = {d for leaf in sources.leaves for d in leaf.defs if _asks_for_variables(d.stmt)}
        return bool(changed | asked)

    def _effect(self, region: Region) -> ast.stmt | None:
        """The first call before the region that is made for its effect, and was handed a source.

        It may put what it makes of it where a later call of such a module finds it.
        """
        body, first = region.block.body, region.first
        run = [*body[first : region.last + 1], region.request.target]
        cut = {d for leaf in region.sources.leaves for d in leaf.defs}
        nodes = [n for s in run for n in walk(s)]
        calls = [n for n in nodes if isinstance(n, ast.Call)]
        # What a module has is called, or read: ``CACHE[0]``.
        foreign = any(map(self._is_of_module, nodes))
        own = any(map(self._kinds.may_run, calls))
        if not foreign and not own:
            return None
        for stmt in body[:first]:
            value = stmt.value if isinstance(stmt, ast.Expr | ast.Assign) else None
            if not isinstance(value, ast.Call):
                continue
            alone = isinstance(stmt, ast.Expr) and self._is_of_module(value.func)
            if (foreign and alone) or (own and any(map(fills_state, self._kinds.may_run(value)))):
                if backward(self._flow.uses_in(value)).made & cut:
                    return stmt
        return None

    def _is_of_module(self, node: ast.AST) -> bool:
        """Whether it is a name of another module of the user's."""
        read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        name = self._kinds.name(node) if read and isinstance(node, ast.expr) else None
        return name is not None and not name.startswith("tensorflow") and not gives_no_tensors(name)

    def lower(
        self, request: Request, others: Sequence[Request], recorded: frozenset[Path] = frozenset()
    ) -> frozenset[Request] | None:
        """Of ``others``, those whose results the target is made of; None if not looked for yet."""
        nodes = self._nodes.get((request, recorded))
        return None if nodes is None else frozenset(self._between.lower(request, nodes, others))

    def sources(self, request: Request) -> Sources | Refusal:
        """What ``request`` is differentiated by."""
        return sources_of(request, self._reader, self._flow, self._kinds)

    def forget(self, request: Request) -> None:
        """Drops what was found out about a request."""
        for key in [k for k in self._nodes if k[0] is request]:
            del self._nodes[key]

    def second(self, request: Request, inner: Region) -> Region:
        """The region of a jacobian of the gradient whose region is ``inner``."""
        hoist = request.stmt is inner.block.body[inner.call] and self._hoistable(request)
        last = inner.call - 1 if hoist else inner.call
        return Region(
            request,
            inner.sources,
            inner.block,
            min(inner.first, inner.call),
            last,
            inner.call,
            hoist,
            not hoist,
            inner.stops,
            inner.itself,
            {inner.request},
            inner.roots,
            list(inner.assumptions),
        )

    def _after_sources(self, statements: set[ast.stmt], sources: Sources) -> set[ast.stmt]:
        """Without what had run when the sources were made: it cannot lie on a path from them."""
        made = [d for leaf in sources.leaves for d in leaf.defs]
        if not made or any(leaf.outside or leaf.found for leaf in sources.leaves):
            return statements
        if any(d.stmt is None or self._blocks.loops_around(d.stmt) for d in made):
            return statements
        first = min(begin(d.stmt) for d in made if d.stmt is not None)
        later = {s for s in statements if end(s) > first}
        return later or statements

    def _lift(
        self,
        block: Block,
        needed: set[ast.stmt],
        indices: dict[ast.stmt, int],
        edges: list[tuple[Def | None, Use]],
        nodes: frozenset[Def],
    ) -> tuple[Block, dict[ast.stmt, int]]:
        """Outwards, past every loop round which a value of the slice is carried."""
        carried = {loop for _, use in edges if use.made in nodes for loop in use.carried}
        while block.owner is not None:
            holding = set()
            for place in self._blocks.chain(block.owner):
                holding.add(place.block.body[place.index])
            if not holding & carried:
                break
            owner = self._blocks.place(block.owner)
            block = owner.block
            indices = {s: self._blocks.index_in(s, block) or 0 for s in needed}
        return block, indices

    def _is_apart(self, target: frozenset[Use], sources: Sources) -> bool:
        """Whether target and sources were all made here, and certainly apart from each other."""
        made = [*origins(target), *(d for leaf in sources.leaves for d in leaf.defs)]
        return all(
            d.kind is Kind.ASSIGN
            and d.value is not None
            and self._ops.make(d) in (Make.LEAF, Make.TENSOR)
            for d in made
        )

    def _is_source(self, request: Request, target: frozenset[Use], sources: Sources) -> bool:
        """Whether one tensor is asked for its gradient by itself."""
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        made = {u.made for u in target}
        path = path_of(request.target)
        return bool(made) and made <= cut and all(d.path == path for d in made)

    def _out_of_order(self, request: Request, sources: Sources) -> Refusal | None:
        """That a target which stands in the call cannot stay behind what runs ahead of it."""
        if not acts_before(request.stmt, request.target, self._kinds):
            return None
        rebound = any(d.stmt is request.stmt for leaf in sources.leaves for d in leaf.defs)
        if not rebound and not acts_before(request.call, request.target, self._kinds):
            return None  # the whole statement goes on the tape as it is
        return Refusal(
            f"`{ast.unparse(request.target)}` is computed behind other parts of its statement, "
            "which it would have to be moved past",
            "Compute the target in a statement of its own first.",
        )

    def _hoistable(self, request: Request) -> bool:
        """Whether the call runs exactly once, whenever its statement does, and may run ahead."""
        if request.api in ("threaded", "kept"):
            return False
        if request.ahead is not None:
            return True
        if not any(node is request.call for node in walk(request.stmt)):
            return False  # an inner function asks, of what it computes itself
        if repetitions(request.call, request.stmt, self._parents):
            return False
        if acts_before(request.stmt, request.target, self._kinds):
            return False
        return not isinstance(request.stmt, ast.While) and not is_elif_test(
            request.stmt, self._parents
        )


def _named_within(request: Request, sources: Sources) -> Refusal | None:
    """That a source gets its name, ``h := x * 3.0``, where no tape could watch it in time."""
    named = {path_of(n.target) for n in walk(request.target) if isinstance(n, ast.NamedExpr)}
    leaf = next((x for x in sources.leaves if any(d.path in named for d in x.defs)), None)
    if leaf is None:
        return None
    return Refusal(
        f"the source `{leaf.watch}` is computed inside the target",
        "Compute it in a statement of its own first.",
    )


def _asks_for_variables(stmt: ast.stmt | None) -> bool:
    value = stmt.value if isinstance(stmt, ast.Assign | ast.Expr) else None
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return path is not None and ASKS_FOR_VARIABLES.search(path[-1]) is not None

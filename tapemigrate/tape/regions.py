"""Finds, for each gradient call of one scope, the statements that a tape has to record."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.arguments import NONE_AMONG_SEEDS, may_hold_none, stopped_at
from tapemigrate.tape.beside import Apart, Beside
from tapemigrate.tape.handed import is_passed_in, is_read_outside, own_attribute
from tapemigrate.tape.kinds import Kinds, Make, gives_no_tensors
from tapemigrate.tape.leaf import Leaf, Sources, taken_for_variables
from tapemigrate.tape.operands import Operands
from tapemigrate.tape.ops import Ops
from tapemigrate.tape.outside import elsewhere, may_be_passed_in
from tapemigrate.tape.recipes import SOURCE, THREAD
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.room import Room
from tapemigrate.tape.sources import SourceReader
from tapemigrate.tape.syntax import (
    VARIABLES_BY_NAME,
    base,
    fills_state,
    holds,
    is_elif,
    is_elif_test,
    is_plain,
    prefix_of_longer,
    read_whole,
    repetitions,
)

_PLAIN = (Make.LEAF, Make.PYTHON, Make.VARIABLE, Make.FROZEN)
_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


class _Index:
    """The requests of one scope, by their calls and statements, and what they are asked by."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = requests
        self.calls: dict[ast.AST, Request] = {each.call: each for each in requests}
        self.sources: set[ast.AST] = {each.sources for each in requests}
        self.stated: dict[ast.stmt, list[Request]] = {}
        for each in requests:
            self.stated.setdefault(each.stmt, []).append(each)


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
        holds_variables: Callable[[Path], bool],
    ) -> None:
        """``holds_variables`` tells whether what comes from outside holds nothing else."""
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._reader = reader
        self._parents = parents
        self._holds_variables = holds_variables
        operands = Operands(kinds)
        self._ops = Ops(flow, kinds, operands)
        self._beside = Beside(flow, blocks, kinds, operands, self._ops, apart)
        self._room = Room(flow, blocks, kinds)
        self._nodes: dict[tuple[Request, frozenset[Path]], frozenset[Def]] = {}
        self._indexed: _Index | None = None

    def find(
        self,
        request: Request,
        others: Sequence[Request],
        recorded: frozenset[Path] = frozenset(),
        early: bool = False,
    ) -> Region | Refusal:
        """The region of ``request``, or why a tape cannot be placed in this scope.

        ``recorded`` are attributes that the tape has recorded somewhere else.
        ``early``: what ran before in this scope may have put aside what the target is made of.
        """
        sources = self.sources(request)
        if isinstance(sources, Refusal):
            return sources
        target = self._flow.uses_in(request.target)
        stops = stopped_at(request, self._reader, self._room, self._ops)
        if isinstance(stops, Refusal):
            return stops
        if any(d.kind is Kind.EXCEPT for d in backward(target).made):
            return Refusal("the target is made of what an exception carries", SOURCE)
        nodes, edges = self._between(target, sources.leaves, frozenset(stops), recorded)
        self._nodes[request, recorded] = nodes
        lower = self._lower(request, nodes, others)
        if may_be_passed_in(request.target, self._flow):
            return Refusal(
                f"the target `{ast.unparse(request.target)}` may be the parameter's own value, "
                "whose forward pass ran in the caller",
                THREAD,
                threads=True,
            )
        below = self._flow.uses_in(base(request.target))
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        unmade = not any(d.stmt or d in cut for d in origins(below))
        if below and below != target and unmade and not recorded:
            # Only the index is made here.
            return elsewhere(request, below, self._kinds)
        for part in () if recorded else request.alone:
            used = self._flow.uses_in(part)
            made = backward(used).made
            if used and not made & cut and not any(map(self._computes, made)):
                return elsewhere(replace(request, target=part), used, self._kinds)
        itself = self._is_source(request, target, sources)
        if itself and len(sources.leaves) > 1 and any(u.made.kind in _OUTSIDE for u in target):
            return elsewhere(request, target, self._kinds)
        inline = itself or request.records or not self._is_plain(request.target)
        statements = {d.stmt for d in nodes if d.stmt is not None and self._ops.makes_ops(d)}
        statements |= set(request.beside)
        own = [d for d in nodes if d.stmt is request.stmt and self._ops.makes_ops(d)]
        # ``y = gradients(y, x)`` in a loop asks for what it gave the round before.
        again = any(holds(d, request.call) for d in own)
        beside = any(d.kind is Kind.COMPREHENSION for d in own)
        if not inline and not again and not beside:
            statements.discard(request.stmt)
        statements = self._after_sources(statements, sources)
        if not statements and self._is_apart(target, sources):
            inline = True
        if not (statements or inline):
            return elsewhere(request, target, self._kinds)
        if not recorded and not self._connected(request, sources, stops, others):
            asked = {u.made for q in lower for u in self._flow.uses_in(q.sources)}
            return elsewhere(request, target, self._kinds, cut | asked)
        if early:
            statements |= self._before(
                request, statements | {request.stmt} if inline else statements
            )
        needed = statements | {request.stmt}
        block, indices = self._blocks.common(needed)
        block, indices = self._lift(block, needed, indices, edges, nodes)
        if is_elif(block, self._parents):
            return Refusal("the target is computed in the test of an `elif`", SOURCE)
        call = indices[request.stmt]
        if not self._blocks.loops_around(request.stmt):
            # What stands further down has not run yet; only a captured name can point there.
            statements = {s for s in statements if indices[s] <= call}
        rows = [indices[s] for s in statements]
        last = max(rows, default=call - 1)
        first = min(rows, default=call)
        if inline and request.stmt in statements:
            others_rows = [indices[s] for s in statements if s is not request.stmt]
            first, last = min(others_rows, default=call), max(others_rows, default=call - 1)
        if last > call:
            return Refusal(
                "the target is computed after the call, on an earlier round of a loop",
                SOURCE,
            )
        hoist = inside = False
        if inline:
            hoist = request.stmt is block.body[call] and self._hoistable(request) and last < call
            inside = not hoist
            last = call - 1 if hoist else call
            first = min(first, call)
        elif last == call:
            inside = True
        if again and not inside:
            return Refusal("it differentiates its own result round a loop", SOURCE)
        first = self._from_effects(request, block, first, last, sources)
        region = Region(
            request, sources, block, first, last, call, hoist, inside, tuple(stops), itself, lower
        )
        refusal = self._room.unfit(region)
        if refusal is not None:
            return refusal
        region.roots = self._entering(region, nodes)
        region.needed = frozenset(statements)
        twice = self._beside.named_twice(region, target, stops)
        hidden = twice or self._beside.assumed(request, target, sources, stops)
        if isinstance(hidden, Refusal):
            return hidden
        region.assumptions += hidden
        perhaps = self._beside.perhaps_named_twice(region, target, stops)
        region.assumptions += [s for s in perhaps if s not in region.assumptions]
        region.assumptions += _of_leaves(sources)
        return region

    def _is_plain(self, target: ast.expr) -> bool:
        """Whether reading it runs no op: it may be one of a list, as ``tf.gradients`` gives."""
        if is_plain(target) or not isinstance(target, ast.Subscript):
            return is_plain(target)
        owner = path_of(target.value)
        made = origins(self._flow.uses_in(target))
        return (
            is_plain(target.value)
            and isinstance(target.slice, ast.Constant)
            and bool(made)
            and all(d.path == owner and d.kind is Kind.ASSIGN and self._is_list(d) for d in made)
        )

    def _is_list(self, made: Def) -> bool:
        value = made.value
        if isinstance(value, ast.Call):
            return self._kinds.tensorflow(value.func) == "gradients"
        return isinstance(value, ast.List | ast.Tuple)

    def _computes(self, made: Def) -> bool:
        """Whether it is no mere name of what came from outside."""
        return made.stmt is not None and (made.kind is Kind.MUTATE or self._ops.makes_ops(made))

    def _from_effects(
        self, request: Request, block: Block, first: int, last: int, sources: Sources
    ) -> int:
        """Where calls begin that are made for their effect alone, and were handed a source.

        They may put what they make of it where a later call of such a module finds it.
        """
        run = [*block.body[first : last + 1], request.target]
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        nodes = [n for s in run for n in walk(s)]
        calls = [n for n in nodes if isinstance(n, ast.Call)]
        # What a module has is called, or read: ``CACHE[0]``.
        foreign = any(map(self._is_of_module, nodes))
        own = any(self._kinds.called(c) is not None for c in calls)
        if not foreign and not own:
            return first
        for index, stmt in enumerate(block.body[:first]):
            value = stmt.value if isinstance(stmt, ast.Expr | ast.Assign) else None
            if not isinstance(value, ast.Call):
                continue
            alone = isinstance(stmt, ast.Expr) and self._is_of_module(value.func)
            if (foreign and alone) or (own and fills_state(self._kinds.called(value))):
                if backward(self._flow.uses_in(value)).made & cut:
                    return index
        return first

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
        return None if nodes is None else frozenset(self._lower(request, nodes, others))

    def forget(self, request: Request) -> None:
        """Drops what was found out about a request."""
        for key in [k for k in self._nodes if k[0] is request]:
            del self._nodes[key]

    def sources(self, request: Request) -> Sources | Refusal:
        """What ``request`` is differentiated by."""
        if request.known is not None:
            return request.known
        sources = self._reader.read(request.sources)
        if request.variables:
            sources.leaves.append(Leaf(frozenset(), None, True, True, variables=True))
        if sources.refusal or not sources.leaves:
            return Refusal(sources.refusal or "the call has no source", SOURCE)
        if may_hold_none(request, self._flow, self._kinds):
            return NONE_AMONG_SEEDS
        return sources

    def given(self, request: Request, others: Sequence[Request], tape: str) -> Region | Refusal:
        """The region of ``request`` on ``tape``, which the callers of this function hand in."""
        sources = self.sources(request)
        if isinstance(sources, Refusal):
            return replace(sources, threads=True)
        if request.stop is not None or request.api not in ("gradients", "threaded"):
            return Refusal(
                "its forward pass runs in the callers, and a tape of theirs does not serve for it",
                THREAD,
                threads=True,
            )
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
                )
        cut = frozenset(d for leaf in sources.leaves for d in leaf.defs)
        made = backward(self._flow.uses_in(request.target), cut).made - cut
        nodes = frozenset(d for d in made if d.stmt is not None)
        top = self._blocks.top
        call = self._blocks.index_in(request.stmt, top)
        assert call is not None
        lower = self._lower(request, nodes, others)
        region = Region(
            request, sources, top, call, call - 1, call, False, True, given=tape, lower=lower
        )
        region.roots = self._entering(region, nodes)
        region.assumptions = _of_leaves(sources)
        return region

    def _before(self, request: Request, statements: set[ast.stmt]) -> set[ast.stmt]:
        """What may have put something aside before ``statements`` ask for it, in the same loops."""
        loops = set(self._blocks.loops_around(request.stmt))
        last = max(s.lineno for s in statements)
        made = {d.stmt for d in self._flow.defs.values() if d.path == HIDDEN}
        return {
            s
            for s in made
            if s is not None and s.lineno < last and loops <= set(self._blocks.loops_around(s))
        }

    def kept(self, request: Request, tape: str) -> Region:
        """The region of ``request`` on ``tape``, which another method keeps beside the target."""
        sources = self.sources(request)
        assert isinstance(sources, Sources)
        top = self._blocks.top
        call = self._blocks.index_in(request.stmt, top)
        assert call is not None
        region = Region(request, sources, top, call, call - 1, call, False, True, given=tape)
        region.assumptions = _of_leaves(sources)
        return region

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
        args = [*made.value.args, *(k.value for k in made.value.keywords)]
        return (
            path is not None
            and VARIABLES_BY_NAME.search(path[-1]) is not None
            and all(self._kinds.make(a) is Make.PYTHON for a in args)
        )

    def records(self, region: Region) -> bool:
        """Whether ops that run here lie between what was passed in and the target."""
        request = region.request
        made = backward(self._flow.uses_in(request.target)).made
        return (
            request.records
            or bool(region.lower)
            or not self._is_plain(request.target)
            or any(d.stmt is not None and self._ops.makes_ops(d) for d in made)
        )

    def joins(self, region: Region) -> bool:
        """Whether a path leads here from each source that was passed in to the target."""
        made = backward(self._flow.uses_in(region.request.target)).made
        passed = [x for x in region.sources.leaves if any(d.kind is Kind.PARAM for d in x.defs)]
        own = bool(passed) and all(made & leaf.defs for leaf in passed)
        return region.request.joins or (own and self.records(region))

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
        first = min(d.stmt.lineno for d in made if d.stmt is not None)
        later = {s for s in statements if (s.end_lineno or s.lineno) >= first}
        return later or statements

    # -- slices ---------------------------------------------------------------------------------

    def _between(
        self,
        target: frozenset[Use],
        leaves: list[Leaf],
        stops: frozenset[Def],
        recorded: frozenset[Path],
    ) -> tuple[frozenset[Def], list[tuple[Def | None, Use]]]:
        """The definitions on the paths from the leaves to the target, and the edges among them."""
        nodes: set[Def] = set()
        edges: list[tuple[Def | None, Use]] = []
        for leaf in leaves:
            beside = self._made_beside(leaf)
            sliced = self._ops.cut(target, leaf.defs | beside, stops)
            found = sliced.leading_to(leaf.defs.__contains__)
            if self._has_hidden_paths(leaf, found):
                found |= sliced.leading_to(self._ops.may_hide_a_source)
            if recorded:
                found |= sliced.leading_to(lambda d: d.path[:2] in recorded or d.path in recorded)
            kept = found - leaf.defs - stops
            if leaf.lent is not None:
                found = kept = sliced.leading_to((leaf.defs | beside).__contains__) - stops
            nodes |= kept
            edges += [
                e for e in sliced.edges if e[1].made in found and (e[0] is None or e[0] in kept)
            ]
        return frozenset(nodes), edges

    def _made_beside(self, leaf: Leaf) -> frozenset[Def]:
        """What the call that watches the source makes beside it, or puts where others find it."""
        stmts = {d.stmt for d in leaf.defs} if leaf.lent is not None else set()
        return frozenset(d for d in self._flow.defs.values() if stmts and d.stmt in stmts)

    def _has_hidden_paths(self, leaf: Leaf, seen: frozenset[Def]) -> bool:
        """Whether a path that is not ``seen`` may lead from the source to the target.

        What is made here can only be watched from then on, whatever led from it before.
        """
        if not seen:
            return True
        passed = any(d.kind in _OUTSIDE for d in leaf.defs)
        elsewhere = (leaf.outside and leaf.variables) or leaf.found
        return (leaf.outside and passed) or (elsewhere and not leaf.fresh)

    def _connected(
        self, request: Request, sources: Sources, stops: list[Def], others: Sequence[Request]
    ) -> bool:
        """Whether a path from a source to the target is seen, or may run in a call made here."""
        if request.joins:
            return True
        requests = others if request.call in self._index(others).calls else [*others, request]
        target = self._uses_beside(request.target, self._index(requests).sources)
        for leaf in sources.leaves:
            if not leaf.outside:
                return True
            sliced = self._ops.cut(target, leaf.defs, frozenset(stops))
            edges = [e for e in sliced.edges if not self._only_asks(*e, requests)]
            joined = replace(sliced, edges=tuple(edges)).leading_to(leaf.defs.__contains__)
            if any(use.made in joined for use in target):
                return True
            if leaf.variables or not any(d.kind in _OUTSIDE for d in leaf.defs):
                if any(self._ops.runs_unseen(d) for d in sliced.made):
                    return True
                if leaf.variables and any(map(self._is_own_variable, sliced.made)):
                    return True
                if self._ops.calls_unseen(request.target):
                    return True
        return False

    def _is_own_variable(self, made: Def) -> bool:
        """Whether it is a variable of the class or the module: ``self.w``, ``weights["w"]``."""
        return made.kind is Kind.ENTRY and self._holds_variables(made.path)

    def _only_asks(self, made: Def | None, use: Use, requests: Sequence[Request]) -> bool:
        """Whether a definition reads something only to differentiate by it.

        Such a gradient depends on its source where its target does.
        """
        if made is None:
            return False
        if made.stmt is None:
            return False
        stated = self._index(requests).stated.get(made.stmt, ())
        own = [r for r in stated if holds(made, r.call)]
        root = made.value if made.value is not None else made.stmt
        if not own or root is None or use not in self._flow.uses_in(root):
            return False
        return use not in self._uses_beside(root, {r.sources for r in own})

    def _uses_beside(self, root: ast.AST, sources: Set[ast.AST]) -> frozenset[Use]:
        """What an expression reads, but for the sources of gradients in it."""
        found: set[Use] = set()
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in sources:
                found |= self._flow.reads.get(node, frozenset())
                stack += children(node)
        return frozenset(found)

    def _lower(
        self, request: Request, nodes: frozenset[Def], others: Sequence[Request]
    ) -> set[Request]:
        """The requests whose results the target is made of."""
        index = self._index(others)
        roots = [request.target]
        if request.output_gradients is not None:
            roots.append(request.output_gradients)
        found = {index.calls[n] for r in roots for n in walk(r) if n in index.calls}
        for made in nodes:
            if made.stmt is None or made.stmt is request.stmt:
                continue
            found |= {o for o in index.stated.get(made.stmt, ()) if holds(made, o.call)}
        return found - {request}

    def _index(self, requests: Sequence[Request]) -> _Index:
        """Made once for all requests of a scope, which are asked for one after the other."""
        if self._indexed is None or self._indexed.requests is not requests:
            self._indexed = _Index(requests)
        return self._indexed

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

    # -- how the call stands --------------------------------------------------------------------

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

    def _hoistable(self, request: Request) -> bool:
        """Whether the call runs exactly once, whenever its statement does."""
        if request.api in ("threaded", "kept"):
            return False
        if request.ahead is not None:
            return True
        if not any(node is request.call for node in walk(request.stmt)):
            return False  # an inner function asks, of what it computes itself
        if repetitions(request.call, request.stmt, self._parents):
            return False
        return not isinstance(request.stmt, ast.While) and not is_elif_test(
            request.stmt, self._parents
        )

    # -- what enters ----------------------------------------------------------------------------

    def _entering(self, region: Region, nodes: frozenset[Def]) -> frozenset[Def]:
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
            for node in self._ops.value_paths(expr):
                reads |= self._flow.reads.get(node, frozenset())
            lambdas = (n for n in walk(expr) if isinstance(n, ast.Lambda))
            functions = functions.union(*(self._flow.reads.get(n, ()) for n in lambdas))
        # What a function reads of the scope where it runs, which is not where it was made.
        functions |= {Use(d) for d in nodes if d.kind is Kind.FUNCTION}
        reads = reads.union(*(use.made.uses for use in functions))
        barren = {d for d in backward(reads).made if self._ops.is_barren(d) and d not in cut}
        found = backward(reads, frozenset(cut | barren | nodes)).made
        whole = read_whole(reads, found, cut) - {
            d for d in found if d.path == (self._kinds.self_name,)
        }
        return frozenset(
            d
            for d in found
            if d.kind in _OUTSIDE
            and d not in cut
            and d.path[0] != "<hidden state>"
            and (d in whole or not prefix_of_longer(d, found))
            and not any(d.path[: len(c.path)] == c.path for c in cut)
        )


def _of_leaves(sources: Sources) -> list[str]:
    """What is assumed of the sources, each once."""
    return list(dict.fromkeys(x.assumption for x in sources.leaves if x.assumption))

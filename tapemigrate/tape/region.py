"""Which statements a tape has to record for one gradient call."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.defuse import Def, Flow, Kind, Use
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import Backward, backward, origins
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.aliases import Aliases
from tapemigrate.tape.kinds import Kinds, Make, gives_no_tensors
from tapemigrate.tape.operands import Operands, values_in
from tapemigrate.tape.recipes import SOURCE, STOP, THREAD
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources import Leaf, SourceReader, Sources
from tapemigrate.tape.syntax import (
    STATIC,
    VARIABLES_BY_NAME,
    base,
    binds,
    container_of,
    fills_state,
    gives_data,
    has_computed_defaults,
    holds,
    holds_one_of,
    is_display,
    is_elif,
    is_elif_test,
    is_named_after_variables,
    is_plain,
    is_walrus,
    makes_one,
    may_give_back,
    only_iterates,
    own_nodes,
    prefix_of_longer,
    repetitions,
)

#: Whether the second of two values that one call gave was certainly not made from the first.
Apart = Callable[[Def, Def], "bool | None"]

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_USED = "`{}` comes out of a call that may have used it already, where nothing could watch it"
_SETTINGS = frozenset({"FLAGS", "args", "config", "hps", "hparams", "opts", "options"})
_VALUES = (Kind.ASSIGN, Kind.ELEMENT, Kind.AUGMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.MUTATE)
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)
_NO_OPS = (Kind.CLASS, Kind.IMPORT, Kind.PARAM, Kind.ENTRY)


@dataclass(eq=False, slots=True)
class Region:
    """Statements ``first`` to ``last`` of ``block`` (none if last < first), and the call's place.

    ``hoist``: the target is written inside the call and becomes a statement of its own before it.
    ``inside``: the call itself runs while the tape records. ``roots`` are the definitions from
    outside the scope whose values enter the region. ``itself``: the target is the source.
    ``given``: the name of a tape that is handed in, and has recorded what the scope was given.
    ``resumes``: the name of one that goes on recording here. ``needed`` are the statements that
    lie on a path from a source to the target.
    """

    request: Request
    sources: Sources
    block: Block
    first: int
    last: int
    call: int
    hoist: bool
    inside: bool
    stops: tuple[Def, ...] = ()
    itself: bool = False
    lower: set[Request] = field(default_factory=set)
    roots: frozenset[Def] = frozenset()
    assumptions: list[str] = field(default_factory=list)
    given: str = ""
    resumes: str = ""
    needed: frozenset[ast.stmt] = frozenset()


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
    ) -> None:
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._reader = reader
        self._parents = parents
        self._apart = apart
        self._operands = Operands(kinds)
        self._aliases = Aliases(flow, kinds, self._operands)
        self._makes: dict[Def, Make] = {}
        self._opaque: dict[Def, bool] = {}
        self._nodes: dict[tuple[Request, str], frozenset[Def]] = {}

    def find(
        self, request: Request, others: Sequence[Request], recorded: str = ""
    ) -> Region | Refusal:
        """The region of ``request``, or why a tape cannot be placed in this scope.

        ``recorded`` is an attribute of ``self`` that the tape has recorded somewhere else.
        """
        sources = self.sources(request)
        if isinstance(sources, Refusal):
            return sources
        target = self._flow.uses_in(request.target)
        stops = self._stops(request)
        if isinstance(stops, Refusal):
            return stops
        recorded_path = (self._kinds.self_name or "", f".{recorded}") if recorded else None
        nodes, edges = self._between(target, sources.leaves, frozenset(stops), recorded_path)
        self._nodes[request, recorded] = nodes
        lower = self._lower(request, nodes, others)
        if self._may_be_passed_in(request.target):
            return Refusal(
                f"the target `{ast.unparse(request.target)}` may be the parameter's own value, "
                "whose forward pass ran in the caller",
                THREAD,
                threads=True,
            )
        below = self._flow.uses_in(base(request.target))
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        if below and below != target and not any(d.stmt or d in cut for d in origins(below)):
            # Only the index is made here.
            return self._elsewhere(request, below)
        itself = self._is_source(request, target, sources)
        if itself and len(sources.leaves) > 1 and any(u.made.kind in _OUTSIDE for u in target):
            return self._elsewhere(request, target)
        inline = itself or request.records or not is_plain(request.target)
        statements = {d.stmt for d in nodes if d.stmt is not None and self._makes_ops(d)}
        own = [d for d in nodes if d.stmt is request.stmt and self._makes_ops(d)]
        # ``y = gradients(y, x)`` in a loop asks for what it gave the round before.
        again = any(holds(d, request.call) for d in own)
        beside = any(d.kind is Kind.COMPREHENSION for d in own)
        if not inline and not again and not beside:
            statements.discard(request.stmt)
        statements = self._after_sources(statements, sources)
        if not statements and self._is_apart(target, sources):
            inline = True
        if not (statements or inline):
            return self._elsewhere(request, target)
        if not recorded and not self._connected(request, sources, stops, others):
            return self._elsewhere(request, target)
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
        refusal = self._unfit(region)
        if refusal is not None:
            return refusal
        region.roots = self._entering(region, nodes, statements)
        region.needed = frozenset(statements)
        twice = self._named_twice(region, target, stops)
        hidden = twice or self._made_beside(request, target, sources, stops)
        if isinstance(hidden, Refusal):
            return hidden
        region.assumptions += hidden
        region.assumptions += _of_leaves(sources)
        return region

    def _from_effects(
        self, request: Request, block: Block, first: int, last: int, sources: Sources
    ) -> int:
        """Where calls begin that are made for their effect alone, and were handed a source.

        They may put what they make of it where a later call of such a module finds it.
        """
        run = [*block.body[first : last + 1], request.target]
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        calls = [n for s in run for n in walk(s) if isinstance(n, ast.Call)]
        foreign = any(map(self._is_of_module, calls))
        own = any(self._kinds.called(c) is not None for c in calls)
        if not foreign and not own:
            return first
        for index, stmt in enumerate(block.body[:first]):
            value = stmt.value if isinstance(stmt, ast.Expr | ast.Assign) else None
            if (foreign and isinstance(stmt, ast.Expr) and self._is_of_module(stmt.value)) or (
                own and isinstance(value, ast.Call) and fills_state(self._kinds.called(value))
            ):
                assert value is not None
                if backward(self._flow.uses_in(value)).made & cut:
                    return index
        return first

    def _is_of_module(self, node: ast.AST) -> bool:
        """Whether a function of another module of the user's is called."""
        name = self._kinds.name(node.func) if isinstance(node, ast.Call) else None
        return name is not None and not name.startswith("tensorflow") and not gives_no_tensors(name)

    def lower(
        self, request: Request, others: Sequence[Request], recorded: str = ""
    ) -> frozenset[Request] | None:
        """Of ``others``, those whose results the target is made of; None if not looked for yet."""
        nodes = self._nodes.get((request, recorded))
        return None if nodes is None else frozenset(self._lower(request, nodes, others))

    def sources(self, request: Request) -> Sources | Refusal:
        """What ``request`` is differentiated by."""
        if request.known is not None:
            return request.known
        sources = self._reader.read(request.sources)
        if request.variables:
            sources.leaves.append(Leaf(frozenset(), None, True, True, variables=True))
        if sources.refusal or not sources.leaves:
            return Refusal(sources.refusal or "the call has no source", SOURCE)
        if self._may_hold_none(request):
            return Refusal(
                "`grad_ys` may hold a None, which a tape does not take in `output_gradients`",
                "Put `tf.ones_like(target)` where `grad_ys` has None.",
            )
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
        sources.leaves = [self._as_variables(leaf) for leaf in sources.leaves]
        for leaf in sources.leaves:
            if not _is_passed_in(leaf):
                name = leaf.watch or "a source"
                return Refusal(
                    f"the target's forward pass runs in the callers, and `{name}` is not among "
                    "what they pass",
                    THREAD,
                    threads=True,
                )
        nodes = frozenset(
            d for d in backward(self._flow.uses_in(request.target)).made if d.stmt is not None
        )
        top = self._blocks.top
        call = self._blocks.index_in(request.stmt, top)
        assert call is not None
        lower = self._lower(request, nodes, others)
        region = Region(
            request, sources, top, call, call - 1, call, False, True, given=tape, lower=lower
        )
        region.roots = self._entering(region, nodes, set())
        region.assumptions = _of_leaves(sources)
        return region

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
            assumption=f"`{leaf.watch}` holds trainable variables",
        )

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
            or not is_plain(request.target)
            or any(d.stmt is not None and self._makes_ops(d) for d in made)
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
        recorded: Path | None,
    ) -> tuple[frozenset[Def], list[tuple[Def | None, Use]]]:
        """The definitions on the paths from the leaves to the target, and the edges among them."""
        nodes: set[Def] = set()
        edges: list[tuple[Def | None, Use]] = []
        for leaf in leaves:
            sliced = self._cut(target, leaf.defs, stops)
            found = sliced.leading_to(leaf.defs.__contains__)
            if self._has_hidden_paths(leaf, found):
                found |= sliced.leading_to(self._may_hide_a_source)
            if recorded is not None:
                found |= sliced.leading_to(lambda d: d.path == recorded)
            kept = found - leaf.defs - stops
            nodes |= kept
            edges += [
                e for e in sliced.edges if e[1].made in found and (e[0] is None or e[0] in kept)
            ]
        return frozenset(nodes), edges

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
        requests = [*others, request]
        target = self._uses_beside_sources(request.target, requests)
        for leaf in sources.leaves:
            if not leaf.outside:
                return True
            sliced = self._cut(target, leaf.defs, frozenset(stops))
            edges = [e for e in sliced.edges if not self._only_asks(*e, requests)]
            joined = replace(sliced, edges=tuple(edges)).leading_to(leaf.defs.__contains__)
            if any(use.made in joined for use in target):
                return True
            if leaf.variables or not any(d.kind in _OUTSIDE for d in leaf.defs):
                if any(self._runs_unseen(d) for d in sliced.made):
                    return True
                if self._calls_unseen(request.target):
                    return True
        return False

    def _only_asks(self, made: Def | None, use: Use, requests: Sequence[Request]) -> bool:
        """Whether a definition reads something only to differentiate by it.

        Such a gradient depends on its source where its target does.
        """
        if made is None:
            return False
        own = [r for r in requests if r.stmt is made.stmt and holds(made, r.call)]
        root = made.value if made.value is not None else made.stmt
        if not own or root is None or use not in self._flow.uses_in(root):
            return False
        return use not in self._uses_beside_sources(root, own)

    def _uses_beside_sources(self, root: ast.AST, requests: Sequence[Request]) -> frozenset[Use]:
        """What an expression reads, but for the sources of gradients in it."""
        sources = {r.sources for r in requests}
        found: set[Use] = set()
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in sources:
                found |= self._flow.reads.get(node, frozenset())
                stack += children(node)
        return frozenset(found)

    def _made_beside(
        self, request: Request, target: frozenset[Use], sources: Sources, stops: list[Def]
    ) -> list[str] | Refusal:
        """What is assumed of sources out of calls, with no path to the target in sight."""
        found: list[str] = []
        for leaf in sources.leaves:
            holder = self._looked_up_beside(request, target, leaf, stops)
            if holder is not None and (len(holder) > 1 or not self._is_counted(request, leaf)):
                return _together(text_of(holder))
            if holder is not None:
                part = leaf.watch or "the source"
                found.append(f"no other part of `{holder[0]}` was computed from `{part}`")
            me = self._kinds.self_name
            if me is not None and (leaf.watch or "").startswith(f"{me}."):
                if (me,) in self._read_for(request, target, stops):
                    return _together(me)
            made = [d for d in leaf.defs if d.kind not in _OUTSIDE]
            if not made or leaf.watch is None:
                continue
            same = self._may_be_another(target, leaf, stops)
            if isinstance(same, Refusal):
                return same
            if same:
                found.append(same)
            if self._reads_beside(request, target, leaf, stops):
                return _together(text_of(min(made, key=lambda d: d.path).path))
            beside = self._unpacked_beside(target, leaf, stops)
            if isinstance(beside, Refusal):
                return beside
            if beside:
                found.append(beside)
            if leaf.fresh:
                continue
            held = self._held_together(target, leaf, stops)
            if isinstance(held, Refusal):
                return held
            if held:
                found.append(held)
                continue
            sliced = self._cut(target, leaf.defs, frozenset(stops))
            if sliced.made & leaf.defs:
                continue
            calls = [d for d in made if isinstance(d.value, ast.Call)]
            unknown = [d for d in calls if self._make(d) is Make.UNKNOWN]
            if any(d.kind is Kind.ELEMENT for d in unknown):
                return Refusal(_USED.format(leaf.watch), SOURCE)
            if unknown and self._share_a_part(request, target, leaf, stops):
                return _together(leaf.watch)
            if unknown and not all(is_named_after_variables(d) for d in unknown):
                return Refusal(
                    f"nothing here computes the target from `{leaf.watch}`, which an unknown "
                    "function gives",
                    SOURCE,
                )
            if unknown:
                found.append(f"`{leaf.watch}` holds trainable variables")
        return found

    def _named_twice(
        self, region: Region, target: frozenset[Use], stops: list[Def]
    ) -> Refusal | None:
        """Whether a source has another name, by which the target was made of it unseen."""
        for leaf in region.sources.leaves:
            for made in leaf.defs if leaf.watch is not None else ():
                if not self._aliases.are_followed(made):
                    continue
                behind = self._cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
                names = self._aliases.ahead(self._aliases.behind(made) - leaf.defs, behind)
                own = {made} if self._aliases.holds_several(made) else set()
                for user in own | behind:
                    if user is not made and self._is_recorded_after(user, made, region):
                        continue
                    if not self._barren(user) and self._aliases.computes(user, names):
                        return _together(text_of(min(names, key=lambda d: d.path).path))
        return None

    def _is_recorded_after(self, user: Def, made: Def, region: Region) -> bool:
        """Whether the tape records ``user``, after it was told of the source ``made``."""
        if user.stmt is None or made.stmt is None or user.stmt.lineno <= made.stmt.lineno:
            return False
        row = self._blocks.index_in(user.stmt, region.block)
        return row is not None and region.first <= row <= region.last

    def _may_be_passed_in(self, target: ast.expr) -> bool:
        """Whether a name that this function also computes may still hold what was passed."""
        for part in target.elts if isinstance(target, ast.List | ast.Tuple) else [target]:
            if isinstance(part, ast.Name):
                kinds = {d.kind for d in origins(self._flow.reads.get(part, frozenset()))}
                if Kind.PARAM in kinds and len(kinds) > 1:
                    return True
        return False

    def _held_together(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the target comes out of the very container or object that holds the source."""
        own = {d for d in leaf.defs if text_of(d.path) == leaf.watch}
        parts = [leaf.watch or ""]
        parts += [text_of(p) for d in own if d.value and (p := path_of(d.value)) is not None]
        holders = {
            d
            for d in leaf.defs - own
            if d.kind not in _OUTSIDE and not is_display(d) and holds_one_of(d, parts)
        }
        if not holders:
            return None
        sliced = self._cut(target, frozenset(own), frozenset(stops)).made
        if not sliced & holders:
            return None
        name = text_of(min(holders, key=lambda d: d.path).path)
        if sliced & own:
            return f"no other part of `{name}` was computed from `{leaf.watch}`"
        return _together(name)

    def _may_be_another(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the source may be the very tensor that it is made of, which the target reads."""
        behind = None
        for made in leaf.defs:
            value = made.value
            if made.kind not in (Kind.ASSIGN, Kind.WITH) or value is None:
                continue
            known = may_give_back(value, self._kinds)
            unknown = isinstance(value, ast.Call) and self._make(made) is Make.UNKNOWN
            if self._kinds.is_new(value) or (not known and not unknown):
                continue
            if behind is None:
                behind = self._cut(target, leaf.defs, frozenset(stops)).made
            given = {
                d for u in made.uses for d in origins([u]) if not self._barren(d) and d in behind
            }
            given = {d for d in given if self._is_passed(d, value) and d.path[0] not in _SETTINGS}
            given = {d for d in given if self._is_used_before(d, made, behind)}
            again = unknown and not gives_data(value)
            if again and any(_calls_as(d, value) for d in behind - {made}):
                return f"`{leaf.watch}` is another tensor than `{ast.unparse(value)}` gave before"
            if given:
                name = text_of(min(given, key=lambda d: d.path).path)
                if known:
                    return _together(name)
                if name == leaf.watch and isinstance(value, ast.Call):
                    called = ast.unparse(value.func)
                    return f"what `{called}` gives is another tensor than `{name}`"
                return f"`{leaf.watch}` is another tensor than `{name}`"
        return None

    def _is_used_before(self, given: Def, made: Def, behind: frozenset[Def]) -> bool:
        """Whether something was made of it before the other definition, which is ``made`` of it."""
        line = made.stmt.lineno if made.stmt is not None else 0
        return any(
            user.stmt is not None
            and user is not made
            and (
                user.stmt.lineno < line
                or (user.stmt is made.stmt and user.kind is Kind.MUTATE)
                or bool(self._blocks.loops_around(user.stmt))
            )
            and not self._barren(user)
            and (user.value is None or not self._kinds.is_new(user.value))
            and any(u.made is given for u in user.uses)
            for user in behind
        )

    def _is_passed(self, made: Def, value: ast.expr) -> bool:
        """Whether the value of the definition is an operand by itself."""
        known = isinstance(value, ast.Call) and may_give_back(value, self._kinds)
        operands: list[ast.expr] = []
        match value:
            case ast.Call():
                operands = value.args[:1] if known else value.args
            case ast.IfExp() | ast.BoolOp():
                operands = _choices(value)
        return any(
            u.made is made
            for operand in operands
            if path_of(operand) is not None
            for u in self._flow.reads.get(operand, ())
        )

    def _reads_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> bool:
        """Whether the target is made of the object that holds the source, or of another part."""
        own = [
            d for d in leaf.defs if d.kind not in _OUTSIDE and holds_one_of(d, [leaf.watch or ""])
        ]
        if not own:
            return False
        read = self._read_for(request, target, stops)
        # A function that is handed the object whole may read any part of it; variables watch
        # themselves, also where the object is made.
        variables = VARIABLES_BY_NAME.search((leaf.watch or "").rpartition(".")[2]) is not None
        whole = () if variables else own
        unknown = (d for d in whole if isinstance(d.value, ast.Call) and d.path in read)
        return any(self._make(d) is Make.UNKNOWN for d in unknown) or any(
            len(path) > len(holder)
            and path[: len(holder)] == holder
            and text_of(path) != leaf.watch
            and path[-1] not in STATIC
            for path in read
            for holder in {d.path for d in own}
        )

    def _read_for(self, request: Request, target: frozenset[Use], stops: list[Def]) -> set[Path]:
        """What is read on the way to the target."""
        behind = self._cut(target, frozenset(), frozenset(stops)).made
        return self._paths_read([request.target, *(d.value for d in behind)])

    def _looked_up_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The container in which the source is looked up, if the target reads others from it."""
        values = [d.value for d in leaf.defs if d.kind is Kind.ASSIGN and d.value is not None]
        xs = request.sources
        values += xs.elts if isinstance(xs, ast.List | ast.Tuple) else [xs]
        holders = {
            path
            for value in values
            if isinstance(value, ast.Subscript) and (path := container_of(value)) is not None
            if any(
                d.kind in _OUTSIDE
                or (isinstance(d.value, ast.Call) and self._make(d) is Make.UNKNOWN)
                for d in origins(self._flow.reads.get(value.value, frozenset()))
            )
        }
        if not holders or leaf.watch is None:
            return None
        behind = self._cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
        read = self._paths_read([request.target, *(d.value for d in behind)])
        beside = [h for h in holders if any(p[: len(h)] == h and p[-1] not in STATIC for p in read)]
        return min(beside) if beside else None

    def _is_counted(self, request: Request, leaf: Leaf) -> bool:
        """Whether the source is looked up by numbers: in a list of inputs, not by its name."""
        xs = request.sources
        parts = [*(xs.elts if isinstance(xs, ast.List | ast.Tuple) else [xs])]
        parts += [d.value for d in leaf.defs if d.value is not None]
        found = [p.slice for p in parts if isinstance(p, ast.Subscript)]
        return all(
            isinstance(index.value, int)
            if isinstance(index, ast.Constant)
            else any(u.made.kind in _COUNTED for u in self._flow.reads.get(index, ()))
            for index in found
        )

    def _unpacked_beside(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the target is made of what a call gave beside the source, and made from it."""
        for made in sorted(leaf.defs, key=lambda d: d.path):
            call = made.value
            unknown = isinstance(call, ast.Call) and self._make(made) is Make.UNKNOWN
            if made.kind is not Kind.ELEMENT or not unknown or self._maps(call):
                continue
            behind = self._cut(target, leaf.defs, frozenset(stops)).made
            beside = {d for d in behind - leaf.defs if d.value is call}
            verdicts = {d: self._apart(made, d) for d in beside}
            if False in verdicts.values() or (None in verdicts.values() and not gives_data(call)):
                return Refusal(_USED.format(leaf.watch), SOURCE)
            for other in sorted(d.path for d, apart in verdicts.items() if apart is None):
                return f"`{text_of(other)}` was not computed from `{leaf.watch}`"
        return None

    def _maps(self, call: ast.expr | None) -> bool:
        """``map(f, [x, y])``: each is made of its own."""
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "map"
            and self._kinds.called(call) is None
        )

    def _share_a_part(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> bool:
        """Whether target and source are both looked up in one part of one object."""
        behind = self._cut(target, frozenset(), frozenset(stops)).made
        mine = self._paths_read([request.target, *(d.value for d in behind)])
        theirs = self._paths_read([d.value for d in leaf.defs])
        parts = [{p[:2] for p in each if len(p) > 1} for each in (mine, theirs)]
        return bool(parts[0] & parts[1])

    def _paths_read(self, exprs: Sequence[ast.expr | None]) -> set[Path]:
        return {
            path
            for expr in exprs
            if expr is not None
            for node in self._value_paths(expr)
            if (path := path_of(node)) is not None
        }

    def _runs_unseen(self, made: Def) -> bool:
        if made.kind in (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT, *_OUTSIDE):
            return False
        return self._may_hide_a_source(made)

    def _calls_unseen(self, value: ast.expr) -> bool:
        calls = [n for n in walk(value) if isinstance(n, ast.Call)]
        return any(self._kinds.make(c) is Make.UNKNOWN or self._is_layer(c) for c in calls)

    def _cut(
        self, target: frozenset[Use], goals: frozenset[Def], stops: frozenset[Def]
    ) -> Backward:
        whole = backward(target, goals | stops)
        barren = {d for d in whole.made if d not in goals and self._barren(d)}
        return backward(target, frozenset(goals | stops | barren))

    def _barren(self, made: Def) -> bool:
        """Whether no gradient can pass through this definition."""
        make = self._make(made)
        if make is Make.LEAF:
            return made.kind is Kind.ASSIGN
        changed = made.kind in (Kind.AUGMENT, Kind.MUTATE)
        before = {u.made for u in made.before} if changed else set()
        if make is not Make.PYTHON or made.kind not in _VALUES or (changed and not before):
            return False
        return all(self._is_number(d) for d in before)

    def _make(self, made: Def) -> Make:
        if made not in self._makes:
            value = made.value
            self._makes[made] = Make.UNKNOWN if value is None else self._kinds.make(value)
            if self._makes[made] is Make.UNKNOWN and self._is_of_numbers(made):
                self._makes[made] = Make.PYTHON
        return self._makes[made]

    def _is_of_numbers(self, made: Def) -> bool:
        """``args = parser.parse_args()``: what a method of an object without tensors gives."""
        value, root = made.value, made.value
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        reads = self._flow.reads.get(root, frozenset()) if isinstance(root, ast.Name) else ()
        if value is None or value is root or not reads or made.kind not in _VALUES:
            return False
        return all(self._is_number(u.made) for u in (*reads, *self._flow.uses_in(value)))

    def _is_number(self, made: Def) -> bool:
        if made.kind is Kind.ENTRY:
            return len(made.path) == 1 and hasattr(builtins, made.path[0])
        return self._barren(made)

    def _may_hide_a_source(self, made: Def) -> bool:
        """Whether a value from out of sight may reach the target through this definition."""
        if made not in self._opaque:
            self._opaque[made] = self._reads_unseen(made)
        return self._opaque[made]

    def _reads_unseen(self, made: Def) -> bool:
        if made.kind in _OUTSIDE:
            return made.path[0] != "<hidden state>"
        if made.kind in (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT):
            return False
        if self._barren(made):
            return False
        make = self._make(made)
        if make in (Make.VARIABLE, Make.FROZEN):
            return True
        value = made.value
        if value is None:
            return False
        return self._calls_unseen(value)

    def _is_layer(self, call: ast.Call) -> bool:
        name = self._kinds.name(call.func) or ""
        return ".layers." in name or ".keras." in name or ".contrib." in name or "rnn" in name

    def _makes_ops(self, made: Def) -> bool:
        """Whether the statement of this definition runs ops that a tape has to see."""
        value = made.value
        if made.kind in (Kind.LOOP, Kind.COMPREHENSION):
            return (
                value is not None
                and not only_iterates(value)
                and self._kinds.make(value) not in (Make.PYTHON, Make.LEAF)
            )
        if made.kind is Kind.FUNCTION:
            return has_computed_defaults(made.stmt)
        if made.kind in _NO_OPS or made.kind is Kind.WITH:
            return False
        if self._barren(made) or self._make(made) in (Make.VARIABLE, Make.FROZEN, Make.VARIABLES):
            return False
        if made.kind is Kind.ASSIGN and value is not None and is_plain(value):
            return False
        if made.kind is Kind.ASSIGN and isinstance(value, ast.Lambda):
            return has_computed_defaults(value)
        return True

    def _lower(
        self, request: Request, nodes: frozenset[Def], others: Sequence[Request]
    ) -> set[Request]:
        """The requests whose results the target is made of."""
        by_call = {o.call: o for o in others if o is not request}
        roots = [request.target]
        if request.output_gradients is not None:
            roots.append(request.output_gradients)
        found = {by_call[n] for r in roots for n in walk(r) if n in by_call}
        by_stmt: dict[ast.stmt, list[Request]] = {}
        for other in by_call.values():
            by_stmt.setdefault(other.stmt, []).append(other)
        for made in nodes:
            if made.stmt is None or made.stmt is request.stmt:
                continue
            found |= {o for o in by_stmt.get(made.stmt, ()) if holds(made, o.call)}
        return found

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

    def _may_hold_none(self, request: Request) -> bool:
        """Whether ``grad_ys`` is a list of which the code does not show that it holds no None."""
        given = request.output_gradients
        if given is None:
            return False
        values: list[ast.expr] = [given]
        if path_of(given) is not None:
            uses = self._flow.reads.get(given, frozenset())
            values = [u.made.value for u in uses if u.made.value is not None]
            if any(u.made.kind is Kind.MUTATE for u in uses):
                return True
            several = isinstance(request.target, ast.List | ast.Tuple)
            if several and any(u.made.kind is Kind.PARAM for u in uses):
                return True
        for value in values:
            if isinstance(value, ast.ListComp):
                return True
            if isinstance(value, ast.List | ast.Tuple) and value is not given:
                if any(isinstance(e, ast.Constant) and e.value is None for e in value.elts):
                    return True
            several = isinstance(request.target, ast.List | ast.Tuple)
            unknown = isinstance(value, ast.Call) and self._kinds.make(value) is Make.UNKNOWN
            if several and unknown:
                return True
        return False

    # -- refusals -------------------------------------------------------------------------------

    def _stops(self, request: Request) -> list[Def] | Refusal:
        """The definitions of ``stop_gradients`` that are not leaves anyway."""
        if request.stop is None:
            return []
        read = self._reader.read(request.stop)
        if read.refusal:
            return Refusal(f"in `stop_gradients`, {read.refusal}", STOP)
        found: list[Def] = []
        own = {d for x in self._reader.read(request.sources).leaves for d in x.defs}
        for leaf in read.leaves:
            for made in leaf.defs:
                if made.stmt is not None and self._leaves_a_loop(made.stmt, request.stmt):
                    return Refusal(
                        f"`{leaf.watch}` in `stop_gradients` is made anew in a loop", STOP
                    )
                if made.kind is Kind.ELEMENT:
                    return Refusal(
                        "a tensor in `stop_gradients` is one of several results of one op, and "
                        "`tf.gradients` stops at the whole op",
                        STOP,
                    )
                if leaf.watch is not None and not leaf.watch.startswith(text_of(made.path)):
                    return Refusal(f"`{leaf.watch}` in `stop_gradients` is made out of sight", STOP)
                if made.kind in _OUTSIDE or made.stmt is None:
                    if made not in own and not leaf.variables:
                        return Refusal(
                            f"`{text_of(made.path)}` in `stop_gradients` was made outside of this "
                            "function",
                            STOP,
                        )
                elif leaf.watch is not None and leaf.watch != text_of(made.path):
                    return Refusal(f"`{leaf.watch}` in `stop_gradients` is made out of sight", STOP)
                elif self._make(made) not in (Make.LEAF, Make.PYTHON, Make.VARIABLE, Make.FROZEN):
                    found.append(made)
        return found

    def _is_apart(self, target: frozenset[Use], sources: Sources) -> bool:
        """Whether target and sources were all made here, and certainly apart from each other."""
        made = [*origins(target), *(d for leaf in sources.leaves for d in leaf.defs)]
        return all(
            d.kind is Kind.ASSIGN
            and d.value is not None
            and self._make(d) in (Make.LEAF, Make.TENSOR)
            for d in made
        )

    def _is_source(self, request: Request, target: frozenset[Use], sources: Sources) -> bool:
        """Whether one tensor is asked for its gradient by itself."""
        cut = {d for leaf in sources.leaves for d in leaf.defs}
        made = {u.made for u in target}
        path = path_of(request.target)
        return bool(made) and made <= cut and all(d.path == path for d in made)

    def _elsewhere(self, request: Request, target: frozenset[Use]) -> Refusal:
        made = {u.made for u in target}
        what = ast.unparse(request.target)
        kinds = {d.kind for d in origins(target)}
        if Kind.PARAM in kinds:
            return Refusal(
                f"the target `{what}` is a parameter: its forward pass runs in the callers",
                THREAD,
                threads=True,
            )
        if any(d.path[0] == "self" and d.kind is not Kind.ASSIGN for d in made):
            return Refusal(
                f"the target `{what}` was computed before this method runs, outside of it",
                THREAD,
                keeps=_attribute(request.target),
            )
        passed = {
            d.path[0]
            for d in backward(target).made
            if d.kind is Kind.PARAM and d.path != (self._kinds.self_name,)
        }
        if passed:
            return Refusal(
                f"the target `{what}` is computed from `{min(passed)}`, a parameter: its forward "
                "pass begins in the callers",
                THREAD,
                threads=True,
            )
        entered = {
            d.path[1].lstrip(".")
            for d in backward(target).made
            if d.kind is Kind.ENTRY and len(d.path) == 2 and d.path[0] == self._kinds.self_name
        }
        return Refusal(
            f"the target `{what}` is computed outside this function, or not from the source",
            THREAD,
            keeps=entered.pop() if len(entered) == 1 else "",
        )

    def _unfit(self, region: Region) -> Refusal | None:
        """Why the statements of the region cannot go under a ``with``."""
        for stmt in region.block.body[region.first : region.last + 1]:
            for node in own_nodes(stmt):
                if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
                    return Refusal(
                        "the forward pass lets other code run (`yield`, `await`) under the tape",
                        SOURCE,
                    )
        for leaf in region.sources.leaves:
            for stmt in leaf.filled:
                index = self._blocks.index_in(stmt, region.block)
                if index is not None and region.first <= index <= region.last:
                    return Refusal(
                        f"`{leaf.watch}` is filled in place while the tape would record",
                        SOURCE,
                    )
            if leaf.looked_up and self._calls_unknown(region):
                return Refusal(
                    f"the source is looked up in `{leaf.watch}`, where the forward pass may put "
                    "others",
                    SOURCE,
                )
            if leaf.watch is not None and not self._has_room(leaf, region):
                return Refusal(
                    f"there is no place for a `watch` between the making of `{leaf.watch}` and its "
                    "first use",
                    SOURCE,
                )
        for stop in region.stops:
            index = self._blocks.index_in(stop.stmt, region.block) if stop.stmt else None
            if index is None or not region.first <= index <= region.last:
                continue
            if not makes_one(stop):
                return Refusal(
                    f"`{text_of(stop.path)}` in `stop_gradients` is not made by one assignment",
                    STOP,
                )
        return None

    def _calls_unknown(self, region: Region) -> bool:
        """Whether the region calls what is not known to leave everything as it was."""
        nodes: list[ast.AST] = list(region.block.body[region.first : region.last + 1])
        return any(
            isinstance(n, ast.Call) and self._kinds.make(n) is Make.UNKNOWN
            for root in [*nodes, region.request.target]
            for n in ast.walk(root)
        )

    def _has_room(self, leaf: Leaf, region: Region) -> bool:
        """Whether what is watched has its name before anything can use it."""
        watched = ast.parse(leaf.watch or "", mode="eval").body
        names = {n.id for n in walk(watched) if isinstance(n, ast.Name)}
        path = path_of(watched)
        if not self._is_bound(leaf, names, region):
            return False
        for made in leaf.defs:
            here = made.stmt is not None and self._blocks.holds(made.stmt)
            index = self._blocks.index_in(made.stmt, region.block) if here and made.stmt else None
            inside = index is not None and region.first <= index <= region.last
            if inside and is_walrus(made):
                return False
            if isinstance(watched, ast.Name) or made.path[0] in names:
                continue
            # The watch stands where the element is made; the container has to be there by then.
            place = index if inside and index is not None else region.first
            for other in self._flow.defs.values():
                if other.path[0] not in names or other.stmt is None:
                    continue
                if path is not None and other.path != path[: len(other.path)]:
                    continue
                later = self._blocks.index_in(other.stmt, region.block)
                if later is not None and place <= later <= region.call:
                    return False
        return True

    def _is_bound(self, leaf: Leaf, names: set[str], region: Region) -> bool:
        """Whether what is watched on entry has its name whichever way the tape is reached."""
        before: set[ast.stmt] = set()
        for made in leaf.defs:
            if made.path[0] not in names:
                continue
            if made.stmt is None or not self._blocks.holds(made.stmt):
                return True
            index = self._blocks.index_in(made.stmt, region.block)
            if index is None or index < region.first:
                before.add(made.stmt)
        if not before:
            return True
        place = (region.block, region.first)
        while True:
            block, end = place
            if binds(block.body[:end], before):
                return True
            if block.owner is None:
                return False
            if block.owner in before:
                return True  # a loop's or a ``with``'s own name, inside of it
            owner = self._blocks.place(block.owner)
            place = (owner.block, owner.index)

    def _leaves_a_loop(self, made: ast.stmt, used: ast.stmt) -> bool:
        """Whether a loop holds the first statement and not the second."""
        around = self._blocks.loops_around(used)
        return any(loop not in around for loop in self._blocks.loops_around(made))

    def _hoistable(self, request: Request) -> bool:
        """Whether the call runs exactly once, whenever its statement does."""
        if request.api in ("threaded", "kept"):
            return False
        if repetitions(request.call, request.stmt, self._parents):
            return False
        return not isinstance(request.stmt, ast.While) and not is_elif_test(
            request.stmt, self._parents
        )

    # -- what enters ----------------------------------------------------------------------------

    def _entering(
        self, region: Region, nodes: frozenset[Def], statements: set[ast.stmt]
    ) -> frozenset[Def]:
        """The definitions from outside the scope whose *values* the recorded statements read."""
        cut = frozenset(d for leaf in region.sources.leaves for d in leaf.defs)
        reads: set[Use] = set()
        exprs: list[ast.AST] = [d.value for d in nodes if d.value is not None]
        exprs += [d.stmt for d in nodes if d.kind is Kind.MUTATE and d.stmt is not None]
        exprs.append(region.request.target)
        if region.request.output_gradients is not None and region.inside:
            exprs.append(region.request.output_gradients)
        for expr in exprs:
            for node in self._value_paths(expr):
                reads |= self._flow.reads.get(node, frozenset())
        barren = {d for d in backward(reads).made if self._barren(d) and d not in cut}
        found = backward(reads, frozenset(cut | barren | nodes)).made
        return frozenset(
            d
            for d in found
            if d.kind in _OUTSIDE
            and d not in cut
            and d.path[0] != "<hidden state>"
            and not prefix_of_longer(d, found)
            and not any(d.path[: len(c.path)] == c.path for c in cut)
        )

    def _value_paths(self, expr: ast.AST) -> list[ast.expr]:
        """The paths read as values: not the functions called, nor the ``self`` they hang on."""
        found: list[ast.expr] = []
        stack: list[ast.AST] = [expr]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if self._kinds.is_barren(node):
                    continue
                stack += self._operands.of(node)
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                if path_of(node.func) is None or self._is_passed_in(node.func):
                    stack.append(node.func)
                elif owner is not None and not self._is_code(owner):
                    stack.append(owner)
            elif isinstance(node, ast.expr) and path_of(node) is not None:
                found.append(node)
            elif not isinstance(node, ast.Lambda):
                stack.extend(values_in(node))
        return found

    def _is_passed_in(self, func: ast.expr) -> bool:
        """Whether the function called is a parameter, which may hold more than code."""
        return isinstance(func, ast.Name) and any(
            u.made.kind is Kind.PARAM for u in self._flow.reads.get(func, frozenset())
        )

    def _is_code(self, owner: ast.expr) -> bool:
        """Whether what a method hangs on is a module, or the object whose method is analysed."""
        return path_of(owner) == (self._kinds.self_name,) or self._kinds.name(owner) is not None


def _calls_as(made: Def, call: ast.expr) -> bool:
    """Whether the definition asks an object once more for what ``call`` asks it."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    same = ast.dump(call)
    nodes = walk(made.value) if made.value is not None else ()
    return any(isinstance(n, ast.Call) and n is not call and ast.dump(n) == same for n in nodes)


def _of_leaves(sources: Sources) -> list[str]:
    """What is assumed of the sources, each once."""
    return list(dict.fromkeys(x.assumption for x in sources.leaves if x.assumption))


def _choices(value: ast.expr) -> list[ast.expr]:
    """What a choice may give, however deep it is nested."""
    match value:
        case ast.IfExp():
            return [*_choices(value.body), *_choices(value.orelse)]
        case ast.BoolOp():
            return [c for part in value.values for c in _choices(part)]
    return [value]


def _is_passed_in(leaf: Leaf) -> bool:
    """Whether the source is a parameter, or variables, however it is named here."""
    if leaf.watch is None and leaf.variables:
        return True
    return any(d.kind is Kind.PARAM for d in leaf.defs) and all(
        d.kind in (Kind.PARAM, Kind.LOOP, Kind.COMPREHENSION)
        or (d.kind is Kind.ASSIGN and d.value is not None and only_iterates(d.value))
        for d in leaf.defs
    )


def _attribute(target: ast.expr) -> str:
    path = path_of(target)
    return path[1].lstrip(".") if path is not None and len(path) == 2 else ""


def _together(name: str) -> Refusal:
    return Refusal(
        f"the source and the target both come out of `{name}`, where one may have been made from "
        "the other before a tape could watch it",
        SOURCE,
    )

"""Whether the statements of a region can go under a `with`, and its sources be watched there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from tapemigrate.flow.blocks import Block, Blocks
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.source.points import begin
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.syntax import binds, is_walrus, makes_one, own_nodes
from tapemigrate.tape.placing.not_imported import Imports
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.recipes import SOURCE, STOP
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources.holders import held_with_others

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TAKEN = (Kind.LOOP, Kind.WITH)
# What builtins make anew, of which a second one holds nothing that the forward pass uses.
_MADE_ANEW = ("map(", "dict(")
_NOT_ALWAYS = (ast.IfExp, ast.BoolOp, ast.Compare, ast.Lambda, *_COMPREHENSIONS)


class Room:
    """Looks at the statements of one scope."""

    def __init__(self, flow: Flow, blocks: Blocks, kinds: Kinds) -> None:
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._by_path: dict[Path, list[Def]] | None = None
        self._imports: Imports | None = None
        self._asking: list[tuple[Path, ast.stmt]] | None = None

    def unfit(self, region: Region) -> Refusal | None:
        """Why the statements of the region cannot go under a ``with``."""
        if name := self._not_imported(region):
            return Refusal(
                f"`{name}` is not imported yet where the tape has to open",
                f"Import `{name}` before line {self._first(region).lineno}.",
            )
        for stmt in region.block.body[region.first : region.last + 1]:
            for node in own_nodes(stmt):
                if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
                    return Refusal(
                        "the forward pass lets other code run (`yield`, `await`) under the tape",
                        SOURCE,
                    )
                declared = node.names if isinstance(node, ast.Global | ast.Nonlocal) else ()
                for leaf in region.sources.leaves:
                    if (name := re.split(r"\W", leaf.watch or "")[0]) in declared:
                        sentence = f"`{name}` cannot be watched before `{ast.unparse(node)}`"
                        return Refusal(sentence, SOURCE)
        if region.lasting and region.inside:
            return Refusal(
                "a generator computes the target when it is gone through, and its tape is closed "
                "by then",
                SOURCE,
            )
        if region.lasting and (name := self._bound_later(region.request)):
            return Refusal(f"a generator asks later, when `{name}` may be another tensor", SOURCE)
        for leaf in region.sources.leaves:
            if (refusal := self._unwatchable(leaf, region)) is not None:
                return refusal
        for stop in region.stops:
            index = self._blocks.index_in(stop.stmt, region.block) if stop.stmt else None
            if index is None or not region.first <= index <= region.last:
                continue
            if stop.stmt and not (makes_one(stop) and self._blocks.stands_alone(stop.stmt)):
                return Refusal(
                    f"`{text_of(stop.path)}` in `stop_gradients` is not made by one assignment",
                    STOP,
                )
            watched = any(x.watch is not None and stop in x.defs for x in region.sources.leaves)
            stopped = {d.stmt for d in region.stops}
            if watched and stop.stmt is not None:
                if behind_stop(self._blocks, stop.stmt, stopped, region.block, region.last) is None:
                    return Refusal(
                        f"`{text_of(stop.path)}` in `stop_gradients` is a source, and nothing "
                        "comes after it that a tape could record",
                        STOP,
                    )
        return None

    def _unwatchable(self, leaf: Leaf, region: Region) -> Refusal | None:
        """Why a tape round the region cannot watch one of its sources."""
        for stmt in leaf.filled:
            index = self._blocks.index_in(stmt, region.block)
            if index is not None and region.first <= index <= region.last:
                return Refusal(
                    f"`{leaf.watch}` is filled in place while the tape would record",
                    SOURCE,
                )
        if leaf.looked_up and self._calls_unknown(region):
            return Refusal(
                f"the source is looked up in `{leaf.watch}`, where the forward pass may put others",
                SOURCE,
            )
        if leaf.watch is not None and leaf.watch.startswith(_MADE_ANEW):
            made = leaf.watch.partition("(")[0]
            return Refusal(
                f"what `{made}(…)` gives is new, and has no name to be watched by", SOURCE
            )
        together = held_with_others(leaf, region.block, self._blocks, self._flow)
        if together is not None:
            return together
        late = leaf.watch is not None and region.request.late
        if late and not (leaf.watch or "").isidentifier():
            return Refusal(
                f"`{leaf.watch}` may be another tensor by the time that the inner function asks",
                SOURCE,
            )
        late = late and any(d.stmt is region.request.stmt for d in leaf.defs)
        if leaf.watch is not None and (late or not self._has_room(leaf, region)):
            return Refusal(
                f"there is no place for a `watch` between the making of `{leaf.watch}` and its "
                "first use",
                SOURCE,
            )
        if leaf.watch is not None and (row := self._asks_late(leaf.watch, region)):
            return Refusal(
                f"`{leaf.watch}` may be None, or not there, as line {row} asks, where a tape "
                "would watch it",
                SOURCE,
            )
        return None

    def _first(self, region: Region) -> ast.stmt:
        """The statement before which the tape opens."""
        return region.block.body[min(region.first, len(region.block.body) - 1)]

    def _not_imported(self, region: Region) -> str:
        """The name by which TensorFlow is imported in this scope, if only further down."""
        if self._imports is None:
            self._imports = Imports(self._flow)
        func = region.request.call.func
        path = path_of(func) if self._kinds.tensorflow(func) is not None else None
        used = path[0] if path is not None else ""
        return self._imports.missing_at(begin(self._first(region)), used)

    def _bound_later(self, request: Request) -> str:
        """A name that the call reads, and that gets another value after its statement."""
        again = self._blocks.loops_around(request.stmt)
        for node in walk(request.call):
            if isinstance(node, ast.Name):
                for made in self._flow.given(node.id):
                    inside = made.kind is Kind.COMPREHENSION
                    late = made.stmt is not None and begin(made.stmt) > begin(request.stmt)
                    if (again or late) and not inside:
                        return node.id
        return ""

    def leaves_a_loop(self, made: ast.stmt, used: ast.stmt) -> bool:
        """Whether a loop holds the first statement and not the second."""
        around = self._blocks.loops_around(used)
        return any(loop not in around for loop in self._blocks.loops_around(made))

    def _calls_unknown(self, region: Region) -> bool:
        """Whether the region calls what is not known to leave everything as it was."""
        nodes: list[ast.AST] = list(region.block.body[region.first : region.last + 1])
        return any(
            isinstance(n, ast.Call) and self._kinds.make(n) is Make.UNKNOWN
            for root in [*nodes, region.request.target]
            for n in walk(root)
        )

    def _asks_late(self, watch: str, region: Region) -> int:
        """The line, behind the place of a watch, that asks whether the source is there, or 0."""
        if self._asking is None:
            self._asking = [
                (path, stmt)
                for stmt in self._blocks.statements()
                for node in own_nodes(stmt)
                for asked in _asked(node)
                if (path := path_of(asked)) is not None
            ]
        watched = (path_of(ast.parse(watch, mode="eval").body) if self._asking else None) or ()
        for path, stmt in self._asking:
            if path == watched[: len(path)]:
                index = self._blocks.index_in(stmt, region.block)
                if index is not None and region.first <= index <= region.call:
                    return stmt.lineno
        return 0

    def _has_room(self, leaf: Leaf, region: Region) -> bool:
        """Whether what is watched has its name before anything can use it."""
        watched = ast.parse(leaf.watch or "", mode="eval").body
        names = {n.id for n in walk(watched) if isinstance(n, ast.Name)}
        path = path_of(watched)
        if not self._is_bound(leaf, names, path, region):
            return False
        for made in leaf.defs:
            here = made.stmt is not None and self._blocks.holds(made.stmt)
            index = self._blocks.index_in(made.stmt, region.block) if here and made.stmt else None
            inside = index is not None and region.first <= index <= region.last
            if inside and (is_walrus(made) or isinstance(made.stmt, ast.Match)):
                return False
            after = index is not None and region.last < index and self._since(made, region)
            named = made.kind is Kind.ELEMENT or (made.kind in _TAKEN and made.path[0] in names)
            named = (named and not self._is_new(made)) or self._may_be_frozen(made)
            if after and named:
                return False  # another name, given too late, of what the forward pass used
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

    def _is_bound(self, leaf: Leaf, names: set[str], path: Path | None, region: Region) -> bool:
        """Whether what is watched on entry has its name whichever way the tape is reached."""
        before: set[ast.stmt] = set()
        for made in leaf.defs:
            if made.path[0] not in names:
                continue
            if _is_passed(made, path, region):
                continue
            if made.stmt is None or not self._blocks.holds(made.stmt):
                return self._was_there(path, region)
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
            if isinstance(block.owner, ast.If) and block.field == "body":
                if _finds(block.owner.test, path):
                    return True
            owner = self._blocks.place(block.owner)
            place = (owner.block, owner.index)

    def _since(self, made: Def, region: Region) -> bool:
        """Whether what is made behind the region is what the call of the same round reads."""
        stmt, call = made.stmt, region.request.stmt
        return stmt is not None and self._blocks.comes_before(stmt, call, region.block)

    def _is_new(self, made: Def) -> bool:
        """Whether what is unpacked was made there, by an op."""
        value = made.value
        return value is not None and self._kinds.make(value) in (Make.TENSOR, Make.LEAF)

    def _may_be_frozen(self, made: Def) -> bool:
        """Whether it is a variable that is found again, and may have been made not trainable."""
        found = made.value is not None and self._kinds.make(made.value) is Make.FROZEN
        return found and self._kinds.effects.finds_frozen

    def _was_there(self, path: Path | None, region: Region) -> bool:
        """Whether what the region sets on some ways was there before: then it is read first."""
        body = region.block.body
        for made in self._set_along(path or ()):
            if made.stmt is None or any(u.made.path == path for u in made.uses):
                continue
            index = self._blocks.index_in(made.stmt, region.block)
            if index is None or not region.first <= index <= region.last:
                continue
            if not any(path in _read(stmt) for stmt in body[region.first : index]):
                return False
        return True

    def _set_along(self, path: Path) -> Iterator[Def]:
        """What the scope gives the path, or what it is a part of, in its own statements."""
        if self._by_path is None:
            self._by_path = {}
            for made in self._flow.defs.values():
                if made.stmt is not None and made.kind is not Kind.MUTATE:
                    self._by_path.setdefault(made.path, []).append(made)
        for length in range(1, len(path) + 1):
            yield from self._by_path.get(path[:length], ())


def _finds(test: ast.expr, path: Path | None) -> bool:
    """Whether the test is that what has the path is there: ``x is not None``, and maybe more."""
    match test:
        case ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return path_of(asked) == path
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_finds(value, path) for value in values)
    return False


def _asked(node: ast.AST) -> Iterator[ast.expr]:
    """What a test asks about, whether it is there: ``x is not None``, ``hasattr(net, "x")``."""
    match node:
        case ast.Compare(
            left=asked,
            ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()],
            comparators=[ast.Constant(value=None)],
        ):
            yield asked
        case ast.Compare(
            left=ast.Constant() as key, ops=[ast.In() | ast.NotIn()], comparators=[holder]
        ):
            yield ast.Subscript(holder, key, ast.Load())
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str() as name)]):
            yield ast.Attribute(owner, name, ast.Load())
        case ast.If(test=asked) | ast.While(test=asked) | ast.IfExp(test=asked):
            yield asked
        case ast.UnaryOp(op=ast.Not(), operand=asked):
            yield asked
        case ast.BoolOp(values=values):
            yield from values


def behind_stop(
    blocks: Blocks, stmt: ast.stmt, stopped: Set[ast.stmt | None], block: Block, last: int
) -> ast.stmt | None:
    """The first statement after ``stmt`` that a tape records, up to number ``last`` of ``block``.

    While a tape does not record, it takes in no ``watch``: where no other one does, it is ignored.
    """
    for place in blocks.after(stmt):
        if place.block is block and place.index > last:
            return None
        if place.block.body[place.index] not in stopped:
            return place.block.body[place.index]
    return None


def _is_passed(made: Def, path: Path | None, region: Region) -> bool:
    """Whether it is a parameter, and no source what its name is given later on."""
    others = (d for x in region.sources.leaves for d in x.defs if d is not made and d.path == path)
    return made.kind is Kind.PARAM and made.path == path and not any(others)


def _read(stmt: ast.stmt) -> set[Path | None]:
    """The paths that a simple statement reads in any case."""
    found: set[Path | None] = set()
    stack: list[ast.AST] = [stmt] if isinstance(stmt, _SIMPLE) else []
    while stack:
        node = stack.pop()
        if isinstance(getattr(node, "ctx", None), ast.Load):
            found.add(path_of(node))
        stack.extend(() if isinstance(node, _NOT_ALWAYS) else children(node))
    return found

"""What lies between the sources of a gradient call and its target, in one scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import partial

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import Backward, backward
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.leaf import Leaf, Sources
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.syntax import holds
from tapemigrate.tape.request import Request

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_TAKEN = (Kind.LOOP, Kind.ELEMENT)


class _Index:
    """The requests of one scope, by their calls and statements, and what they are asked by."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = requests
        self.calls: dict[ast.AST, Request] = {each.call: each for each in requests}
        self.sources: set[ast.AST] = {each.sources for each in requests}
        self.stated: dict[ast.stmt, list[Request]] = {}
        for each in requests:
            self.stated.setdefault(each.stmt, []).append(each)


class Between:
    """Follows the values of one scope from the sources of its gradient calls to their targets."""

    def __init__(
        self,
        flow: Flow,
        ops: Ops,
        holds_variables: Callable[[Path], bool],
        may_find: Callable[[ast.AST, Path], bool],
    ) -> None:
        """``holds_variables`` tells whether what comes from outside holds nothing else.

        ``may_find``: whether code that runs for a value may come by a source that has a path.
        """
        self._flow = flow
        self._may_find = may_find
        self._ops = ops
        self._holds_variables = holds_variables
        self._indexed: _Index | None = None
        self._taken: dict[ast.stmt | None, list[Def]] | None = None

    def definitions(
        self,
        target: frozenset[Use],
        leaves: list[Leaf],
        stops: frozenset[Def],
        recorded: frozenset[Path],
        rounds: frozenset[ast.stmt] = frozenset(),
    ) -> tuple[frozenset[Def], list[tuple[Def | None, Use]]]:
        """The definitions on the paths from the leaves to the target, and the edges among them.

        What was carried round one of the loops in ``rounds`` lies on none.
        """
        nodes: set[Def] = set()
        edges: list[tuple[Def | None, Use]] = []
        for leaf in leaves:
            beside = self._made_beside(leaf) | self._set_by(leaf)
            sliced = self._ops.cut(target, leaf.defs | beside, stops, rounds)
            found = sliced.leading_to(leaf.defs.__contains__)
            if self._has_hidden_paths(leaf, found):
                found |= sliced.leading_to(self._ops.may_hide_a_source)
            if new := _made_here(leaf):
                found |= sliced.leading_to(partial(self._finds, new))
            if recorded:
                found |= sliced.leading_to(lambda d: d.path[:2] in recorded or d.path in recorded)
            kept = found - leaf.defs - stops - beside
            if leaf.lent is not None:
                found = kept = sliced.leading_to((leaf.defs | beside).__contains__) - stops
            nodes |= kept
            edges += [
                e for e in sliced.edges if e[1].made in found and (e[0] is None or e[0] in kept)
            ]
        return frozenset(nodes), edges

    def connects(
        self, request: Request, sources: Sources, stops: list[Def], others: Sequence[Request]
    ) -> bool:
        """Whether a path from a source to the target is seen, or may run in a call made here."""
        if request.joins:
            return True
        requests = others if request.call in self._index(others).calls else [*others, request]
        target = self._uses_beside(request.target, self._index(requests).sources)
        for leaf in sources.leaves:
            if not leaf.outside and not _is_looked_up(leaf):
                return True
            sliced = self._ops.cut(target, leaf.defs, frozenset(stops))
            beside = self._taken_beside(leaf)
            edges = [
                e for e in sliced.edges if e[0] not in beside and not self._only_asks(*e, requests)
            ]
            joined = replace(sliced, edges=tuple(edges)).leading_to(leaf.defs.__contains__)
            if any(use.made in joined for use in target) or self._is_read(leaf, request, sliced):
                return True
            if leaf.variables or not any(d.kind in _OUTSIDE for d in leaf.defs):
                made = sliced.made if leaf.outside else self._without_keys(sliced, target)
                if any(self._ops.runs_unseen(d) for d in made):
                    return True
                if leaf.variables and any(map(self._is_own_variable, sliced.made)):
                    return True
                if self._ops.calls_unseen(request.target):
                    return True
        return False

    def _is_read(self, leaf: Leaf, request: Request, sliced: Backward) -> bool:
        """Whether methods of the object that run for the target read the source by themselves."""
        kept = {d.path[1].lstrip(".") for d in leaf.defs if d.kind is Kind.ENTRY and d.path[1:]}
        if not kept:
            return False
        made = sliced.made - self._set_by(leaf)
        values = [request.target, *(d.value for d in made if d.value is not None)]
        return any(kept & self._ops.read_by_methods(value) for value in values)

    def holder_of_both(self, sources: Sources, target: frozenset[Use]) -> ast.expr | None:
        """What a source, and what the target is made of, were taken out of in one go."""
        made = backward(target).made
        taken = (d for leaf in sources.leaves for d in self._taken_beside(leaf))
        return next((d.value for d in taken if d in made), None)

    def _taken_beside(self, leaf: Leaf) -> frozenset[Def]:
        """What is taken along with a source out of what holds both: ``g`` of ``for g, v in …``.

        What it has to do with the source was computed before.
        """
        taken = {d.stmt: d.value for d in leaf.defs if d.kind in _TAKEN}
        if taken and self._taken is None:
            self._taken = {}
            for made in self._flow.defs.values():
                if made.kind in _TAKEN:
                    self._taken.setdefault(made.stmt, []).append(made)
        return frozenset(
            d
            for stmt, value in taken.items()
            for d in (self._taken or {}).get(stmt, ())
            if d.value is value and d not in leaf.defs
        )

    def _without_keys(self, sliced: Backward, target: Set[Use]) -> Set[Def]:
        """What the target is made of, without that by which something was merely looked up."""
        keys = {
            (made, use)
            for made in sliced.made
            if isinstance(made.value, ast.Subscript)
            for use in self._flow.uses_in(made.value.slice)
        }
        edges = [edge for edge in sliced.edges if edge not in keys]
        found = {use.made for use in target}
        before = 0
        while before < len(found):
            before = len(found)
            found |= {use.made for user, use in edges if user in found}
        return found

    def lower(
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

    def _made_beside(self, leaf: Leaf) -> frozenset[Def]:
        """What the call that watches the source makes beside it, or puts where others find it."""
        stmts = {d.stmt for d in leaf.defs} if leaf.lent is not None else set()
        return frozenset(d for d in self._flow.defs.values() if stmts and d.stmt in stmts)

    def _set_by(self, leaf: Leaf) -> frozenset[Def]:
        """The calls of methods of the object, or of a class above, that set the source.

        It was not there before, and nothing can watch it while they run.
        """
        found: set[Def] = set()
        pending = [
            (use.made, d.path)
            for d in leaf.defs
            if d.kind is Kind.ENTRY and len(d.path) > 1
            for use in d.uses
        ]
        while pending:
            made, path = pending.pop()
            parts = self._ops.sets_parts(made) if made.kind is Kind.MUTATE else frozenset[str]()
            if made in found or not parts or made.path != path[:1]:
                continue
            if path[1].lstrip(".") in parts:
                found.add(made)
            else:  # it leaves the source as it was
                pending += [(use.made, path) for use in made.before]
        return frozenset(found)

    def _has_hidden_paths(self, leaf: Leaf, seen: frozenset[Def]) -> bool:
        """Whether a path that is not ``seen`` may lead from the source to the target.

        What is made here can only be watched from then on, whatever led from it before.
        """
        if not seen:
            return True
        passed = any(d.kind in _OUTSIDE for d in leaf.defs)
        elsewhere = (leaf.outside and leaf.variables) or leaf.found
        return (leaf.outside and passed) or (elsewhere and not leaf.fresh)

    def _finds(self, source: Def, made: Def) -> bool:
        """Whether a definition may come by a source that was made before, and not name it."""
        return (
            made.value is not None
            and made.begin > source.begin
            and made.kind not in (Kind.FUNCTION, Kind.CLASS)
            and any(isinstance(n, ast.Call) for n in walk(made.value))
            and self._may_find(made.value, source.path)
        )

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

    def _index(self, requests: Sequence[Request]) -> _Index:
        """Made once for all requests of a scope, which are asked for one after the other."""
        if self._indexed is None or self._indexed.requests is not requests:
            self._indexed = _Index(requests)
        return self._indexed


def _made_here(leaf: Leaf) -> Def | None:
    """The first definition of a source that the scope itself makes."""
    if any(d.stmt is None or d.kind in _OUTSIDE for d in leaf.defs):
        return None
    return min(leaf.defs, key=lambda d: d.begin, default=None)


def _is_looked_up(leaf: Leaf) -> bool:
    """Whether the source is taken out of something by a key: it was there before, or is new.

    ``params[2:]`` is a list of what was there before, where that is no tensor.
    """
    paths = {d.path for d in leaf.defs}
    made = [d for d in leaf.defs if d.value is None or path_of(d.value) not in paths]
    return bool(made) and all(
        d.kind is Kind.ASSIGN
        and isinstance(d.value, ast.Subscript)
        and not isinstance(d.value.slice, ast.Tuple)
        for d in made
    )

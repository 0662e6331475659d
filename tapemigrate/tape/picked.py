"""Containers and objects in which both the source and the target are looked up."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops import Ops
from tapemigrate.tape.request import Request
from tapemigrate.tape.syntax import STATIC, container_of

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)


class Picked:
    """Looks at what the sources of one scope are elements of."""

    def __init__(self, flow: Flow, ops: Ops) -> None:
        self._flow = flow
        self._ops = ops

    def looked_up_beside(
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
                or (isinstance(d.value, ast.Call) and self._ops.make(d) is Make.UNKNOWN)
                for d in origins(self._flow.reads.get(value.value, frozenset()))
            )
        }
        if not holders or leaf.watch is None:
            return None
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
        read = self._ops.paths_read([request.target, *(d.value for d in behind)])
        beside = [h for h in holders if any(p[: len(h)] == h and p[-1] not in STATIC for p in read)]
        return min(beside) if beside else None

    def picked_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The list of whose elements the sources are one part, and the target another one.

        ``ys = [p[k][0] for k in range(n)]; xs = [p[k][1] for k in range(n)]``
        """
        own: set[Def] = set()
        picks: list[ast.expr] = []
        stack: list[ast.AST] = [request.sources]
        while stack:
            node = stack.pop()
            match node:
                case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                    picks.append(elt)
                case ast.List() | ast.Tuple() | ast.Call() | ast.BinOp() | ast.Starred():
                    stack += children(node)
            for made in origins(self._flow.reads.get(node, ())) if path_of(node) else ():
                if made.kind is Kind.ASSIGN and made.value is not None and made not in own:
                    own.add(made)
                    stack.append(made.value)
        chosen = [each for pick in picks if (each := self._indices(pick)) is not None]
        if not chosen:
            return None
        behind = self._ops.cut(target, leaf.defs | own, frozenset(stops)).made - own
        for root in [request.target, *(d.value for d in behind if d.value is not None)]:
            for node in walk(root):
                read = self._indices(node) if isinstance(node, ast.Subscript) else None
                for held, indices in chosen if read is not None else ():
                    if read is not None and held & read[0] and _are_other(indices, read[1]):
                        return min(held, key=lambda d: d.path).path
        return None

    def share_a_part(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> bool:
        """Whether target and source are both looked up in one part of one object."""
        behind = self._ops.cut(target, frozenset(), frozenset(stops)).made
        mine = self._ops.paths_read([request.target, *(d.value for d in behind)])
        theirs = self._ops.paths_read([d.value for d in leaf.defs])
        parts = [{p[:2] for p in each if len(p) > 1} for each in (mine, theirs)]
        return bool(parts[0] & parts[1])

    def is_counted(self, request: Request, leaf: Leaf) -> bool:
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

    def _indices(self, node: ast.expr) -> tuple[frozenset[Def], list[ast.expr]] | None:
        """What ``p[k][1]`` looks up in what: the definitions of ``p``, and ``k`` and ``1``."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            indices.insert(0, node.slice)
            node = node.value
        if not indices or path_of(node) is None:
            return None
        return frozenset(origins(self._flow.reads.get(node, frozenset()))), indices


def _are_other(one: list[ast.expr], two: list[ast.expr]) -> bool:
    """Whether the indices differ in a constant, so that they name parts which are not the same."""
    return any(
        isinstance(mine, ast.Constant)
        and isinstance(theirs, ast.Constant)
        and mine.value != theirs.value
        for mine, theirs in zip(one, two, strict=False)
    )

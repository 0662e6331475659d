"""Containers and objects in which both the source and the target are looked up."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import INDEPENDENT, Kinds, Make
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.syntax import container_of, may_give_back, run_in
from tapemigrate.tape.request import Request

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)
_NAMED = (Kind.ASSIGN, Kind.ELEMENT, *_COUNTED)
_LISTERS = frozenset({"list", "tuple", "sorted", "reversed", "set", "zip", "enumerate", "dict"})


class Picked:
    """Looks at what the sources of one scope are elements of."""

    def __init__(self, flow: Flow, kinds: Kinds, ops: Ops) -> None:
        self._flow = flow
        self._kinds = kinds
        self._ops = ops

    def looked_up_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The container in which the source is looked up, if the target reads others from it."""
        holders = {
            path
            for part in self._looked_up(request, leaf)
            if (container := container_of(part)) is not None
            if (path := path_of(container)) is not None and self._holds_computed(container)
        }
        if not holders or leaf.watch is None:
            return None
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
        code = [part for d in behind if d.kind is Kind.FUNCTION for part in run_in(d)]
        read = self._ops.paths_read([request.target, *(d.value for d in behind), *code])
        parts = [p for p in read if not self._kinds.is_static(p[-1])]
        beside = [h for h in holders if any(p[: len(h)] == h for p in parts)]
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

    def shared_part(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The part of one object in which target and source are both looked up, if there is one."""
        behind = self._ops.cut(target, frozenset(), frozenset(stops)).made
        mine = self._ops.paths_read([request.target, *(d.value for d in behind)])
        theirs = self._ops.paths_read([d.value for d in leaf.defs])
        parts = [{p[:2] for p in each if len(p) > 1} for each in (mine, theirs)]
        return min(parts[0] & parts[1], default=None)

    def is_counted(self, request: Request, leaf: Leaf) -> bool:
        """Whether the source is looked up by numbers: in a list of inputs, not by its name."""
        found = [p.slice for p in self._looked_up(request, leaf)]
        return all(
            isinstance(index.value, int)
            if isinstance(index, ast.Constant)
            else any(u.made.kind in _COUNTED for u in self._flow.reads.get(index, ()))
            for index in found
        )

    def _holds_computed(self, container: ast.expr) -> bool:
        """Whether one element of it may have been made from another, out of sight or in a loop."""
        uses = self._flow.reads.get(container, frozenset())
        if any(
            made.kind in _OUTSIDE
            or (isinstance(made.value, ast.Call) and self._ops.make(made) is Make.UNKNOWN)
            for made in origins(uses)
        ):
            return True
        puts = [d.stmt for u in uses if (d := u.made).kind is Kind.MUTATE]
        values = [put.value if isinstance(put, ast.Assign) else None for put in puts]
        made_here = [v for v in values if v is None or self._kinds.make(v) not in INDEPENDENT]
        return len(made_here) > 1 or any(self._may_be_made_of_another(v) for v in made_here)

    def _may_be_made_of_another(self, value: ast.expr | None) -> bool:
        """Whether what is put somewhere in a loop was made of what was put there before."""
        if value is None:
            return True
        behind = backward(self._flow.uses_in(value)).made
        return any(
            d.kind not in _COUNTED and d in backward(frozenset(d.uses | d.before)).made
            for d in behind
        )

    def _looked_up(self, request: Request, leaf: Leaf) -> list[ast.Subscript]:
        """The elements of something that the source may be, or may be listed of."""
        found: list[ast.Subscript] = []
        stack: list[ast.AST] = _joined(request.sources)
        for made in leaf.defs:
            if made.kind in _NAMED and made.value is not None:
                whole = text_of(made.path) == leaf.watch
                stack += [made.value] if whole else _joined(made.value)
        while stack:
            node = stack.pop()
            match node:
                case ast.Subscript(slice=ast.Slice() | ast.Tuple(), value=value):
                    stack.append(value)
                case ast.Subscript():
                    found.append(node)
                case ast.IfExp(body=body, orelse=orelse):
                    stack += [body, orelse]
                case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                    continue  # new tensors
                case ast.Call() if not self._passes_on(node):
                    continue
                case ast.expr() | ast.comprehension() if not isinstance(node, ast.Lambda):
                    stack += children(node)
        return found

    def _passes_on(self, call: ast.Call) -> bool:
        """Whether the call gives what it is handed, or what is in it: ``list(d.values())``."""
        match call.func:
            case ast.Name(id=name):
                return name in _LISTERS or may_give_back(call, self._kinds)
            case ast.Attribute(attr="values" | "items" | "get"):
                return True
        name = self._kinds.tensorflow(call.func) or ""
        return name.startswith("nest.") or may_give_back(call, self._kinds)

    def _indices(self, node: ast.expr) -> tuple[frozenset[Def], list[ast.expr]] | None:
        """What ``p[k][1]`` looks up in what: the definitions of ``p``, and ``k`` and ``1``."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            indices.insert(0, node.slice)
            node = node.value
        if not indices or path_of(node) is None:
            return None
        return frozenset(origins(self._flow.reads.get(node, frozenset()))), indices


def _joined(value: ast.expr) -> list[ast.AST]:
    """The lists that ``a + b`` joins, if these are lists."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_joined(left), *_joined(right)]
    return [value]


def _are_other(one: list[ast.expr], two: list[ast.expr]) -> bool:
    """Whether the indices differ in a constant, so that they name parts which are not the same."""
    return any(
        isinstance(mine, ast.Constant)
        and isinstance(theirs, ast.Constant)
        and mine.value != theirs.value
        for mine, theirs in zip(one, two, strict=False)
    )

"""Arithmetic among sources: lists that are added up or repeated, sets of which some are taken."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Sources, assuming
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.syntax import PARAMETERS_BY_NAME

#: What makes a list, a dict or a set by itself.
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
REPEATED = "unless `{0}` is a number, `{1}` is no list of sources but one tensor"


class SourceArithmetic:
    """``read`` tells what an expression stands for, ``of`` what a definition gives; how deep."""

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        read: Callable[[ast.expr, int], Sources],
        of: Callable[[Def, int], Sources],
    ) -> None:
        self._flow = flow
        self._kinds = kinds
        self._read = read
        self._of = of

    def result(self, node: ast.BinOp, depth: int) -> Sources | None:
        """What the operator makes of sources, None where that is one tensor."""
        match node.op:
            case ast.Add():
                return self._joined(node, depth)
            case ast.Mult():
                return self._repeated(node, depth)
            case ast.Sub() | ast.BitOr() | ast.BitAnd() | ast.BitXor():
                return self._of_sets(node, depth)
        return None

    def is_number(self, node: ast.expr, depth: int) -> bool:
        """Whether arithmetic gives a tensor: a list can only be added, or multiplied by a count."""
        if isinstance(node, ast.BinOp):
            whole = not isinstance(node.op, ast.Add | ast.Mult)
            return whole or any(self.is_number(s, depth) for s in (node.left, node.right))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        return isinstance(node, ast.UnaryOp) or self._read(node, depth + 1).single is True

    def begun(self, made: Def, depth: int) -> set[bool | None]:
        """What was there before the first change in place: single tensors, lists, or either."""
        begun = [d for d in lineage(made) if d.kind not in (Kind.AUGMENT, Kind.MUTATE)]
        return {self._of(d, depth + 1).single for d in begun}

    def _joined(self, node: ast.BinOp, depth: int) -> Sources | None:
        """``a + b`` of two lists, None where it is one tensor.

        Nothing depends on a sum of tensors that the call itself makes: there, lists are meant.
        """
        found = Sources(single=False, listed=True)
        for side in (node.left, node.right):
            part = self._read(side, depth + 1)
            if part.single or (part.single is None and depth and not _is_called_variables(side)):
                return None
            if part.single is None:
                part.leaves = [assuming(x, f"`{ast.unparse(side)}` is a list") for x in part.leaves]
            found.leaves += part.leaves
            found.refusal = found.refusal or part.refusal
            found.references += part.references
            found.nested |= part.nested
            found.listed &= part.listed
        return found

    def _repeated(self, node: ast.BinOp, depth: int) -> Sources | None:
        """``a * 2`` of a list, None where it is no list."""
        for side, times in ((node.left, node.right), (node.right, node.left)):
            part = self._read(side, depth + 1)
            if part.used:
                return part
            if part.single is False and self._is_count(times):
                return part
            listed = part.single is False or self._may_be_list(side, depth)
            if listed and not part.refusal:
                return Sources(refusal=REPEATED.format(ast.unparse(times), ast.unparse(node)))
        return None

    def _may_be_list(self, node: ast.expr, depth: int) -> bool:
        """Whether a list was added to it, and it was no tensor: ``ws += [w]``."""
        return any(
            isinstance(made.value, DISPLAYS) and True not in self.begun(made, depth)
            for made in origins(self._flow.reads.get(node, frozenset()))
            if made.kind is Kind.AUGMENT
        )

    def _of_sets(self, node: ast.BinOp, depth: int) -> Sources | None:
        """``set(a) - set(b)`` of variables, None where it is no set."""
        sides = [self._read(side, depth + 1) for side in (node.left, node.right)]
        if any(side.single is not False or side.refusal for side in sides):
            return None
        # What is taken away leaves nothing there that was not in the first.
        held = sides[:1] if isinstance(node.op, ast.Sub) else sides
        leaves = [x for side in held for x in side.leaves]
        if any(x.watch is not None for x in leaves):
            return Sources(refusal=f"which tensors `{ast.unparse(node)}` holds cannot be seen")
        return Sources(leaves, False)

    def _is_count(self, node: ast.expr) -> bool:
        """Whether it is a number, written out or by a name."""
        made = origins(self._flow.reads.get(node, frozenset()))
        if made and all(d.kind is Kind.ASSIGN and d.path == path_of(node) for d in made):
            return all(d.value is not None and self._is_whole(d.value) for d in made)
        return self._is_whole(node)

    def _is_whole(self, node: ast.expr) -> bool:
        return self._kinds.make(node) is Make.PYTHON and not any(
            isinstance(n, ast.Constant) and isinstance(n.value, float) for n in walk(node)
        )


def _is_called_variables(node: ast.expr) -> bool:
    """``d_vars``: nobody calls one tensor so."""
    path = path_of(node)
    return path is not None and PARAMETERS_BY_NAME.search(path[-1].lstrip(".")) is not None


def lineage(made: Def) -> set[Def]:
    """A change in place, the changes before it, and what they began with."""
    found: set[Def] = set()
    pending = [made]
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            pending += [use.made for use in each.before]
            if each.kind is Kind.AUGMENT:
                pending += [use.made for use in each.uses if use.made.path == each.path]
    return found

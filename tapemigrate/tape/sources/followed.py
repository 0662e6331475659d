"""A source that has been given a name: what it was before, where that is worth following."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import kept, walk
from tapemigrate.tape.leaf import Leaf, Sources, renamed
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.symbols import filters, flattens
from tapemigrate.tape.sources.made_sources import FRESH, MadeSources
from tapemigrate.tape.sources.no_tensors import PYTHON_VALUE

_LISTERS = frozenset({"list", "tuple", "sorted", "reversed", "set"})


class Followed:
    """Goes through names to what they were given; ``read`` tells what an expression stands for."""

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        made: MadeSources,
        read: Callable[[ast.expr, int], Sources],
    ) -> None:
        self._flow = flow
        self._kinds = kinds
        self._made = made
        self._read = read

    def through(self, made: Def, text: str, place: Point, depth: int) -> Sources | None:
        """A name given to something that is itself worth following; the call ends at ``place``."""
        value = made.value
        defs = frozenset({made})
        if isinstance(value, ast.Set | ast.SetComp):
            return Sources(refusal=f"`{text}` is a set, which a tape does not watch", used=True)
        if isinstance(value, ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp):
            found = self._read(value, depth + 1)
            if found.refusal and found.used:
                return found
            if found.refusal and _holds_python_values(value):
                return Sources(refusal=PYTHON_VALUE)
            if found.refusal or any(not x.defs and _is_unknown(x) for x in found.leaves):
                # Its elements have no names of their own: the list is what is used, and watched.
                # What an unknown call gives may be what it was given.
                outside = any(
                    isinstance(n, ast.Call) and self._kinds.make(n) is Make.UNKNOWN
                    for n in walk(value)
                )
                leaf = Leaf(defs, text, outside, True, found=self._made.may_find(value))
                # Those that have names may have been used by them before.
                named = [x for x in found.leaves if x.defs]
                listed = not isinstance(value, ast.Tuple)
                return Sources([*named, leaf], False, None, listed, nested=found.nested)
            # Variables that are made in the list are read by its name, and so from there on.
            found.leaves = [
                replace(x, defs=defs) if x.fresh and not x.defs else x for x in found.leaves
            ]
            return found
        if isinstance(value, ast.BoolOp | ast.IfExp):
            found = self._read(value, depth + 1)
            if found.leaves and not found.refusal and all(x.variables for x in found.leaves):
                found.leaves = [replace(x, defs=x.defs | defs) for x in found.leaves]
                return found
        if value is not None and path_of(value) is not None:
            found = self._read(value, depth + 1)
            if len(found.leaves) == 1 and found.single is not False:
                leaf = found.leaves[0]
                if not leaf.defs and leaf.watch is None:
                    return found  # variables of which nothing here is the definition
                shown = text if text.isidentifier() else leaf.watch
                shown = shown if leaf.watch is not None else None
                both = leaf.defs - self._from_before(made, value, place) | defs
                anew = shown not in (None, text) and (leaf.now or self._is_given_anew(value, both))
                alias = replace(
                    renamed(leaf),
                    defs=both,
                    watch=shown,
                    fresh=self._is_new_variable(leaf, value),
                    now=text if anew else "",
                )
                return Sources([alias], found.single, found.refusal)
            return found
        if isinstance(value, ast.Call) and listed_by(self._kinds, value) is not None:
            found = self._read(value, depth + 1)
            if all(x.defs or (x.watch is None and not _is_unknown(x)) for x in found.leaves):
                return found
            # Its elements have no names of their own: the list is what is used, and watched.
            return Sources([Leaf(defs, text, True, True, found=True)], False, found.refusal)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr == "values" and not value.args:
                return self._read(value, depth + 1)
        if isinstance(value, ast.BinOp):
            found = self._read(value, depth + 1)
            if isinstance(value.op, ast.Add):
                return found if found.single is False and not found.refusal else None
            return None if found.refusal == FRESH else found
        if isinstance(value, ast.IfExp):
            found = self._read(value, depth + 1)
            return found if found.leaves and not found.refusal else None
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            found = self._read(value.value, depth + 1)
            if found.single is None and not found.refusal and self._is_gone_through(made):
                # A list of what was there before: a tensor would have been unstacked.
                variables = any(x.variables for x in found.leaves)
                return Sources([Leaf(defs, text, True, None, variables, found=True)], False)
            return found if found.single is False and not found.refusal else None
        return None

    def _is_new_variable(self, leaf: Leaf, name: ast.expr) -> bool:
        """Whether a variable that was made in this round gets a second name, and no watch by it."""
        if not (leaf.fresh and leaf.variables and leaf.many is False and leaf.watch is None):
            return False
        uses = self._flow.reads.get(name, frozenset())
        return isinstance(name, ast.Name) and not any(u.carried for u in uses)

    def _is_gone_through(self, made: Def) -> bool:
        """Whether a loop or a comprehension takes one element after the other out of it."""
        return any(
            use.made is made
            for each in self._flow.defs.values()
            if each.kind in (Kind.LOOP, Kind.COMPREHENSION) and each.value is not None
            for use in self._flow.uses_in(each.value)
        )

    def _is_given_anew(self, name: ast.expr, known: frozenset[Def]) -> bool:
        """Whether a name, or a part of an object, gets other values than ``known`` somewhere."""
        path = path_of(name)
        return path is not None and any(
            d.path == path and d.stmt is not None and d.kind is not Kind.MUTATE
            for d in self._flow.given(path[0])
            if d not in known
        )

    def _from_before(self, made: Def, value: ast.expr, place: Point) -> frozenset[Def]:
        """What a loop gave the name the round before, and gives it again before the call.

        ``w = x; x = tf.sin(x)``: the target may be the next ``x``, and is made of this one. So it
        is where a further loop gives it below the call.
        """
        carried = [u.made for u in self._flow.reads.get(value, frozenset()) if u.carried]
        carried = [d for d in carried if d.stmt is not None and d.kind is not Kind.MUTATE]
        if not carried:
            return frozenset()
        first = made.begin
        last = max(
            [end(loop) for loop in self._loops(place) if first < begin(loop)],
            default=place,
        )
        return frozenset(d for d in carried if d.stmt is not None and first <= begin(d.stmt) < last)

    def _loops(self, place: Point) -> list[ast.For | ast.While | ast.AsyncFor]:
        """The loops round the call, which ends at ``place``."""
        loops = kept(self._flow.scope, _loops_in)
        return [n for n in loops if begin(n) < place <= end(n)]


def _loops_in(scope: ast.AST) -> list[ast.For | ast.While | ast.AsyncFor]:
    return [n for n in walk(scope) if isinstance(n, ast.For | ast.While | ast.AsyncFor)]


def listed_by(kinds: Kinds, call: ast.Call) -> ast.expr | None:
    """What the call lists, some of it or all: ``list(x)``, ``filter(f, x)``."""
    if not call.args or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if filters(kinds.name(call.func)):
        return call.args[0]
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name == "filter" and len(call.args) == 2 and kinds.called(call) is None:
        return call.args[1]
    if len(call.args) != 1:
        return None
    listing = name in _LISTERS or flattens(kinds.name(call.func))
    return call.args[0] if listing else None


def _holds_python_values(node: ast.expr) -> bool:
    """Whether a list or dict, as it is written, has numbers or texts among its elements."""
    if isinstance(node, ast.Dict):
        return any(map(_holds_python_values, node.values))
    if isinstance(node, ast.List | ast.Tuple):
        return any(map(_holds_python_values, node.elts))
    return isinstance(node, ast.Constant)


def _is_unknown(leaf: Leaf) -> bool:
    """Whether it need not be a variable, for what a call out of sight gives may be anything."""
    return not leaf.variables or (leaf.many is None and leaf.assumption is not None)

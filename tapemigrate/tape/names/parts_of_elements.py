"""Objects that are gone through for one of their parts, and again for another one.

``losses = [net.loss for net in nets]; weights = [net.weights for net in nets]``: what one object
holds may have been computed from the other things that it holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds

_TAKEN = (Kind.LOOP, Kind.COMPREHENSION)


class PartsOfElements:
    """Looks at what is read of the elements that loops and comprehensions go through."""

    def __init__(self, flow: Flow, kinds: Kinds) -> None:
        self._flow = flow
        self._kinds = kinds
        self._found: dict[ast.expr, dict[Def, set[str]]] = {}

    def read_beside(self, one: ast.expr | None, others: Iterable[ast.expr | None]) -> Def | None:
        """The list of whose elements ``one`` is made, and another of other parts of them."""
        mine = self._read(one)
        if not mine:
            return None
        beside = (each for value in others for each in self._read(value).items())
        found = (made for made, parts in beside if made in mine and parts - mine[made])
        return min(found, key=lambda d: d.path, default=None)

    def _read(self, value: ast.expr | None) -> dict[Def, set[str]]:
        """The attributes that are read of what is taken out of what."""
        if value is None:
            return {}
        if value not in self._found:
            found: dict[Def, set[str]] = {}
            for node, attribute in _parts_read(value, self._kinds):
                for holder in self._gone_through(node):
                    found.setdefault(holder, set()).add(attribute)
            for call in (n for n in walk(value) if isinstance(n, ast.Call)):
                for given, attribute in self._read_by(call):
                    for made in origins(self._flow.reads.get(given, frozenset())):
                        found.setdefault(made, set()).add(attribute)
            self._found[value] = found
        return self._found[value]

    def _gone_through(self, node: ast.Attribute) -> set[Def]:
        """What the object is taken out of whose attribute ``node`` reads."""
        uses = self._flow.reads.get(node) or self._flow.reads.get(node.value, frozenset())
        return {
            holder
            for made in origins(uses)
            if made.kind in _TAKEN and made.value is not None and path_of(made.value) is not None
            for holder in origins(self._flow.reads.get(made.value, frozenset()))
        }

    def _read_by(self, call: ast.Call) -> list[tuple[ast.expr, str]]:
        """The lists that a function of the file is handed, with what it reads of their elements."""
        function = self._kinds.called(call) if call.args else None
        if not isinstance(function, NamedFunction):
            return []
        names = [a.arg for a in parameters(function.args)]
        handed = {n: a for n, a in zip(names, call.args, strict=False) if isinstance(a, ast.Name)}
        loops = [n for n in walk(function) if isinstance(n, ast.comprehension | ast.For)]
        taken = {
            each.target.id: each.iter.id
            for each in loops
            if isinstance(each.target, ast.Name) and isinstance(each.iter, ast.Name)
        }
        return [
            (handed[taken[node.value.id]], attribute)
            for node, attribute in _parts_read(function, self._kinds)
            if isinstance(node.value, ast.Name) and taken.get(node.value.id) in handed
        ]


def _parts_read(root: ast.AST, kinds: Kinds) -> Iterator[tuple[ast.Attribute, str]]:
    """What attributes are read of which names; a method computes where it is called."""
    nodes = list(walk(root))
    called = {n.func for n in nodes if isinstance(n, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node not in called:
            if isinstance(node.value, ast.Name) and not kinds.is_static(f".{node.attr}"):
                yield node, node.attr

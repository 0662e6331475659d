"""What a source is looked up in: objects and containers that held it before it had a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.symbols import flattens
from tapemigrate.tape.ops.syntax import VARIABLES_BY_NAME, giving

_LISTERS = frozenset({"dict", "list", "tuple", "sorted", "reversed", "set", "OrderedDict", "zip"})
_COPIES = frozenset({"list", "tuple", "sorted", "reversed"})
_TAKEN_FROM = (Kind.LOOP, Kind.COMPREHENSION)
# Through how many names what is unpacked is followed.
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Given:
    """A call of which the parts were unpacked, and the ``names`` that all of them had before.

    ``in_order``: the parts are unpacked as the call gave them.
    """

    call: ast.Call
    names: frozenset[Def]
    in_order: bool


class Lookups:
    """Follows the names, attributes and elements of one scope back to what holds them."""

    def __init__(self, flow: Flow, kinds: Kinds) -> None:
        self._flow = flow
        self._kinds = kinds
        self._seen: set[tuple[Def, bool]] = set()
        self._by_name = True

    def holders(self, made: Def, *, by_name: bool = True) -> set[Def]:
        """The definitions of what ``made`` was taken out of, by no op: ``net.layers[i].output``.

        Variables watch themselves, wherever they are kept; ``by_name``: what is called so is taken
        for them.
        """
        found: set[Def] = set()
        self._seen.clear()
        self._by_name = by_name
        self._value(made, False, found)
        return found

    def given_by(self, made: Def) -> list[Given]:
        """The calls that gave what was unpacked, at once or from a name that it was given.

        There are several where a condition takes one, or a name has more than one value.
        """
        return list(self._calls(made.value, frozenset(), True, _DEPTH))

    def _calls(
        self, value: ast.expr | None, names: frozenset[Def], in_order: bool, depth: int
    ) -> Iterator[Given]:
        parts: list[ast.expr] = []
        match value:
            case _ if depth == 0:
                return
            case ast.Subscript(value=whole, slice=ast.Slice()):
                parts, in_order = [whole], False
            case ast.Subscript(value=ast.List() | ast.Tuple() as whole):
                parts = whole.elts
            case ast.Call(func=ast.Name(id=name), args=[whole, *_]) if name in _COPIES:
                parts, in_order = [whole], in_order and name in ("list", "tuple")
            case ast.Call():
                yield Given(value, names, in_order)
            case ast.IfExp():
                parts = [value.body, value.orelse]
            case ast.BoolOp():
                parts = value.values
            case ast.NamedExpr():
                parts = [value.value]
            case ast.expr() if isinstance(call := giving(value), ast.Call):
                parts, in_order = [call], False  # ``f(x)["parts"]``
            case ast.Attribute(attr=name) if f".{name}" in self._kinds.effects.properties:
                yield Given(ast.Call(value, [], []), names, in_order)
            case ast.expr() if path_of(value) is not None:
                yield from self._calls_of_name(value, names, in_order, depth)
        for part in parts:
            yield from self._calls(part, names, in_order, depth - 1)

    def _calls_of_name(
        self, name: ast.expr, names: frozenset[Def], in_order: bool, depth: int
    ) -> Iterator[Given]:
        uses = self._flow.reads.get(name, frozenset())
        found = origins(uses)
        in_order = in_order and all(u.made in found for u in uses)
        for made in sorted(found - names, key=lambda d: d.begin):
            if made.kind is Kind.ASSIGN and made.path == path_of(name):
                yield from self._calls(made.value, names | {made}, in_order, depth - 1)

    def _value(self, made: Def, part: bool, found: set[Def]) -> None:
        if made.value is not None and made.kind in _TAKEN_FROM:
            self._elements(made.value, part, found)
        elif made.value is not None and made.kind is Kind.ASSIGN:
            self._follow(made.value, part, found)

    def _elements(self, node: ast.expr, part: bool, found: set[Def]) -> None:
        """Adds what the elements of ``node`` are, or are taken out of."""
        if isinstance(node, ast.List | ast.Tuple):
            for element in node.elts:
                self._follow(element, part, found)
        elif isinstance(node, ast.Call) and path_of(node.func) in (("zip",), ("enumerate",)):
            for argument in node.args:
                self._elements(argument, part, found)
        else:
            self._follow(node, True, found)

    def _follow(self, node: ast.expr, part: bool, found: set[Def]) -> None:
        """Adds what ``node`` is taken out of; ``part``: a part of its value is what is meant."""
        path = path_of(node)
        if isinstance(node, ast.Attribute) and (
            self._kinds.is_static(f".{node.attr}")
            or (self._by_name and VARIABLES_BY_NAME.search(node.attr))
        ):
            return
        match node:
            case _ if path is not None and node in self._flow.reads:
                for made in origins(self._flow.reads[node]):
                    self._name(made, part or len(made.path) < len(path), found)
            case ast.Attribute():
                self._follow(node.value, True, found)
            case ast.Subscript() | ast.Starred():
                listed = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript)
                self._follow(node.value, part or listed, found)
            case ast.ListComp() | ast.GeneratorExp():
                self._follow(node.elt, part, found)
            case ast.List() | ast.Tuple():
                self._elements(node, part, found)
            case ast.IfExp():
                self._follow(node.body, part, found)
                self._follow(node.orelse, part, found)
            case ast.Call():
                self._call(node, part, found)

    def _call(self, call: ast.Call, part: bool, found: set[Def]) -> None:
        func = call.func
        if path_of(func) == ("getattr",) and call.args:
            self._follow(call.args[0], True, found)
        elif flattens(self._kinds.name(func)) or (
            isinstance(func, ast.Name) and func.id in _LISTERS
        ):
            for argument in call.args:
                self._follow(argument, True, found)
        elif part and isinstance(func, ast.Attribute) and func.attr != "keys":
            if self._kinds.name(func) is None:
                self._follow(func.value, True, found)

    def _name(self, made: Def, part: bool, found: set[Def]) -> None:
        if made in found or (made, part) in self._seen:
            return  # two names may be given each other's value round a loop
        self._seen.add((made, part))
        if part:
            found.add(made)
        self._value(made, part, found)

"""Which names may mean one tensor: what lists, choices and calls like ``next`` hand on as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.flow.unpacking import pairs
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.operands import Operands
from tapemigrate.tape.ops.syntax import may_give_back

_HOLDERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.DictComp, ast.SetComp)
_CONTAINERS = frozenset(
    {"list", "tuple", "dict", "set", "zip", "reversed", "sorted", "OrderedDict"}
)
_GIVERS = _CONTAINERS | {"next", "iter", "max", "min", "enumerate", "copy"}
_METHODS = frozenset({"get", "pop", "popleft", "popitem", "setdefault", "values", "items", "copy"})
_FOLLOWED = (Kind.ASSIGN, Kind.ELEMENT)


class Aliases:
    """Looks through the definitions of one scope."""

    def __init__(self, flow: Flow, kinds: Kinds, operands: Operands) -> None:
        self._flow = flow
        self._kinds = kinds
        self._operands = operands

    def are_followed(self, made: Def) -> bool:
        """Whether the value may be one that has another name, and is no such name by itself."""
        named = made.value is not None and path_of(made.value) is not None
        if made.kind not in _FOLLOWED or (named and made.kind is Kind.ASSIGN):
            return False
        return bool(self._parts(made))

    def holds_several(self, made: Def) -> bool:
        """Whether the value is a container, not one of several by a choice."""
        return made.value is not None and self._is_container(made.value)

    def behind(self, made: Def) -> set[Def]:
        """The definitions of which ``made`` may be, or hold, the very tensors."""
        return self._closed(self._parts(made))

    def ahead(self, names: set[Def], among: Iterable[Def]) -> set[Def]:
        """``names``, and those of ``among`` that may be, or hold, the tensors of one of them."""
        found = set(names)
        before = -1
        while before != len(found):
            before = len(found)
            found |= {d for d in among if d.kind in _FOLLOWED and self.behind(d) & names}
        return found

    def computes(
        self, made: Def, names: set[Def], but: Callable[[ast.Call], bool] = lambda call: False
    ) -> bool:
        """Whether an op works on one of ``names`` where ``made`` is defined.

        ``but`` tells methods that do not, whatever their object holds.
        """
        if made.value is None:
            return any(d in names for u in made.uses for d in origins([u]))
        calls = [n for n in walk(made.value) if isinstance(n, ast.Call)]
        handed = {*self._names(made.value)}
        handed |= {c.func for c in calls if self._given_back(c) or but(c)}
        read = [n for n in self._operands.paths(made.value) if n not in handed]
        return bool(self._closed(read) & names)

    def elements(self, made: Def) -> set[ast.expr]:
        """What the definition may take out of a display, and has no name of its own there."""
        taken, value = self._taken(made), made.value
        if any(taken):
            return {element for element in taken if element and not self._names(element)}
        counted = isinstance(value, ast.Subscript) and path_of(value) is None
        if made.kind is not Kind.ASSIGN or not counted or not isinstance(value, ast.Subscript):
            return set()
        if isinstance(value.slice, ast.Slice | ast.Tuple):
            return set()
        listed = origins(self._flow.reads.get(value.value, frozenset()))
        return {e for d in listed for e in _listed(d) if not self._names(e)}

    def works_on(self, made: Def, elements: set[ast.expr]) -> str:
        """By what name an op works on one of ``elements`` where ``made`` is defined, if it does."""
        if made.value is None or isinstance(made.value, ast.Name | ast.Attribute | ast.Subscript):
            return ""  # taken out, or named once more
        for node in self._operands.paths(made.value):
            for holder in origins(self._flow.reads.get(node, frozenset())):
                element = _at(holder, node)
                if not elements.isdisjoint([element] if element else _listed(holder)):
                    return ast.unparse(node)
        return ""

    def _closed(self, nodes: list[ast.expr]) -> set[Def]:
        found: set[Def] = set()
        stack = list(nodes)
        while stack:
            node = stack.pop()
            for made in origins(self._flow.reads.get(node, frozenset())):
                element = _at(made, node)
                if element is not None:
                    stack += self._names(element)
                elif made not in found:
                    found.add(made)
                    stack += self._parts(made) if made.kind in _FOLLOWED else []
        return found

    def _parts(self, made: Def) -> list[ast.expr]:
        if made.value is None:
            return []
        taken = self._taken(made)
        if not taken or None in taken:
            taken.append(made.value)  # it takes something out of what is no display
        return [name for each in taken if each is not None for name in self._names(each)]

    def _taken(self, made: Def) -> list[ast.expr | None]:
        """What of displays the definition may take, ``b`` of ``a, b = pair``; None for others."""
        stmt, value = made.stmt, made.value
        if made.kind is not Kind.ELEMENT or not isinstance(stmt, ast.Assign):
            return []
        values = [value]
        if isinstance(value, ast.Name):
            values = [d.value for d in origins(self._flow.reads.get(value, frozenset()))]
        targets = [t for t in stmt.targets if isinstance(t, ast.Tuple | ast.List)]
        return [_given_to(made, t, each) for t in targets for each in values]

    def _names(self, value: ast.expr) -> list[ast.expr]:
        """The names in an expression that its value may be, or hold."""
        parts: list[ast.expr] = []
        match value:
            case ast.IfExp():
                parts = [value.body, value.orelse]
            case ast.BoolOp():
                parts = value.values
            case ast.Starred() | ast.NamedExpr():
                parts = [value.value]
            case ast.List() | ast.Tuple() | ast.Set():
                parts = value.elts
            case ast.Dict():
                parts = value.values
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                plain = isinstance(value.elt, ast.Name)
                parts = [g.iter for g in value.generators] if plain else [value.elt]
            case ast.BinOp(op=ast.Add()) if self._joins(value):
                parts = [value.left, value.right]
            case ast.Call():
                parts = self._given_back(value)
            case _ if path_of(value) is not None:
                return [value]
            case ast.Subscript() if not isinstance(value.slice, ast.Slice | ast.Tuple):
                parts = [value.value] if self._is_container(value.value) else []
        return [name for part in parts for name in self._names(part)]

    def _joins(self, node: ast.expr) -> bool:
        """Whether a sum is one of lists: one side of it is one for certain."""
        if isinstance(node, ast.IfExp):
            return self._joins(node.body) or self._joins(node.orelse)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joins(node.left) or self._joins(node.right)
        return isinstance(node, ast.List | ast.Tuple | ast.ListComp)

    def _given_back(self, call: ast.Call) -> list[ast.expr]:
        func = call.func
        path = path_of(func)
        if path is None:
            return []
        if isinstance(func, ast.Attribute) and path[-1].lstrip(".") in _METHODS:
            if self._is_container(func.value):
                return [func.value, *call.args[1:]]
        if (len(path) == 1 or path[0] in ("copy", "collections")) and (
            path[-1].lstrip(".") in _GIVERS and self._kinds.called(call) is None
        ):
            return [*call.args, *(k.value for k in call.keywords if k.arg != "key")]
        if self._kinds.keeps_arguments(call) or self._kinds.may_keep_arguments(call):
            return arguments_of(call)
        return call.args[:1] if may_give_back(call, self._kinds) else []

    def _is_container(self, owner: ast.expr) -> bool:
        """Whether the expression is a list, tuple, dict or set of Python's for certain."""
        if isinstance(owner, _HOLDERS):
            return True
        if isinstance(owner, ast.Call):
            path = path_of(owner.func)
            return path is not None and path[-1].lstrip(".") in _CONTAINERS | {"copy"}
        made = origins(self._flow.reads.get(owner, frozenset()))
        return bool(made) and all(
            d.kind is Kind.ASSIGN
            and d.value is not None
            and path_of(d.value) is None
            and self._is_container(d.value)
            for d in made
        )


def _given_to(made: Def, target: ast.Tuple | ast.List, value: ast.expr | None) -> ast.expr | None:
    """What of a display the target gives to what ``made`` does."""
    each = (pairs(target, value) if value is not None else None) or ()
    return next((element for part, element in each if path_of(part) == made.path), None)


def _listed(made: Def) -> list[ast.expr]:
    """The elements of a display."""
    if made.kind is Kind.ASSIGN and isinstance(made.value, ast.List | ast.Tuple):
        return made.value.elts
    return []


def _at(made: Def, node: ast.expr) -> ast.expr | None:
    """The element of the display ``made`` that ``node`` reads: ``pair[0]``."""
    if not isinstance(node, ast.Subscript) or not isinstance(made.value, ast.List | ast.Tuple):
        return None
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if made.kind is not Kind.ASSIGN or path_of(node.value) != made.path:
        return None
    if any(isinstance(e, ast.Starred) for e in made.value.elts) or not isinstance(index, int):
        return None
    return made.value.elts[index] if 0 <= index < len(made.value.elts) else None

"""Functions of the user's that do no more than ops would in their place: ``lerp(a, b, t)``.

What such a function gives is a new tensor, made of nothing but what it is handed, and nothing else
that it computes can be met again.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tapemigrate.flow.functions import parameters
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.ops.symbols import COLLECTING, gives_back

if TYPE_CHECKING:
    from tapemigrate.tape.ops.kinds import Kinds

# Ops that give a list of tensors, and what runs code that it is handed.
_NOT_ONE = frozenset(
    {"split", "unstack", "unpack", "meshgrid", "dynamic_partition", "gradients", "hessians"}
    | {"py_func", "numpy_function", "py_function", "map_fn", "foldl", "foldr", "scan"}
    | {"while_loop", "cond", "case", "identity_n", "group", "no_op"}
)
_ELSEWHERE = (*COLLECTING, "contrib.", "keras.", "summary.", "assign", "scatter_")
_SCOPES = frozenset({"name_scope", "device"})
_EXPRESSIONS = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.keyword),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr),
    *(ast.FormattedValue, ast.List, ast.Tuple, ast.expr_context, ast.operator, ast.unaryop),
    *(ast.boolop, ast.cmpop),
)
# What says of which type and shape something is: it runs nothing, and makes nothing.
_SAYING = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.keyword),
    *(ast.BinOp, ast.UnaryOp, ast.List, ast.Tuple, ast.expr_context, ast.operator, ast.unaryop),
)


def only_computes(function: ast.FunctionDef | ast.AsyncFunctionDef, kinds: Kinds) -> bool:
    """Whether it gives one new tensor, and neither keeps, reads nor runs what ops would not.

    ``kinds`` are those of the file in which it stands.
    """
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    return _Body(function, kinds).only_computes()


class _Body:
    def __init__(self, function: ast.FunctionDef, kinds: Kinds) -> None:
        self._function = function
        self._kinds = kinds
        self._own = {each.arg for each in parameters(function.args)}
        self._made: dict[str, list[ast.expr]] = {}
        self._given: list[ast.expr] = []

    def only_computes(self) -> bool:
        if not all(map(self._statement, self._function.body)):
            return False
        nodes = (n for e in self._expressions() for n in self._nodes(e))
        return (
            bool(self._given)
            and all(map(self._is_plain, nodes))
            and all(self._is_new(value, frozenset()) for value in self._given)
        )

    def _statement(self, stmt: ast.stmt) -> bool:
        """Whether it is one that only computes; takes down what it makes and gives."""
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._made.setdefault(name, []).append(value)
                return True
            case ast.Return(value=value) if value is not None:
                self._given.append(value)
                return True
            case ast.With():
                named = {self._kinds.tensorflow(_called(i.context_expr)) for i in stmt.items}
                plain = named <= _SCOPES and all(i.optional_vars is None for i in stmt.items)
                return plain and all(map(self._statement, stmt.body))
            case ast.If():
                return all(map(self._statement, [*stmt.body, *stmt.orelse]))
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert():
                return True
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="set_shape"))):
                return True
        return False

    def _expressions(self) -> Iterator[ast.expr]:
        for node in walk(self._function):
            match node:
                case ast.Assign(value=value) | ast.If(test=value) | ast.Assert(test=value):
                    yield value
                case ast.Return(value=value) if value is not None:
                    yield value
                case ast.Expr(value=ast.Call(args=args)):
                    yield from args

    def _nodes(self, node: ast.AST) -> Iterator[ast.AST]:
        """All parts, but for what only says how a placeholder is made: ``(n, *model.shape)``."""
        yield node
        made = isinstance(node, ast.Call) and self._kinds.tensorflow(node.func) == "placeholder"
        for part in children(node):
            if not (made and all(isinstance(n, _SAYING) for n in walk(part))):
                yield from self._nodes(part)

    def _is_plain(self, node: ast.AST) -> bool:
        """Whether a part of an expression reads nothing but what is handed in, and runs ops."""
        match node:
            case ast.Call():
                return self._is_op(node)
            case ast.Attribute():
                known = node.attr in _METHODS or self._is_imported(node)
                return known or self._kinds.is_number(node)
            case ast.Name():
                own = node.id in self._own or node.id in self._made
                return own or hasattr(builtins, node.id) or self._is_imported(node)
        return isinstance(node, _EXPRESSIONS)

    def _is_imported(self, node: ast.expr) -> bool:
        return self._kinds.name(node) is not None

    def _is_op(self, call: ast.Call) -> bool:
        name = self._kinds.tensorflow(call.func)
        if name is None:
            return self._kinds.is_number(call) or self._kinds.only_computes(call)
        if name.startswith(_ELSEWHERE) or name.rpartition(".")[2] in _NOT_ONE:
            return False
        return self._kinds.is_value(call)

    def _is_new(self, value: ast.expr, seen: frozenset[str]) -> bool:
        """Whether it is a tensor that is made here."""
        match value:
            case ast.Name(id=name):
                known = name not in self._own and name in self._made and name not in seen
                return known and all(self._is_new(v, seen | {name}) for v in self._made[name])
            case ast.UnaryOp(operand=operand):
                return self._is_new(operand, seen)
            case ast.BinOp():
                return self._is_computed(value, seen)
            case ast.Call():
                op = self._kinds.tensorflow(value.func)
                if op is None:
                    return self._kinds.only_computes(value)
                return not gives_back(op)
        return False

    def _is_computed(self, value: ast.BinOp, seen: frozenset[str]) -> bool:
        """Whether arithmetic makes it: lists are added and repeated, and hold what they held."""
        if self._kinds.effects.has_operators:
            return False  # they may give anything
        if isinstance(value.op, ast.Sub | ast.Div | ast.Pow | ast.MatMult):
            return True
        sides = (value.left, value.right)
        return any(self._is_new(side, seen) for side in sides)


_METHODS = frozenset({"get_shape", "as_list", "set_shape", "num_elements"})


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node

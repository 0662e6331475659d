"""What is known of the arguments that a made function is called with."""

from __future__ import annotations

import ast
from typing import cast

from tapemigrate.flow.definitions import Kind as DefKind
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import short

# Ops that may return the very tensor that they are given.
_SAME = frozenset(
    {"convert_to_tensor", "cast", "to_float", "to_double", "convert_to_tensor_v2", "add_n"}
)
# Functions of TensorFlow whose result is one tensor.
_OPS = frozenset(
    {"constant", "convert_to_tensor", "ones", "zeros", "ones_like", "zeros_like", "fill", "eye"}
    | {"range", "linspace", "lin_space", "random_normal", "random_uniform", "truncated_normal"}
    | {"random.normal", "random.uniform", "random.truncated_normal", "placeholder", "identity"}
    | {"cast", "to_float", "to_double", "reshape", "stack", "concat", "expand_dims", "squeeze"}
    | {
        "transpose",
        "matmul",
        "square",
        "sqrt",
        "exp",
        "log",
        "sin",
        "cos",
        "tanh",
        "sigmoid",
        "abs",
    }
    | {"add", "subtract", "multiply", "divide", "pow", "reduce_sum", "reduce_mean", "reduce_max"}
    | {"gather", "tile", "stop_gradient", "add_n", "one_hot", "math.log", "math.exp", "math.sin"}
)
# What only programs that build a graph call.
_GRAPH = frozenset(
    {"placeholder", "Session", "InteractiveSession", "global_variables_initializer"}
    | {"disable_eager_execution", "disable_v2_behavior", "disable_resource_variables"}
)


class Values:
    """Reads what arguments are off the source of one file."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._graph: bool | None = None
        # Parameters of lambdas and functions that a tape's code has made tensors of, all distinct.
        self.tensors: set[tuple[ast.AST, str]] = set()

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` is surely a tensor."""
        if isinstance(node, ast.Name):
            if self._made_tensor(node):
                return True
            value = self._value(node)
            return value is not None and not isinstance(value, ast.Name) and self.is_tensor(value)
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        return isinstance(node, ast.Call) and self._op(node) in _OPS

    def is_variable(self, node: ast.expr) -> Make | None:
        """``VARIABLE`` for a name that surely means a trainable one, ``FROZEN`` for others.

        None also for those that a tape cannot watch: reference variables, cached ones.
        """
        if not isinstance(node, ast.Name):
            return None
        value = self._value(node)
        if not isinstance(value, ast.Call):
            return None
        make = self._scopes.view(self._scopes.scope_of(node)).kinds.make(value)
        if make not in (Make.VARIABLE, Make.FROZEN) or self._is_reference(value):
            return None
        given = {k.arg: k.value for k in value.keywords}
        if "caching_device" in given or None in given:
            return None
        trainable = given.get("trainable")
        plain = trainable is None or (
            isinstance(trainable, ast.Constant) and trainable.value is True
        )
        return Make.VARIABLE if plain and len(value.args) < 2 else Make.FROZEN

    def _is_reference(self, call: ast.Call) -> bool:
        """Whether ``tf.Variable`` may be a reference variable, as it is in a v1 graph."""
        names = self._scopes.unit.names
        if self._graph is None:
            self._graph = any(p.rpartition(".")[2] in _GRAPH for _, p in names.references())
        return self._graph and ".eager." not in (names.qualified(call.func) or "")

    def may_be(self, node: ast.Name, variable: ast.Name) -> bool:
        """Whether ``node`` may stand for the same variable, or for something that holds it."""
        if self._scopes.unit.names.qualified(node) is not None:
            return False
        binder = self._scopes.binder(node.id, node)
        if binder is None:
            return False
        value = self._scopes.value(node)
        if isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            return False  # what they read counts by itself
        if node.id == variable.id and binder is self._scopes.binder(variable.id, variable):
            return True
        if value is None or isinstance(value, ast.Name):
            return not self._made_tensor(node)
        known = self.is_variable(node) is not None or self.is_tensor(node)
        return not known and not self._converts(cast("ast.expr", value))

    def distinct(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether the two surely become two different tensors when they are converted."""
        if self._new(one) or self._new(other):
            return True
        if isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id != other.id:
            if self._made_tensor(one) and self._made_tensor(other):
                return True
            values = self._value(one), self._value(other)
            return all(
                v is not None and not isinstance(v, ast.Name) and self._new(v) for v in values
            )
        return False

    def _new(self, node: ast.expr) -> bool:
        """Whether converting ``node`` gives a tensor that nothing else has."""
        if isinstance(node, ast.Name):
            value = self._value(node)
            if value is None or isinstance(value, ast.Name):
                return False
            return self._converts(value) or self.is_variable(node) is not None
        if isinstance(node, ast.BinOp):
            return True
        if isinstance(node, ast.Call):
            op = self._op(node)
            return (op in _OPS and op not in _SAME) or self._converts(node)
        return self._converts(node)

    def _converts(self, node: ast.expr) -> bool:
        """Whether ``node`` is a number, an array or a list: each conversion makes a new tensor."""
        if isinstance(node, ast.UnaryOp):
            return self._converts(node.operand)
        if isinstance(node, ast.BinOp):
            return self._converts(node.left) and self._converts(node.right)
        if isinstance(node, ast.Call):
            name = self._scopes.unit.names.qualified(node.func)
            return name is not None and name.split(".")[0] == "numpy"
        return isinstance(node, ast.Constant | ast.List | ast.Tuple)

    def _op(self, call: ast.Call) -> str:
        return short(self._scopes.unit.names.qualified(call.func)) or ""

    def _made_tensor(self, node: ast.Name) -> bool:
        binder = self._scopes.binder(node.id, node)
        return binder is not None and (binder, node.id) in self.tensors

    def _value(self, node: ast.Name) -> ast.expr | None:
        made = self._scopes.definition(node)
        return made.value if made is not None and made.kind is DefKind.ASSIGN else None

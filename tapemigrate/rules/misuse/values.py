"""What the tensors round a tape are, where the code proves it: new, constant, integer, variable."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Scope, free_names, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.misuse.uses import around
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import short

# Ops that make a new tensor on every call, with a gradient by each tensor they are given. Not among
# them: what may hand its argument back (cast, add_n, convert_to_tensor, real, dropout).
_OPS = frozenset(
    {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp"}
    | {"reduce_std", "reduce_variance", "square", "sqrt", "rsqrt", "exp", "log", "log1p", "expm1"}
    | {"sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "sigmoid", "softplus"}
    | {"add", "subtract", "multiply", "divide", "div", "pow", "negative", "matmul", "matvec"}
    | {"tensordot", "einsum", "abs", "maximum", "minimum", "squared_difference", "l2_loss"}
    | {"relu", "relu6", "elu", "selu", "softmax", "log_softmax", "norm", "stack", "reshape"}
    | {"expand_dims", "transpose", "tile", "cumsum", "cumprod", "l2_normalize", "erf", "lgamma"}
    | {"sparse_softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits"}
    | {"softmax_cross_entropy_with_logits_v2", "sigmoid_cross_entropy_with_logits"}
    | {"mean_squared_error", "mean_absolute_error", "log_sigmoid", "reciprocal"}
)
_MODULES = frozenset({"", "math", "linalg", "nn", "losses", "keras.losses", "sparse"})
_CONSTANTS = frozenset({"constant", "zeros", "ones", "fill", "eye", "linspace", "range"})
_RANDOM = frozenset({"normal", "uniform", "truncated_normal"})
_INTEGER_OPS = frozenset({"argmax", "argmin", "math.argmax", "math.argmin", "shape", "size"})
_INTEGERS = ("int", "uint", "qint")
_TYPE_MODULES = frozenset(
    {"tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2", "tensorflow.dtypes", "numpy"}
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MAX_STEPS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An expression, in the scope that evaluates it."""

    view: View
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor, or list of unknown things, that an argument names: the name, and what it holds."""

    node: ast.expr
    defs: frozenset[Def]
    values: tuple[Value, ...]

    @property
    def known(self) -> bool:
        """Whether every value that it may hold is in sight."""
        return bool(self.values) and len(self.values) == len(self.defs)


class Values:
    """Reads values in the scopes of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def leaves(self, at: Value, steps: int = 0) -> list[Leaf] | None:
        """The tensors that an argument names, through lists and other names; None where unclear."""
        node = at.node
        if steps > _MAX_STEPS:
            return None
        if isinstance(node, ast.List | ast.Tuple):
            found: list[Leaf] = []
            for element in node.elts:
                part = self.leaves(Value(at.view, element), steps + 1)
                if part is None:
                    return None
                found += part
            return found
        if path_of(node) is None:
            return None
        resolved = self._definitions(at)
        if resolved is None:
            return None
        view, defs = resolved
        values = tuple(Value(view, d.value) for d in defs if _holds_its_value(d) and d.value)
        if len(values) == len(defs) == 1:
            value = values[0]
            if isinstance(value.node, ast.List | ast.Tuple):
                return None if self._grows(view, defs) else self.leaves(value, steps + 1)
            if path_of(value.node) is not None:
                return self.leaves(value, steps + 1)
        return [Leaf(node, defs, values)]

    def is_new(self, at: Value, steps: int = 0) -> bool:
        """Whether the expression makes a new tensor, by an op that a tape would record."""
        node = at.node
        if steps > _MAX_STEPS:
            return False
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.is_tensor(Value(at.view, node.operand), steps + 1)
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return any(self.is_tensor(Value(at.view, s), steps + 1) for s in sides)
        return isinstance(node, ast.Call) and self._is_op(at.view, node)

    def is_tensor(self, at: Value, steps: int = 0) -> bool:
        """Whether the expression certainly is a tensor or a variable."""
        if steps > _MAX_STEPS:
            return False
        if self.is_new(at, steps) or self.is_constant(at) or self.is_variable(at) is not None:
            return True
        if path_of(at.node) is None:
            return False
        resolved = self._definitions(at)
        if resolved is None:
            return False
        view, defs = resolved
        return bool(defs) and all(
            _holds_its_value(d)
            and d.value is not None
            and self.is_tensor(Value(view, d.value), steps + 1)
            for d in defs
        )

    def constructor(self, at: Value) -> str | None:
        """The path of what is called to make the value, where that is one imported thing."""
        if isinstance(at.node, ast.Call):
            return at.view.unit.names.qualified(at.node.func)
        leaves = self.leaves(at) or []
        if len(leaves) != 1 or not leaves[0].known or len(leaves[0].values) != 1:
            return None
        (value,) = leaves[0].values
        return self.constructor(value) if isinstance(value.node, ast.Call) else None

    def view_of(self, view: View, scope: Scope) -> View:
        """The view of another scope of the same file."""
        return self._project.view(view.unit, scope)

    def is_constant(self, at: Value) -> bool:
        """Whether the expression makes a tensor out of nothing that is differentiated."""
        name = self._call_name(at)
        if name is None:
            return False
        module, _, last = name.rpartition(".")
        if last in _CONSTANTS and module in ("", "linalg"):
            return True
        # A mean or a bound may be a tensor on which the result depends.
        return module == "random" and last in _RANDOM and _only_shape(at.node)

    def is_variable(self, at: Value) -> bool | None:
        """True for ``tf.Variable(…)``, False with ``trainable=False``, None for all else."""
        if not isinstance(at.node, ast.Call):
            return None
        name = self._call_name(at)
        if name not in ("Variable", "contrib.eager.Variable"):
            return None
        for keyword in at.node.keywords:
            if keyword.arg is None:
                return None
            if keyword.arg == "trainable" and not isinstance(keyword.value, ast.Constant):
                return None
        make = at.view.kinds.make(at.node)
        return {Make.VARIABLE: True, Make.FROZEN: False}.get(make)

    def is_integer(self, at: Value) -> bool:
        """Whether the expression makes a tensor or a variable of an integer type."""
        name, node = self._call_name(at), at.node
        if name is None or not isinstance(node, ast.Call):
            return False
        if name in _INTEGER_OPS:
            return True
        if name == "cast":
            return self._is_integer_type(at.view, _argument(node, 1, "dtype"))
        if name == "constant" or (name == "Variable" and len(node.args) <= 1):
            dtype = _argument(node, 1, "dtype")
            if dtype is not None:
                return self._is_integer_type(at.view, dtype)
            initial = _argument(node, 0, "value" if name == "constant" else "initial_value")
            return initial is not None and _whole_numbers(initial)
        return False

    def _is_integer_type(self, view: View, dtype: ast.expr | None) -> bool:
        if dtype is None:
            return False
        if isinstance(dtype, ast.Constant):
            return isinstance(dtype.value, str) and dtype.value.startswith(_INTEGERS)
        path = view.unit.names.qualified(dtype) or ""
        root, _, last = path.rpartition(".")
        return root in _TYPE_MODULES and last.startswith(_INTEGERS)

    def _is_op(self, view: View, call: ast.Call) -> bool:
        name = self._call_name(Value(view, call))
        if name is None:
            return False
        module, _, last = name.rpartition(".")
        return last in _OPS and module in _MODULES

    @staticmethod
    def _call_name(at: Value) -> str | None:
        if not isinstance(at.node, ast.Call):
            return None
        names = at.view.unit.names
        if names.reference_kind(at.node.func) not in ("import", "alias"):
            return None
        return short(names.qualified(at.node.func))

    def _definitions(self, at: Value) -> tuple[View, frozenset[Def]] | None:
        """What a name holds, here or, where it is the module's, there."""
        uses = at.view.flow.reads.get(at.node)
        if not uses:
            return None
        defs = origins(uses)
        if isinstance(at.node, ast.Name) and all(d.kind is Kind.ENTRY for d in defs):
            outer = self._module_definition(at.view, at.node)
            if outer is not None:
                return outer
        return at.view, defs

    def _module_definition(self, view: View, node: ast.Name) -> tuple[View, frozenset[Def]] | None:
        unit = view.unit
        for scope in around(unit, node):
            if isinstance(scope, _FUNCTIONS) and _binds(scope, node.id):
                return None
        if any(node.id in stmt.names for stmt in unit.nodes(ast.Global)):
            return None
        module = self._project.view(unit, unit.tree)
        made = [
            d for (_, path), d in module.flow.defs.items() if path == (node.id,) and _is_binding(d)
        ]
        return (module, frozenset(made)) if len(made) == 1 else None

    @staticmethod
    def _grows(view: View, defs: frozenset[Def]) -> bool:
        """Whether a list that a name holds is changed after it was made."""
        paths = {d.path for d in defs}
        for (node, path), made in view.flow.defs.items():
            if made.kind is Kind.MUTATE and path in paths:
                func = node.func if isinstance(node, ast.Call) else None
                if not isinstance(func, ast.Attribute) or func.attr not in _HARMLESS:
                    return True
        return False


_HARMLESS = frozenset({"watch", "gradient", "jacobian", "batch_jacobian"})


def _holds_its_value(made: Def) -> bool:
    return made.kind is Kind.ASSIGN


def _is_binding(made: Def) -> bool:
    return made.kind not in (Kind.ENTRY, Kind.MUTATE)


def _binds(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str) -> bool:
    if any(a.arg == name for a in parameters(scope.args)):
        return True
    return name not in free_names(scope)


def _argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if index < len(call.args):
        return call.args[index]
    return next((k.value for k in call.keywords if k.arg == name), None)


def _only_shape(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and len(node.args) <= 1
        and not {k.arg for k in node.keywords} - {"shape", "dtype", "seed", "name"}
    )


def _whole_numbers(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _whole_numbers(node.operand)
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(_whole_numbers(e) for e in node.elts)
    return isinstance(node, ast.Constant) and type(node.value) is int

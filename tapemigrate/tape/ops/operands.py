"""Which arguments of a call a gradient can flow through: sizes, axes, names and flags are none.

Argument orders: https://www.tensorflow.org/versions/r1.15/api_docs/python/tf
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import children, walk

if TYPE_CHECKING:
    from tapemigrate.tape.ops.kinds import Kinds

# Keywords that hold sizes, axes, names, flags, or what makes the values variables begin with.
_KEYWORDS = frozenset(
    {"name", "scope", "default_name", "reuse", "axis", "axes", "dim", "dims", "dtype", "shape"}
    | {"keepdims", "keep_dims", "reduction_indices", "units", "kernel_size", "strides"}
    | {"padding", "data_format", "training", "is_training", "trainable", "seed", "num_outputs"}
    | {"depth", "num_classes", "transpose_a", "transpose_b", "collections"}
    | {"kernel_initializer", "bias_initializer", "weights_initializer", "biases_initializer"}
    | {"use_bias", "num_or_size_splits", "multiples", "perm", "indices", "size", "stride", "ksize"}
    | {"pred", "condition", "dilation_rate", "use_resource", "adjoint_a", "adjoint_b"}
)
# The positions of such arguments, by the last part of the function's name.
_PLACES: dict[str, tuple[int, ...]] = {
    **{
        f"reduce_{each}": (1, 2, 3, 4)
        for each in ("sum", "mean", "max", "min", "prod", "logsumexp", "any", "all")
    },
    **dict.fromkeys(("variable_scope", "name_scope", "device"), tuple(range(9))),
    **dict.fromkeys(("cast", "expand_dims", "squeeze", "tile", "transpose"), (1, 2)),
    **dict.fromkeys(("reshape", "stack", "unstack", "slice", "gather"), (1, 2, 3)),
    **dict.fromkeys(("pad", "softmax", "log_softmax", "moments", "cumsum", "norm"), (1, 2, 3)),
    **dict.fromkeys(("embedding_lookup", "dense", "fully_connected", "flatten"), (1,)),
    # What chooses, and where it looks, are booleans and whole numbers.
    **dict.fromkeys(("cond", "where", "while_loop"), (0,)),
    **dict.fromkeys(("boolean_mask", "gather_nd"), (1,)),
    **dict.fromkeys(("max_pool", "avg_pool", "conv1d", "conv2d"), (2, 3)),
}
# What reads names that do not stand there.
_READING_ALL = frozenset({"locals", "vars", "eval", "exec"})
# How deep calls of the user's own functions are looked into.
_DEPTH = 3


class Operands:
    """Reads them off the calls, and off the functions of the file that is called in."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._carried: dict[tuple[ast.AST, str], bool] = {}

    def of(self, call: ast.Call, depth: int = 0) -> list[ast.expr]:
        """The arguments through which a gradient may flow into what the call gives."""
        name = self._kinds.tensorflow(call.func)
        if name is not None:
            places = _PLACES.get(name.split(".")[-1], ())
            kept = [a for place, a in enumerate(call.args) if place not in places]
            return kept + [k.value for k in call.keywords if k.arg not in _KEYWORDS]
        function = self._kinds.runs_only(call)
        args = [(a, None) for a in call.args]
        named = [(k.value, k.arg) for k in call.keywords]
        if (
            function is None
            or depth >= _DEPTH
            or any(isinstance(a, ast.Starred) for a in call.args)
        ):
            return [value for value, _ in (*args, *named)]
        own = [a.arg for a in parameters(function.args)]
        bound = own[1:] if isinstance(call.func, ast.Attribute) else own
        known = [(a, bound[i] if i < len(bound) else None) for i, (a, _) in enumerate(args)]
        return [
            value
            for value, name in (*known, *named)
            if name not in own or self._is_carried(function, name, depth + 1)
        ]

    def paths(self, expr: ast.expr) -> list[ast.expr]:
        """The names, attributes and lambdas that a gradient may flow through ``expr`` from."""
        found: list[ast.expr] = []
        stack: list[ast.AST] = [expr]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if not self._kinds.is_barren(node):
                    stack += self.of(node)
                    stack += [] if self._reads_no_object(node) else [node.func]
            elif isinstance(node, ast.expr) and (
                isinstance(node, ast.Lambda) or path_of(node) is not None
            ):
                found.append(node)
            else:
                stack += values_in(node)
        return found

    def _reads_no_object(self, call: ast.Call, depth: int = 0) -> bool:
        """Whether a method that is called on ``self`` reads nothing that the object holds."""
        function, me = self._kinds.runs_only(call), self._kinds.self_name
        if function is None or me is None or depth >= _DEPTH or function.decorator_list:
            return False
        if not isinstance(call.func, ast.Attribute) or [a.arg for a in function.args.args[:1]] != [
            me
        ]:
            return False
        inner = [n for n in walk(function) if isinstance(n, ast.Call)]
        called = [
            c.func.value
            for c in inner
            if isinstance(c.func, ast.Attribute) and self._reads_no_object(c, depth + 1)
        ]
        return not any(
            isinstance(n, ast.Name) and n.id in (me, "super") and n not in called
            for n in walk(function)
        )

    def _is_carried(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, depth: int
    ) -> bool:
        key = (function, name)
        if key not in self._carried:
            self._carried[key] = True  # a function that calls itself takes nothing for granted
            if any(_reads_all_names(n) for n in walk(function)):
                return True
            names = {name}
            before = 0
            while before != len(names) and not (
                found := any(self._leaves(s, names, depth) for s in function.body)
            ):
                before, found = len(names), False
            self._carried[key] = found
        return self._carried[key]

    def _leaves(self, node: ast.AST, names: set[str], depth: int) -> bool:
        """Whether a value of ``names`` leaves the function; what it goes into joins ``names``."""
        match node:
            case ast.Assign(targets=targets, value=value) if _are_names(targets):
                if self._carries(value, names, depth):
                    names.update(n.id for t in targets for n in walk(t) if _is_name(n))
                return False
            case ast.For(target=target, iter=value) if _are_names([target]):
                if self._carries(value, names, depth):
                    names.update(n.id for n in walk(target) if _is_name(n))
                return any(self._leaves(s, names, depth) for s in (*node.body, *node.orelse))
            case ast.If() | ast.While() | ast.With() | ast.Try():
                parts = values_in(node)
                return any(self._leaves(part, names, depth) for part in parts)
        return self._carries(node, names, depth)

    def _carries(self, node: ast.AST, names: set[str], depth: int) -> bool:
        """Whether the value of one of ``names`` may go on from ``node``, not only as a size."""
        match node:
            case ast.Name():
                return node.id in names
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return any(isinstance(n, ast.Name) and n.id in names for n in walk(node))
            case ast.Call() if not self._kinds.is_barren(node):
                parts: list[ast.AST] = [node.func, *self.of(node, depth)]
            case _:
                parts = values_in(node)
        return any(self._carries(part, names, depth) for part in parts)


def _are_names(targets: list[ast.expr]) -> bool:
    """Whether names alone are assigned to, so that what they hold can be followed."""
    parts = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
    return all(isinstance(part, ast.Name) for part in parts)


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def values_in(node: ast.AST) -> list[ast.AST]:
    """The children of ``node``, which is no call, but for tests, indices and texts."""
    match node:
        case ast.Compare() | ast.JoinedStr() | ast.Call():
            return []
        case ast.Subscript():
            return [node.value]
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.If() | ast.While():
            return [*node.body, *node.orelse]
        case ast.Assert() | ast.Raise():
            return []
    return children(node)


def _reads_all_names(node: ast.AST) -> bool:
    """``locals()``, ``eval(text)``: any parameter may be among what these give."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Name) and func.id in _READING_ALL

"""Targets that an inner function computes for its gradient call, and that can be computed before.

The product of a Hessian with a vector, ``tf.reduce_sum(g * v)``, is made of gradients that a tape
has recorded, but by ops that run when the tape may be closed. They give the same if they run where
the function is made: nothing but pure functions, of names that mean the same by then.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import View
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.syntax import repetitions
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Request

# Functions that give the same whenever they run on the same, and leave nothing behind.
_PURE = frozenset(
    {"add", "add_n", "concat", "expand_dims", "identity", "matmul", "mul", "multiply", "negative"}
    | {"pack", "reduce_mean", "reduce_sum", "reshape", "square", "squeeze", "stack", "subtract"}
    | {"stop_gradient", "tensordot", "transpose"}
)
_PRODUCTS = frozenset({"matmul", "mul", "multiply", "tensordot"})
_MODULES = frozenset({"", "math", "linalg"})
_BUILTINS = frozenset({"enumerate", "len", "range", "sum", "zip"})
_PARTS = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Constant, ast.Name, ast.keyword),
    *(ast.List, ast.Tuple, ast.Starred, ast.ListComp, ast.GeneratorExp, ast.comprehension),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
_LEAVES = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_LISTS = frozenset({"list", "tuple"})


def early_value(inner: View, request: Request) -> tuple[ast.expr, ast.stmt | None] | None:
    """What the target of a call in ``inner`` is computed by, if that could run before.

    With the statement that computes it, where that stands apart and nothing else reads it. None if
    the target has to be computed where it stands, or may not be computed at all.
    """
    scope, value, stmt = inner.scope, request.target, request.stmt
    apart: ast.stmt | None = None
    root: ast.expr = request.call
    if isinstance(value, ast.Name):
        made = [u.made for u in inner.flow.reads.get(value, ())]
        if len(made) != 1 or made[0].kind is not Kind.ASSIGN or made[0].loops:
            return None
        if made[0].value is None or made[0].stmt is None or _is_read_again(inner, made[0], value):
            return None
        root, apart = made[0].value, made[0].stmt
        value, stmt = root, apart
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == 1:
        value = value.elts[0]
    if isinstance(scope, ast.FunctionDef):
        if (
            scope.decorator_list
            or not _always_runs(inner, stmt)
            or not _always_runs(inner, request.stmt)
        ):
            return None
    again = repetitions(root, stmt, inner.unit.parents)
    if any(node is not scope for node in again):
        return None
    return value, apart


def _is_read_again(inner: View, made: Def, read: ast.expr) -> bool:
    """Whether something but ``read`` reads the definition, or the statement makes more than it."""
    stmt = made.stmt
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return True
    if not isinstance(stmt.targets[0], ast.Name):
        return True
    names = [n for n in walk(inner.scope) if isinstance(n, ast.Name) and n.id == made.path[0]]
    return any(n is not read and n is not stmt.targets[0] for n in names)


def _always_runs(inner: View, stmt: ast.stmt) -> bool:
    """Whether the statement runs whenever the function does."""
    parent = inner.unit.parents[stmt]
    while parent is not inner.scope:
        if not isinstance(parent, ast.With):
            return False
        parent = inner.unit.parents[parent]
    return not any(isinstance(n, _LEAVES) and begin(n) < begin(stmt) for n in walk(inner.scope))


def names_of(value: ast.expr, kinds: Kinds) -> set[str]:
    """The names that ``value`` is made of; none if it is not made by pure functions alone."""
    own = {
        n.id
        for c in walk(value)
        if isinstance(c, ast.comprehension)
        for n in walk(c.target)
        if isinstance(n, ast.Name)
    }
    found: set[str] = set()
    stack: list[ast.AST] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            if not _is_pure(node.func, kinds):
                return set()
            stack += [*node.args, *node.keywords]
            continue
        if not isinstance(node, _PARTS):
            return set()
        if isinstance(node, ast.Name) and node.id not in own:
            found.add(node.id)
        stack += ast.iter_child_nodes(node)
    return found


def _is_pure(function: ast.expr, kinds: Kinds) -> bool:
    name = kinds.tensorflow(function)
    if name is not None:
        module, _, last = name.rpartition(".")
        return last in _PURE and module in _MODULES
    if not isinstance(function, ast.Name) or function.id not in _BUILTINS:
        return False
    return not kinds.effects.functions(function.id)


def is_product(view: View, region: Region) -> bool:
    """Whether the target is gradients multiplied with something, by pure functions alone."""
    calls = {request.call for request in region.lower}
    cut = frozenset(d for leaf in region.sources.leaves for d in leaf.defs)
    made = backward(view.flow.uses_in(region.request.target), cut).made - cut
    stack: list[ast.AST] = [region.request.target]
    stack += [d.value for d in made if d.value is not None and d.stmt is not None]
    multiplied = False
    while stack and calls:
        node = stack.pop()
        if node in calls:
            continue
        if isinstance(node, ast.Call):
            named = isinstance(node.func, ast.Name) and node.func.id in _LISTS
            if not (named or _is_pure(node.func, view.kinds)):
                if view.kinds.make(node) is not Make.LEAF:
                    return False
                continue
            multiplied |= (view.kinds.tensorflow(node.func) or "").rpartition(".")[2] in _PRODUCTS
            stack += [*node.args, *node.keywords]
        elif isinstance(node, _PARTS):
            multiplied |= isinstance(node, ast.Mult | ast.MatMult)
            stack += ast.iter_child_nodes(node)
        else:
            return False
    return multiplied


def may_be_missing(outer: View, name: str) -> bool:
    """Whether a parameter of the function around is None where callers hand in nothing."""
    scope = outer.scope
    if not isinstance(scope, ast.FunctionDef):
        return False
    args = scope.args
    positional = [*args.posonlyargs, *args.args]
    given = positional[len(positional) - len(args.defaults) :] if args.defaults else []
    return name in {a.arg for a in (*given, *args.kwonlyargs)}


def rest_on(outer: View, names: set[str], function: str) -> str:
    """What it takes for the values of ``names`` to be the same when the inner function runs."""
    loose = [name for name in sorted(names) if not _is_fixed(outer, name)]
    if not loose:
        return ""
    what = " and ".join(f"`{name}`" for name in loose)
    where = "the lambda" if function == "<lambda>" else f"`{function}`"
    return f"no variable in {what} gets another value before {where} runs"


def _is_fixed(outer: View, name: str) -> bool:
    """Whether it holds no variables: only tensors that are made in the function around."""
    made = [d for d in outer.flow.defs.values() if d.path[0] == name and d.kind is not Kind.ENTRY]
    return bool(made) and all(_holds_tensors(d, outer.kinds) for d in made)


def _holds_tensors(made: Def, kinds: Kinds) -> bool:
    if made.kind is Kind.MUTATE:
        stmt = made.stmt
        # ``grads[i] = tf.zeros_like(x)``
        return isinstance(stmt, ast.Assign) and _makes_tensors(stmt.value, kinds)
    return made.kind is Kind.ASSIGN and made.value is not None and _makes_tensors(made.value, kinds)


def _makes_tensors(value: ast.expr, kinds: Kinds) -> bool:
    match value:
        case ast.List() | ast.Tuple():
            return all(_makes_tensors(e, kinds) for e in value.elts)
        case ast.ListComp() | ast.GeneratorExp():
            return _makes_tensors(value.elt, kinds)
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _LISTS:
            return _makes_tensors(inner, kinds)
    return kinds.make(value) in (Make.TENSOR, Make.LEAF)

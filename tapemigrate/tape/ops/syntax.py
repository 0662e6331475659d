"""What single statements and expressions do, as far as placing a tape goes."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tapemigrate.flow.blocks import Block
from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.functions import is_static, parameters
from tapemigrate.flow.memory import stores_beyond
from tapemigrate.flow.paths import names_class, path_of, text_of
from tapemigrate.patterns import late
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import arguments_of, children, kept, walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.symbols import STATIC, gives_back, short

# What gives the elements of its argument as they are.
_IN_TURN = frozenset({"enumerate", "sorted", "list", "tuple", "reversed"})
#: Names under which programs pass about what holds no tensors.
SETTINGS = frozenset(
    {"FLAGS", "args", "cfg", "conf", "config", "configs", "configuration", "hps", "hparams"}
    | {"opts", "options", "settings"}
)
VARIABLES_BY_NAME = late(r"param|var|weight|theta", re.IGNORECASE)
# Attributes that are variables, and neither variances nor what a loss is weighed by.
PARAMETERS_BY_NAME = late(r"(^|_)(params|parameters|vars|variables|var_list)$|^(all_)?weights$")
# Functions that give them: such a one computes no loss.
ASKS_FOR_VARIABLES = late(r"(^|[_.])(params|parameters|vars|variables|weights|var_list)(_|$)")
_DATA_BY_NAME = late(r"next|batch|read|load|data|input|dequeue|parse|placeholder|iterator")
# ``load_model``: what it gives is computed, whatever it also reads.
_MODEL_BY_NAME = late(r"model|graph|network|(^|_)nets?(_|$)")
_ITERATORS = frozenset({"zip", "enumerate", "reversed", "sorted", "list", "tuple", "range", "len"})
#: Methods of lists and dicts that hand out what these hold.
HANDING_OUT = frozenset(
    {"get", "pop", "popleft", "popitem", "setdefault", "values", "items", "copy", "__getitem__"}
)
_CONDITIONAL = (
    *(ast.Lambda, ast.IfExp, ast.BoolOp),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def binds(body: Sequence[ast.stmt], making: set[ast.stmt]) -> bool:
    """Whether one of the statements ``making`` has run, whichever way ``body`` was left."""
    for stmt in body:
        match stmt:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return True
            case ast.If():
                if binds(stmt.body, making) and binds(stmt.orelse, making):
                    return True
            case ast.With() | ast.AsyncWith():
                if stmt in making or binds(stmt.body, making):
                    return True
            case ast.Try():
                ways = [[*stmt.body, *stmt.orelse], *(h.body for h in stmt.handlers)]
                if binds(stmt.finalbody, making) or all(binds(way, making) for way in ways):
                    return True
            case ast.For() | ast.AsyncFor() | ast.While():
                continue
            case _ if stmt in making:
                return True
    return False


def repetitions(node: ast.AST, stmt: ast.stmt, parents: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    """What inside ``stmt`` makes ``node`` run more than once, or perhaps not at all."""
    found: list[ast.AST] = []
    while node is not stmt:
        parent = parents[node]
        if isinstance(parent, ast.comprehension) and parent.iter is node:
            holder = parents[parent]
            # The first iterable of a comprehension is evaluated once, before all else.
            if holder.generators[0] is parent:  # type: ignore[attr-defined]
                node = holder
                continue
        if isinstance(parent, ast.arguments):
            # A default is computed once, where its function is made.
            node = parents[parent]
            continue
        if isinstance(parent, _CONDITIONAL):
            found.append(parent)
        node = parent
    # Its test runs once a round, and its body has statements of its own.
    return [*found, stmt] if isinstance(stmt, ast.While) else found


def prefix_of_longer(made: Def, found: frozenset[Def]) -> bool:
    """``self`` adds nothing where ``self.x`` is what is read."""
    return any(
        len(d.path) > len(made.path) and d.path[: len(made.path)] == made.path
        for d in found
        if d.kind is Kind.ENTRY and not STATIC.intersection(d.path)
    )


def read_whole(reads: set[Use], found: frozenset[Def], cut: frozenset[Def]) -> frozenset[Def]:
    """Objects that are read as they are, beside a source that is a part of them."""
    direct = {u.made for u in reads}
    return frozenset(
        d
        for d in found
        if any(len(c.path) > len(d.path) and c.path[: len(d.path)] == d.path for c in cut)
        and (d in direct or not prefix_of_longer(d, found - cut))
    )


def makes_one(made: Def) -> bool:
    """Whether a statement of its own makes the definition, and nothing else."""
    stmt = made.stmt
    if isinstance(stmt, ast.Assign) and any(
        isinstance(t, ast.Tuple | ast.List) for t in stmt.targets
    ):
        return False
    return isinstance(stmt, ast.Assign | ast.AnnAssign) and made.kind is Kind.ASSIGN


def is_walrus(made: Def) -> bool:
    """Whether the name is given in the middle of an expression."""
    return made.stmt is not None and any(
        isinstance(n, ast.NamedExpr) and path_of(n.target) == made.path
        for n in own_nodes(made.stmt)
    )


def run_in(function: Def) -> list[ast.AST]:
    """What a function, or a lambda, of the scope runs when it is called."""
    code: ast.AST | None = function.value if function.value is not None else function.stmt
    nodes = walk(code) if code is not None else ()
    lambdas = [n.body for n in nodes if isinstance(n, ast.Lambda)]
    return [*(code.body if isinstance(code, ast.FunctionDef) else ()), *lambdas]


def holds_one_of(made: Def, parts: list[str]) -> bool:
    """Whether one of ``parts`` is a part of what the definition makes."""
    name = text_of(made.path)
    return any(part.startswith((f"{name}.", f"{name}[")) for part in parts)


def is_named_after_variables(made: Def) -> bool:
    """Whether the name, or the function that gives the value, says that it is variables."""
    value = made.value
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    names = [*(path or ()), made.path[-1]]
    return any(VARIABLES_BY_NAME.search(name) for name in names)


def fills_state(function: ast.AST | None) -> bool:
    """Whether the function puts values where they outlive its calls: ``global``, ``a.x = …``."""
    if not isinstance(function, ast.FunctionDef):
        return False
    nodes = [n for s in function.body for n in walk(s)]
    names = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    own = {n.id for n in names} | {a.arg for a in parameters(function.args)}
    defaults = [*function.args.defaults, *function.args.kw_defaults]
    kept = any(isinstance(d, ast.List | ast.Dict | ast.Set) for d in defaults)
    return any(
        isinstance(node, ast.Global) or stores_beyond(node, own) or (kept and _takes_in(node))
        for node in nodes
    )


def _takes_in(node: ast.AST) -> bool:
    """``found.append(x)``, ``found[k] = x``"""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)


def container_of(value: ast.expr) -> ast.expr | None:
    """``model.layers`` of ``model.layers[name]["x"]``; a slice is taken of a tensor."""
    if path_of(value) is not None:
        return None
    while isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice | ast.Tuple):
        value = value.value
        if path_of(value) is not None:
            return value
    return None


def giving(value: ast.expr | None) -> ast.expr | None:
    """The call that gives what a value is a part of: ``f(x)["h"]``, ``f(x)[0].h``; or the value."""
    part = value
    while isinstance(part, ast.Attribute | ast.Subscript):
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice | ast.Tuple):
            break
        part = part.value
    return part if isinstance(part, ast.Call) else value


def chosen_from(value: ast.expr) -> list[ast.expr]:
    """The values of which it is one: ``h if ready else None``, ``kept or h``; or itself."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            parts = [one, other]
        case ast.BoolOp(values=values):
            parts = values
        case ast.NamedExpr(value=one):
            parts = [one]
        case _:
            return [value]
    return [each for part in parts for each in chosen_from(part)]


def gives_data(call: ast.expr | None) -> bool:
    """Whether the name of the function called says that it hands out data."""
    path = path_of(call.func) if isinstance(call, ast.Call) else None
    name = path[-1].lower() if path is not None else ""
    return _DATA_BY_NAME.search(name) is not None and _MODEL_BY_NAME.search(name) is None


def is_display(made: Def) -> bool:
    """Whether the value is written out: a list, a tuple, a dict."""
    return made.kind is Kind.ASSIGN and isinstance(made.value, ast.List | ast.Tuple | ast.Dict)


def only_iterates(value: ast.expr) -> bool:
    """Whether taking elements from the value runs no op: ``zip(a, b)``, ``d.items()``."""
    if not isinstance(value, ast.Call):
        return is_plain(value)
    func = value.func
    if isinstance(func, ast.Name) and func.id in _ITERATORS:
        return all(only_iterates(a) for a in value.args)
    if isinstance(func, ast.Attribute) and func.attr in ("items", "values", "keys"):
        return not value.args and is_plain(func.value)
    return False


def runs_code(node: ast.AST | None) -> bool:
    """Whether making the function or class runs code: defaults, decorators, a class's own lines."""
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        parts += [*node.args.defaults, *node.args.kw_defaults]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        parts += node.decorator_list
    if isinstance(node, ast.ClassDef):
        parts += [k.value for k in node.keywords]
        if any(_runs(stmt) for stmt in node.body):
            return True
    return not all(is_plain(part) for part in parts if part is not None)


def _runs(stmt: ast.stmt) -> bool:
    """Whether a statement of a class runs code there and then."""
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return runs_code(stmt)
    if isinstance(stmt, ast.Assign | ast.AnnAssign | ast.Expr):
        return stmt.value is not None and not is_plain(stmt.value)
    return not isinstance(stmt, ast.Pass)


def is_plain(node: ast.expr) -> bool:
    """Whether reading the expression runs no op: a path, a constant, or a list of such."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(is_plain(e) for e in node.elts)
    if isinstance(node, ast.Constant):
        return True
    path = path_of(node)
    return path is not None and not any(step.startswith("[") for step in path)


def holds(made: Def, call: ast.Call) -> bool:
    """Whether the definition's value is made by, or out of, ``call``."""
    root = made.value if made.value is not None else made.stmt
    return root is not None and any(n is call for n in walk(root))


def runs_ahead(made: Def, call: ast.Call) -> bool:
    """Whether the same statement makes it ahead of ``call``: ``return net.step(), call``."""
    value = made.value
    if made.kind is not Kind.MUTATE or value is None:
        return False
    return end(value) <= begin(call)


def own_nodes(stmt: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement without those of functions that it defines."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = [stmt]
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack.extend(children(node))
    return found


def is_elif(block: Block, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the block is an ``elif`` and nothing else."""
    return len(block.body) == 1 and is_elif_test(block.body[0], parents)


def is_elif_test(stmt: ast.stmt, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the statement is written as an ``elif``."""
    parent = parents.get(stmt)
    return (
        isinstance(stmt, ast.If)
        and isinstance(parent, ast.If)
        and parent.orelse == [stmt]
        and stmt.col_offset == parent.col_offset
    )


def base(node: ast.expr) -> ast.expr:
    """What the indices and slices of ``node`` are taken from."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def elements_of(made: Def) -> ast.expr | None:
    """The list or dict out of which a loop takes what ``made`` is, as it is."""
    if made.kind not in (Kind.LOOP, Kind.COMPREHENSION):
        return None
    over = made.value
    while isinstance(over, ast.Call):
        match over:
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _IN_TURN:
                over = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="values" | "items"), args=[]):
                over = inner
            case _:
                break
    return over


def given_back(value: ast.expr, kinds: Kinds) -> list[ast.expr]:
    """The names of which ``value`` may be another name, or hold the very tensors in a list."""
    match value:
        case ast.IfExp():
            parts = [value.body, value.orelse]
        case ast.BoolOp():
            parts = value.values
        case ast.List() | ast.Tuple():
            parts = value.elts
        case ast.ListComp():
            listed = isinstance(value.elt, ast.Name) or may_give_back(value.elt, kinds)
            parts = [g.iter for g in value.generators] if listed else []
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in HANDING_OUT:
            # What stands in for what is not there is handed out as well.
            parts = [owner, *value.args[1:]]
        case ast.Call():
            named = isinstance(value.func, ast.Name) and value.func.id in _ITERATORS - {"len"}
            name = kinds.tensorflow(value.func) or ""
            given = named or may_give_back(value, kinds) or name.startswith("nest.")
            parts = value.args if given else _returned(value, kinds)
        case ast.Starred() | ast.NamedExpr():
            parts = [value.value]
        case ast.Subscript() if not isinstance(value.slice, ast.Slice | ast.Tuple):
            if path_of(value) is not None:  # ``d["x"]`` is read as a whole
                return [value, *given_back(value.value, kinds)]
            parts = [value.value]
        case ast.Attribute() if giving(value) is not value:
            parts = [value.value]
        case _:
            own = path_of(value) is not None and kinds.tensorflow(value) is None  # ``tf.float32``
            return [value] if own else []
    return [name for part in parts for name in given_back(part, kinds)]


def _returned(call: ast.Call, kinds: Kinds) -> list[ast.expr]:
    """What a call passes that the function of the file gives back as it is, on one way at least."""
    function = kinds.called(call)
    if function is None:
        return []
    if any(isinstance(a, ast.Starred) for a in call.args):
        return list(call.args)
    own = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and not is_static(function):
        own = own[1:]
    returned = kept(function, _parameters_returned)
    found = [arg for name, arg in zip(own, call.args, strict=False) if name in returned]
    return found + [k.value for k in call.keywords if k.arg is None or k.arg in returned]


def _parameters_returned(function: ast.AST) -> frozenset[str]:
    """The parameters that are among what is returned, by their own name."""
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    found: set[str] = set()
    stack = [n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None]
    while stack:
        match stack.pop():
            case ast.Name(id=name):
                found.add(name)
            case ast.IfExp(body=one, orelse=other):
                stack += [one, other]
            case (
                ast.BoolOp(values=parts)
                | ast.Tuple(elts=parts)
                | ast.List(elts=parts)
                | ast.Dict(values=parts)
            ):
                stack += parts
            case ast.Call(func=func) as made if names_class((path_of(func) or ("",))[-1]):
                stack += arguments_of(made)  # ``Outputs(x, h)`` holds them
    # ``x = x / 255.0`` in every case: it is another tensor by then.
    anew = {
        target.id
        for stmt in function.body
        if isinstance(stmt, ast.Assign) and not isinstance(stmt.value, ast.Name)
        for target in stmt.targets
        if isinstance(target, ast.Name)
    }
    return frozenset(found & {a.arg for a in parameters(function.args)} - anew)


def may_give_back(value: ast.expr, kinds: Kinds) -> bool:
    """Whether the value may be one of its operands itself: ``tf.cast(x, x.dtype)``, ``a or b``."""
    if isinstance(value, ast.IfExp | ast.BoolOp):
        return True
    if not isinstance(value, ast.Call):
        return False
    name = short(kinds.name(value.func))
    return name is not None and gives_back(name)

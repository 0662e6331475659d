"""What ``xs``, ``grad_ys`` and ``stop_gradients`` of a call hold, as far as the code shows."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.patterns import late
from tapemigrate.tape.leaf import Leaf, Sources
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.placing.outside import found_in_graph
from tapemigrate.tape.placing.room import Room
from tapemigrate.tape.recipes import STOP
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.sources.filled_lists import added
from tapemigrate.tape.sources.no_tensors import recipe_of
from tapemigrate.tape.sources.sources import SourceReader

NONE_AMONG_SEEDS = Refusal(
    "`grad_ys` may hold a None, which a tape does not take in `output_gradients`",
    "Put `tf.ones_like(target)` where `grad_ys` has None.",
)
_PLAIN = (Make.LEAF, Make.PYTHON, Make.VARIABLE, Make.FROZEN)
# What the op of a tensor was given, or gave.
_OF_GRAPH = late(r"\.op\.(inputs|outputs)\b")
_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
# Ops that give one tensor, whatever they are given, in whichever module of TensorFlow's.
_SINGLE = frozenset(
    {"zeros", "ones", "zeros_like", "ones_like", "fill", "constant", "identity", "stop_gradient"}
    | {"placeholder", "placeholder_with_default", "convert_to_tensor", "cast", "reshape", "square"}
    | {"random_normal", "random_uniform", "truncated_normal", "normal", "uniform"}
    | {"Variable", "get_variable", "multiply", "negative", "sign", "expand_dims", "squeeze"}
    | {"add", "subtract", "divide", "matmul", "maximum", "minimum", "where", "clip_by_value"}
    | {"abs", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "softmax", "stack", "concat"}
    | {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "transpose", "gather"}
)
# Through how many names it is asked whether something is a tensor.
_DEPTH = 4


def sources_of(
    request: Request, reader: SourceReader, flow: Flow, kinds: Kinds
) -> Sources | Refusal:
    """What ``request`` is differentiated by."""
    if request.known is not None:
        return request.known
    sources = reader.read(request.sources)
    if request.variables:
        sources.leaves.append(Leaf(frozenset(), None, True, True, variables=True))
    if sources.refusal or not sources.leaves:
        return Refusal(
            sources.refusal or _none_found(request.sources),
            recipe_of(sources.refusal),
            unwatched=sources.used,
        )
    looked_up = next((x.watch for x in sources.leaves if _OF_GRAPH.search(x.watch or "")), None)
    if looked_up is not None:
        return found_in_graph(looked_up)
    return NONE_AMONG_SEEDS if _may_hold_none(request, flow, kinds) else sources


def _none_found(sources: ast.expr) -> str:
    if isinstance(sources, ast.List | ast.Tuple) and not sources.elts:
        return "the call has no source"
    return f"which tensors `{ast.unparse(sources)}` stands for here cannot be told"


def _may_hold_none(request: Request, flow: Flow, kinds: Kinds) -> bool:
    """Whether ``grad_ys`` is a list of which the code does not show that it holds no None."""
    given = request.output_gradients
    if given is None:
        return False
    values: list[ast.expr] = [given]
    if path_of(given) is not None:
        uses = _by_all_names(given, flow)
        values = [u.made.value for u in uses if u.made.value is not None]
        if any(u.made.kind is Kind.MUTATE and not _adds_tensors(u.made, flow, kinds) for u in uses):
            return True
        several = isinstance(request.target, ast.List | ast.Tuple)
        if several and any(u.made.kind is Kind.PARAM for u in uses):
            return True
        if any(
            _is_none(u.made.value) for u in uses if len(u.made.path) > len(path_of(given) or ())
        ):
            return True  # ``seeds[0] = None``
    elif any(_is_unpacked_none(each, flow) for each in _written_out(given)):
        return True
    for value in values:
        if may_list_none(value, kinds) or (value is not given and lists_none(value)):
            return True
        several = isinstance(request.target, ast.List | ast.Tuple)
        unknown = isinstance(value, ast.Call) and kinds.make(value) is Make.UNKNOWN
        if several and unknown:
            return True
    return False


def _by_all_names(node: ast.expr, flow: Flow) -> set[Use]:
    """What ``node`` reads, and what that has by another name: ``seeds = weights``."""
    found, stack = set[Use](), [node]
    while stack:
        new = flow.reads.get(stack.pop(), frozenset()) - found
        found |= new
        stack += [u.made.value for u in new if isinstance(u.made.value, ast.Name)]
    return found


def lists_none(value: ast.expr) -> bool:
    """Whether a None stands in the list."""
    return isinstance(value, ast.List | ast.Tuple) and any(map(_is_none, value.elts))


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_unpacked_none(node: ast.expr, flow: Flow) -> bool:
    """Whether it is taken out of a list in which a None stands: ``a, b = seeds``."""
    for made in origins(flow.reads.get(node, frozenset())):
        if made.kind is not Kind.ELEMENT or made.value is None:
            continue
        whole = [d.value for d in origins(flow.reads.get(made.value, frozenset()))]
        if any(each is not None and lists_none(each) for each in (made.value, *whole)):
            return True
    return False


def may_list_none(value: ast.expr, kinds: Kinds) -> bool:
    """Whether the list is made in one go, of what may be None."""
    return isinstance(value, ast.ListComp) and not _is_tensor(value.elt, kinds)


def _adds_tensors(made: Def, flow: Flow, kinds: Kinds) -> bool:
    """Whether a list was given nothing but tensors there: ``grads.append(a - b)``."""
    put_in = added(made.stmt.value) if isinstance(made.stmt, ast.Expr) else None
    return put_in is not None and all(_is_one_tensor(each, flow, kinds) for each in put_in)


def _is_one_tensor(node: ast.expr, flow: Flow, kinds: Kinds, depth: int = _DEPTH) -> bool:
    """Whether ``node``, or all that its name may stand for, plainly gives one tensor."""
    path = path_of(node)
    if path is None or not depth:
        return _is_tensor(node, kinds)
    # Functions that it may hold are none of it.
    made = [d for d in origins(flow.reads.get(node, frozenset())) if d.path[0] == path[0]]
    return bool(made) and all(
        d.kind is Kind.ASSIGN
        and d.path == path
        and d.value is not None
        and _is_one_tensor(d.value, flow, kinds, depth - 1)
        for d in made
    )


def _is_tensor(node: ast.expr, kinds: Kinds) -> bool:
    """Whether ``node`` plainly gives one tensor: no None, no list."""
    match node:
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.Pow() | ast.MatMult()):
            return True  # neither None nor lists take these
        case ast.BinOp(left=left, right=right):
            return _is_tensor(left, kinds) or _is_tensor(right, kinds)
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Call(func=func):
            return (short(kinds.name(func)) or "").rpartition(".")[2] in _SINGLE
    return False


def _varies(node: ast.expr, flow: Flow, kinds: Kinds) -> bool:
    """Whether what ``stop_gradients`` holds is now this and now that: ``[h] if partial else []``.

    Or cannot be told: ``hidden[:depth]``, ``modes[name]``.
    """
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(_is_one_of_several(each, flow, kinds) for each in elements)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            return _varies(inner, flow, kinds)
        case ast.Call():
            return short(kinds.name(node.func)) is None
        case ast.BinOp(left=left, right=right, op=op):  # ``[h] + more``, ``[h] * partial``
            repeated = isinstance(op, ast.Mult) and bool(_written_out(left) + _written_out(right))
            return repeated or any(_varies(each, flow, kinds) for each in (left, right))
    if path_of(node) is None:
        return not isinstance(node, ast.Constant | ast.UnaryOp)
    made = _one_made(node, flow)
    if made is None:
        return True
    given = made.kind is Kind.ASSIGN and made.path == path_of(node)
    return given and made.value is not None and _varies(made.value, flow, kinds)


def _beside_sources(request: Request) -> list[ast.expr]:
    """What ``stop_gradients`` is given that is no source: those are what they are in both."""
    sources = {ast.dump(each) for each in (request.sources, *_written_out(request.sources))}
    stop = request.stop
    if stop is None or ast.dump(stop) in sources:
        return []
    others = [each for each in _written_out(stop) if ast.dump(each) not in sources]
    return [ast.List(others, ast.Load())] if _written_out(stop) else [stop]


def _written_out(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else []


def _is_one_of_several(node: ast.expr, flow: Flow, kinds: Kinds) -> bool:
    """The same of an element of it, which is a tensor, and has a name."""
    if isinstance(node, ast.Starred):
        return _varies(node.value, flow, kinds)
    if isinstance(node, ast.List | ast.Tuple):
        return _varies(node, flow, kinds)
    return path_of(node) is None or _one_made(node, flow) is None


def _one_made(node: ast.expr, flow: Flow) -> Def | None:
    """What alone gives the name its value; None where that is changed, or one of several."""
    made = [use.made for use in flow.reads.get(node, frozenset())]
    known = len(made) == 1 and made[0].kind in (Kind.ASSIGN, Kind.ELEMENT, *_OUTSIDE)
    return made[0] if known else None


def stopped_at(
    request: Request, reader: SourceReader, room: Room, ops: Ops, flow: Flow, kinds: Kinds
) -> list[Def] | Refusal:
    """The definitions of ``stop_gradients`` that are not leaves anyway."""
    if request.stop is None:
        return []
    if any(_varies(each, flow, kinds) for each in _beside_sources(request)):
        shown = ast.unparse(request.stop)
        return Refusal(
            f"what `{shown}` in `stop_gradients` holds cannot be told, or is not always the same",
            STOP,
        )
    read = reader.read(request.stop)
    if read.refusal:
        return Refusal(f"in `stop_gradients`, {read.refusal}", STOP)
    found: list[Def] = []
    own = {d for x in reader.read(request.sources).leaves for d in x.defs}
    for leaf in read.leaves:
        for made in leaf.defs:
            if made.stmt is not None and room.leaves_a_loop(made.stmt, request.stmt):
                return Refusal(f"`{leaf.watch}` in `stop_gradients` is made anew in a loop", STOP)
            if made.kind is Kind.ELEMENT:
                return Refusal(
                    "a tensor in `stop_gradients` is one of several results of one op, and "
                    "`tf.gradients` stops at the whole op",
                    STOP,
                )
            if leaf.watch is not None and not leaf.watch.startswith(text_of(made.path)):
                names = f"`{leaf.watch}` and `{text_of(made.path)}`"
                return Refusal(f"a tensor in `stop_gradients` goes by two names, {names}", STOP)
            if made.kind in _OUTSIDE or made.stmt is None:
                if made not in own and not leaf.variables:
                    return Refusal(
                        f"`{text_of(made.path)}`, where the gradient is to stop, was made outside "
                        "of this function",
                        STOP,
                    )
            elif leaf.watch is not None and leaf.watch != text_of(made.path):
                whole = f"`{text_of(made.path)}`, which is made as a whole"
                return Refusal(f"`{leaf.watch}` in `stop_gradients` is a part of {whole}", STOP)
            elif ops.make(made) not in _PLAIN:
                found.append(made)
    return found

"""Targets that are no tensors on some way: ``reg = 0.0``, to which a term may be added."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import Function, named_defaults
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import of_path, origins
from tapemigrate.source.trees import kept, walk
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.request import Refusal, Request


def number_among(request: Request, flow: Flow, kinds: Kinds) -> Refusal | None:
    """That one of the targets may be a number, which ``tf.gradients`` makes a tensor, and a tape
    does not.
    """
    target = request.target
    if request.api in ("kept", "threaded"):
        return None  # it is no target here, but what one is made of elsewhere
    for each in _listed(target, flow):
        if not _may_be_number(each, flow, kinds):
            continue
        text = ast.unparse(each)
        return Refusal(
            f"`{text}` may be a number, which `tf.gradients` makes a tensor of, and a tape takes "
            "for no target",
            f"Make a tensor of it: `tf.convert_to_tensor({text})`.",
        )
    return None


def _listed(target: ast.expr, flow: Flow) -> Iterator[ast.expr]:
    """The targets, also those in a list that has a name, and what is put into it by ``append``."""
    if isinstance(target, ast.List | ast.Tuple):
        for each in target.elts:
            yield from _listed(each, flow)
        return
    yield target
    for made in of_path(flow.reads.get(target, frozenset()), path_of(target)):
        if made.kind is Kind.MUTATE:
            yield from _appended(made.value)
        elif made.kind is Kind.ASSIGN and isinstance(made.value, ast.List | ast.Tuple):
            yield from made.value.elts


def _appended(value: ast.expr | None) -> Iterator[ast.expr]:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        yield from value.args if value.func.attr == "append" else ()


def _may_be_number(target: ast.expr, flow: Flow, kinds: Kinds) -> bool:
    if _gives_number(target, kinds) or _is_number_of_dict(target, flow, kinds):
        return True
    path = path_of(target)
    made = [d for d in origins(flow.reads.get(target, frozenset())) if d.path == path]
    if any(d.loops for d in made):
        return False  # a sum that a loop adds to: it has a round
    args = flow.scope.args if isinstance(flow.scope, Function) else None
    usual = named_defaults(args) if args is not None else {}
    if any(d.kind is Kind.PARAM and _is_number(usual.get(d.path[0], target)) for d in made):
        return True
    return any(_is_given_number(each, kinds) for each in made)


def _is_number_of_dict(target: ast.expr, flow: Flow, kinds: Kinds) -> bool:
    """``losses["kl"]`` of a dict that is written out, also where a function gives it."""
    if not isinstance(target, ast.Subscript):
        return False
    key = target.slice.value if isinstance(target.slice, ast.Constant) else None
    uses = flow.reads.get(target.value) or flow.reads.get(target, frozenset())
    values = [d.value for d in origins(uses) if d.path == path_of(target.value)]
    ends = [end for v in values if v is not None for end in (v, *_ends(v, kinds))]
    return any(
        _is_number(value)
        for end in ends
        if isinstance(end, ast.Dict)
        for name, value in zip(end.keys, end.values, strict=True)
        if key is None or (isinstance(name, ast.Constant) and name.value == key)
    )


def _is_given_number(made: Def, kinds: Kinds) -> bool:
    """Whether a name is given one, also as a part of what a function gives."""
    if made.value is None:
        return False
    if made.kind is Kind.ELEMENT and isinstance(made.stmt, ast.Assign):
        (target, *_) = made.stmt.targets
        elements = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        places = [n for n, each in enumerate(elements) if path_of(each) == made.path]
        ends = _ends(made.value, kinds)
        given = [e.elts for e in ends if isinstance(e, ast.Tuple) and len(e.elts) == len(elements)]
        return any(_is_number(each[n]) for each in given for n in places)
    return made.kind is Kind.ASSIGN and _gives_number(made.value, kinds)


def _gives_number(value: ast.expr, kinds: Kinds) -> bool:
    """Whether it is one that is written out, on some way, or a function of the file gives it.

    ``np.float32(0)`` is one as well.
    """
    return any(
        _is_number(each) or (isinstance(each, ast.Call) and kinds.make(each) is Make.PYTHON)
        for each in (value, *_ends(value, kinds))
    )


def _ends(value: ast.expr, kinds: Kinds) -> list[ast.expr]:
    """What a function of the file may give that is called here, as written after ``return``."""
    function = kinds.called(value) if isinstance(value, ast.Call) else None
    if function is None or function.decorator_list:
        return []
    ends = [n.value for n in walk(function) if isinstance(n, ast.Return)]
    numbers = kept(function, _numbers)
    return [_with_numbers(end, numbers) for end in ends if end is not None]


def _with_numbers(end: ast.expr, numbers: dict[str, ast.expr]) -> ast.expr:
    """What is given, with the numbers that its names may stand for in place of these."""
    if isinstance(end, ast.Tuple):
        return ast.Tuple([_with_numbers(each, numbers) for each in end.elts], ast.Load())
    if isinstance(end, ast.Dict):
        return ast.Dict(end.keys, [_with_numbers(each, numbers) for each in end.values])
    return numbers.get(end.id, end) if isinstance(end, ast.Name) else end


def _numbers(function: ast.AST) -> dict[str, ast.expr]:
    """The names that are given a number, and something else under a condition at most.

    A sum that a loop adds to has a round.
    """
    found: dict[str, ast.expr] = {}
    for stmt in getattr(function, "body", ()):
        for node in walk(stmt) if not isinstance(stmt, ast.If) or _loops(stmt) else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.pop(node.id, None)
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_number(value):
                found[name] = value
            case ast.If(orelse=[_, *_]):
                body, other = ({*_given(each)} for each in (stmt.body, stmt.orelse))
                found = {n: v for n, v in found.items() if n not in body & other}
    return found


def _loops(stmt: ast.stmt) -> bool:
    return any(isinstance(n, ast.For | ast.While) for n in walk(stmt))


def _given(body: list[ast.stmt]) -> Iterator[str]:
    nodes = (node for stmt in body for node in walk(stmt))
    return (n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_number(value.body) or _is_number(value.orelse)
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    )

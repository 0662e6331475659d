"""Targets that are no tensors on some way: ``reg = 0.0``, to which a term may be added."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Kinds
from tapemigrate.tape.request import Refusal, Request


def number_among(request: Request, flow: Flow, kinds: Kinds) -> Refusal | None:
    """That one of the targets may be a number, which ``tf.gradients`` makes a tensor, and a tape
    does not.
    """
    target = request.target
    if request.api in ("kept", "threaded"):
        return None  # it is no target here, but what one is made of elsewhere
    listed = target.elts if isinstance(target, ast.List | ast.Tuple) else [target]
    for each in listed:
        if not _may_be_number(each, flow, kinds):
            continue
        text = ast.unparse(each)
        return Refusal(
            f"`{text}` may be a number, which `tf.gradients` makes a tensor of, and a tape takes "
            "for no target",
            f"Make a tensor of it: `tf.convert_to_tensor({text})`.",
        )
    return None


def _may_be_number(target: ast.expr, flow: Flow, kinds: Kinds) -> bool:
    if _gives_number(target, kinds):
        return True
    path = path_of(target)
    made = [d for d in origins(flow.reads.get(target, frozenset())) if d.path == path]
    if any(d.loops for d in made):
        return False  # a sum that a loop adds to: it has a round
    values = (d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None)
    return any(_gives_number(value, kinds) for value in values)


def _gives_number(value: ast.expr, kinds: Kinds) -> bool:
    """Whether it is one that is written out, on some way, or a function of the file gives it."""
    function = kinds.called(value) if isinstance(value, ast.Call) else None
    if function is not None and not function.decorator_list:
        ends = [n.value for n in walk(function) if isinstance(n, ast.Return)]
        return any(end is not None and _is_number(end) for end in ends)
    return _is_number(value)


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_number(value.body) or _is_number(value.orelse)
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    )

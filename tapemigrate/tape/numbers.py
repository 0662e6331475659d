"""Targets that are no tensors on some way: ``reg = 0.0``, to which a term may be added."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import Function, named_defaults
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import of_path, origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Kinds, Make
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
    if _gives_number(target, kinds):
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
    """Whether it is one that is written out, on some way, or a function of the file gives it."""
    if isinstance(value, ast.Call) and kinds.make(value) is Make.PYTHON:
        return True  # ``np.float32(0)``
    return _is_number(value) or any(_is_number(end) for end in _ends(value, kinds))


def _ends(value: ast.expr, kinds: Kinds) -> list[ast.expr]:
    """What a function of the file may give that is called here, as written after ``return``."""
    function = kinds.called(value) if isinstance(value, ast.Call) else None
    if function is None or function.decorator_list:
        return []
    ends = [n.value for n in walk(function) if isinstance(n, ast.Return)]
    return [end for end in ends if end is not None]


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_number(value.body) or _is_number(value.orelse)
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    )

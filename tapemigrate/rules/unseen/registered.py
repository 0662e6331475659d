"""Gradients that a file registers for ops, and that a tape cannot call.

A tape hands them a stand-in of the op, which has its inputs, outputs, type and attributes, and no
more: https://github.com/tensorflow/tensorflow/blob/v1.15.5/tensorflow/python/eager/backprop.py#L86
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.request import Refusal

#: The word without which a file registers none.
REGISTERING = "RegisterGradient"
_OF_STAND_IN = frozenset({"inputs", "outputs", "type", "get_attr", "attrs"})


def asking_for_more(unit: Unit) -> dict[str, Refusal]:
    """The names by which the file makes ops whose gradient asks for more of them than there is."""
    asking = {plain: refusal for plain, refusal in registered_in(unit).items() if refusal}
    nodes = (*unit.nodes(ast.Attribute), *unit.nodes(ast.Name)) if asking else ()
    names = {name for node in nodes if (name := last_of(node)) is not None}
    return {name: asking[plain_name(name)] for name in names if plain_name(name) in asking}


def registered_in(unit: Unit) -> dict[str, Refusal | None]:
    """The ops that the file gives a gradient, by plain names, and why a tape cannot call it."""
    if REGISTERING not in unit.text:
        return {}
    asking: dict[str, Refusal | None] = {}
    for op, function in _registered(unit):
        asking.setdefault(plain_name(op), None)
        first = next(iter((*function.args.posonlyargs, *function.args.args)), None)
        for node in walk(function):
            path = path_of(node) if isinstance(node, ast.Attribute) else None
            if path is None or first is None or path[0] != first.arg or len(path) != 2:
                continue
            if path[1].lstrip(".") not in _OF_STAND_IN:
                asking[plain_name(op)] = Refusal(
                    f"`{function.name}`, the gradient of `{op}`, asks for `{ast.unparse(node)}`, "
                    "and the op that a tape hands it has no such part",
                    "Give the op its gradient with `@tf.custom_gradient`, which knows what the "
                    "forward pass knew.",
                )
    return asking


def _registered(unit: Unit) -> Iterator[tuple[str, NamedFunction]]:
    """The types of ops, and the functions that are registered for them."""
    functions = [each for each in unit.definitions if isinstance(each, ast.FunctionDef)]
    for function in functions:
        yield from ((op, function) for d in function.decorator_list if (op := _type_in(d)))
    for call in unit.nodes(ast.Call):
        if (op := _type_in(call.func)) and call.args and isinstance(call.args[0], ast.Name):
            name = call.args[0].id
            yield from ((op, each) for each in functions if each.name == name)


def _type_in(registering: ast.expr) -> str:
    """``"MyOp"`` of ``tf.RegisterGradient("MyOp")``; nothing where it is anything else."""
    match registering:
        case ast.Call(func=func, args=[ast.Constant(value=str(op))]):
            return op if last_of(func) == REGISTERING else ""
    return ""


def plain_name(name: str) -> str:
    """Of the type of an op and the name of its function, what they have in common."""
    return name.replace("_", "").lower()

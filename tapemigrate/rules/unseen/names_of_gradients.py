"""Ops of gradients that a file finds by their names, which a tape does not give them."""

from __future__ import annotations

import ast

from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.reasons import LOOKING_UP
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import arguments_of, walk

# See tensorflow/python/ops/gradients_util.py, ``_GradientsHelper``.
_OF_GRADIENTS = late(r"(?:[\w.-]+/)*gradients(?:_\d+)?(?:/|$)")
_FINDING = (*LOOKING_UP, "as_graph_element", "run")


def goes_by_names(unit: Unit) -> bool:
    """Whether it looks up ``"gradients/…"``, or asks of an op whether that is in its name."""
    if "gradients" not in unit.text:
        return False
    return any(map(_looks_up_gradients, unit.nodes(ast.Call))) or any(
        _is_name_of_gradients(each.left) and any(map(_is_name, each.comparators))
        for each in unit.nodes(ast.Compare)
    )


def _looks_up_gradients(call: ast.Call) -> bool:
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr == "startswith":
        return _is_name(func.value) and any(map(_is_name_of_gradients, call.args))
    if last_of(func) not in _FINDING:
        return False
    return any(_is_name_of_gradients(n) for a in arguments_of(call) for n in walk(a))


def _is_name_of_gradients(node: ast.AST) -> bool:
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and _OF_GRADIENTS.match(text) is not None


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "name"

"""Lists and dicts of tensors in which a function only looks tensors up: nothing is put in there."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.sources.made_sources import may_give_list


def only_looks_up_tensors(caller: View, given: ast.expr, view: View, name: str) -> bool:
    """Whether ``given`` holds tensors alone, which the function takes out of ``name`` one by one.

    A tensor is no container: who has one can put nothing into what it was taken out of.
    """
    return _is_looked_up_in(view, name) and _holds_tensors(caller, given)


def _is_looked_up_in(view: View, name: str) -> bool:
    for node in walk(view.scope):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        match view.unit.parents.get(node):
            case ast.Subscript(value=value, slice=ast.Constant(), ctx=ast.Load()):
                if value is not node:
                    return False
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                continue
            case _:
                return False
    return True


def _holds_tensors(view: View, given: ast.expr) -> bool:
    values: list[ast.expr | None] = [given]
    if isinstance(given, ast.Name):
        values = [d.value for d in origins(view.flow.uses_in(given))]
    return bool(values) and all(_lists_tensors(view, value) for value in values)


def _lists_tensors(view: View, value: ast.expr | None) -> bool:
    match value:
        case ast.Constant(value=None):
            return True
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(_is_tensor(view, part) for part in parts)
    return False


def _is_tensor(view: View, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        made = view.kinds.make(node) in (Make.TENSOR, Make.LEAF)
        return (
            made and view.kinds.name(node.func) is not None and not may_give_list(view.kinds, node)
        )
    path = path_of(node)
    found = origins(view.flow.uses_in(node)) if isinstance(node, ast.Name) else frozenset()
    return bool(found) and all(
        d.kind is Kind.ASSIGN
        and d.path == path
        and isinstance(d.value, ast.Call)
        and _is_tensor(view, d.value)
        for d in found
    )

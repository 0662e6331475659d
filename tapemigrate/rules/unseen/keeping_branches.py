"""Branches of a graph that may leave what they make where code outside of them finds it.

With the control flow of version 2 a branch has a graph of its own
(``tensorflow/python/ops/cond_v2.py``), of which nothing may be used outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.rules.finding import Unit
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.symbols import short

_BRANCHING = frozenset({"cond", "case", "switch_case", "while_loop"})
# They put ops into collections.
_COLLECTING = ("add_to_collection", "batch_norm", "summary", "losses", "layers", "get_variable")
_Branch = ast.FunctionDef | ast.Lambda


def branches_that_keep(unit: Unit) -> Iterator[_Branch]:
    """The branches in a file that may keep an op or tensor for code outside of them."""
    named = {each.name: each for each in unit.nodes(ast.FunctionDef)}
    for call in unit.nodes(ast.Call):
        name = short(unit.names.qualified(call.func))
        if name is None or name.rpartition(".")[2] not in _BRANCHING:
            continue
        for value in arguments_of(call):
            for part in ast.walk(value):
                branch = named.get(part.id) if isinstance(part, ast.Name) else part
                if isinstance(branch, ast.FunctionDef | ast.Lambda) and _keeps(unit, branch):
                    yield branch


def _keeps(unit: Unit, branch: _Branch) -> bool:
    for node in walk(branch):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.Global | ast.Nonlocal):
            return True
        if isinstance(node, ast.Call):
            name = short(unit.names.qualified(node.func))
            if name is None or any(word in name for word in _COLLECTING):
                return True
    return False

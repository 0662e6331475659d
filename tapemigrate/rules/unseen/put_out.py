"""What branches and loops of the graph put where code outside of them finds it.

TensorFlow 2 makes a graph of its own of each function that ``tf.cond`` or ``tf.while_loop`` runs.
What such a function puts on an object is a tensor of that graph, and reading it elsewhere raises.
TensorFlow 1 let it pass: a file for which the new control flow is turned on may have relied on it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import Function, NamedFunction
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.finding import Unit
from tapemigrate.source.trees import declarations, parts_of_target, walk
from tapemigrate.tape.ops.symbols import short

_RUNNING = frozenset(
    {"cond", "case", "switch_case", "smart_cond", "while_loop", "map_fn", "scan", "foldl", "foldr"}
)
_NO_TENSORS = (ast.Constant, ast.Lambda)


def put_out(unit: Unit) -> list[str]:
    """What is assumed of it where control flow of TensorFlow 2 is turned on in the file."""
    return unit.once(_put_out)


def _put_out(unit: Unit) -> list[str]:
    found: dict[str, None] = {}
    for function in _run_by_tensorflow(unit):
        inside = {*walk(function)}
        for target in _set_in(function):
            if any(_reads(node, target) for node in _named(unit) if node not in inside):
                told = f"`{ast.unparse(target)}`, which a branch or loop of the graph sets, is not "
                found[f"{told}read outside of that"] = None
    return list(found)


def _run_by_tensorflow(unit: Unit) -> Iterator[Function]:
    """The functions of the file that are handed to what runs them in the graph."""
    by_name: dict[str, list[Function]] = {}
    for definition in unit.definitions:
        if isinstance(definition, NamedFunction):
            by_name.setdefault(definition.name, []).append(definition)
    for call in unit.nodes(ast.Call):
        name = short(unit.names.qualified(call.func)) or ""
        if name.rpartition(".")[2] not in _RUNNING:
            continue
        for node in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(node, ast.Lambda):
                yield node
            elif isinstance(node, ast.Name | ast.Attribute):
                yield from by_name.get(node.id if isinstance(node, ast.Name) else node.attr, ())


def _set_in(function: Function) -> Iterator[ast.Name | ast.Attribute]:
    """The attributes, and names of functions around, that it gives what an op may have made."""
    body = function.body if isinstance(function.body, list) else []
    outer = {name for stmt in declarations(body) for name in stmt.names}
    for stmt in (n for each in body for n in walk(each) if isinstance(n, ast.Assign)):
        for given, value in each_given(stmt):
            for target in parts_of_target(given) if not isinstance(value, _NO_TENSORS) else ():
                named = isinstance(target, ast.Name) and target.id in outer
                if isinstance(target, ast.Attribute) or (named and isinstance(target, ast.Name)):
                    yield target


def _named(unit: Unit) -> Iterator[ast.Name | ast.Attribute]:
    yield from unit.nodes(ast.Name)
    yield from unit.nodes(ast.Attribute)


def _reads(node: ast.Name | ast.Attribute, target: ast.Name | ast.Attribute) -> bool:
    if not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(node, ast.Name) and isinstance(target, ast.Name):
        return node.id == target.id
    if isinstance(node, ast.Attribute) and isinstance(target, ast.Attribute):
        return node.attr == target.attr
    return False

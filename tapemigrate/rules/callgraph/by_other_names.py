"""The functions of a file that some code of it runs by other names than theirs."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import parameters
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of
from tapemigrate.source.trees import arguments_of, walk


def run_by_other_names(unit: Unit, root: ast.AST) -> frozenset[str]:
    """Those that calls in ``root`` run, hand on, or may have been handed."""
    callables = effects_of(unit).callables
    found: set[str] = set()
    for node in (n for n in walk(root) if isinstance(n, ast.Subscript)):
        found.update(callables.handed(node.value))  # ``defaultdict(make)``
    for call in (n for n in walk(root) if isinstance(n, ast.Call)):
        found.update(callables.called(call.func))
        for argument in arguments_of(call):
            found.update(callables.handed(argument))
        if _name(call.func) in unit.once(_parameters):
            found |= unit.once(_handed)
    return frozenset(found)


def _name(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _parameters(unit: Unit) -> frozenset[str]:
    """The names of parameters, and of the attributes that they are kept as."""
    functions = [n for n in unit.definitions if isinstance(n, ast.FunctionDef)]
    own = {a.arg for function in functions for a in parameters(function.args)}
    kept = {
        target.attr
        for stmt in unit.nodes(ast.Assign)
        if isinstance(stmt.value, ast.Name) and stmt.value.id in own
        for target in stmt.targets
        if isinstance(target, ast.Attribute)
    }
    return frozenset(own | kept)


def _handed(unit: Unit) -> frozenset[str]:
    """The functions that calls are handed, or that are the default of a parameter."""
    callables = effects_of(unit).callables
    given = [a for call in unit.nodes(ast.Call) for a in arguments_of(call)]
    for args in unit.nodes(ast.arguments):
        given += [d for d in (*args.defaults, *args.kw_defaults) if d is not None]
    return frozenset().union(*map(callables.handed, given))

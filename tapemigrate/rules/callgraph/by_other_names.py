"""The functions of a file that some code of it runs by other names than theirs."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of
from tapemigrate.source.trees import arguments_of, walk

# What no function is. Of lists and dicts, the elements may be.
_VALUES = (ast.ListComp, ast.DictComp, ast.BinOp)


def run_by_other_names(unit: Unit, root: ast.AST) -> frozenset[str]:
    """Those that calls in ``root`` run, hand on, or may have been handed."""
    callables = effects_of(unit).callables
    found: set[str] = set()
    for node in (n for n in walk(root) if isinstance(n, ast.Subscript)):
        found.update(callables.handed(node.value))  # ``defaultdict(make)``
    for call in (n for n in walk(root) if isinstance(n, ast.Call)):
        found.update(callables.called(call.func))
        for argument in arguments_of(call):
            if not is_own_value(unit, argument):
                found.update(callables.handed(argument))
        if _name(call.func) in unit.once(_parameters):
            found |= unit.once(_handed)
    return frozenset(found)


def is_own_value(unit: Unit, node: ast.expr) -> bool:
    """Whether a function has a value by the name of another one: ``variables = [a, b]``."""
    if not isinstance(node, ast.Name) or node.id not in unit.once(_defined):
        return False
    scope: ast.AST | None = unit.parents.get(node)
    while scope is not None and not isinstance(scope, NamedFunction):
        scope = unit.parents.get(scope)
    if scope is None:
        return False
    made = {
        target
        for stmt in walk(scope)
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, _VALUES)
        for target in stmt.targets
    }
    given = [each for each in walk(scope) if _gives(each, node.id)]
    return bool(given) and made.issuperset(given)


def _defined(unit: Unit) -> frozenset[str]:
    return frozenset(each.name for each in unit.definitions)


def _gives(node: ast.AST, name: str) -> bool:
    """Whether the node gives the name a meaning in its scope."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == name
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    return isinstance(node, NamedFunction | ast.ClassDef) and node.name == name


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

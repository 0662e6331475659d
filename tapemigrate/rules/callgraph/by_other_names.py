"""The functions of a file that some code of it runs by other names than theirs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of
from tapemigrate.source.trees import arguments_of, kept, walk

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
    return scope is not None and node.id in kept(scope, _values)


def _values(scope: ast.AST) -> frozenset[str]:
    """The names to which a function gives nothing but such values."""
    made = {
        target
        for stmt in walk(scope)
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, _VALUES)
        for target in stmt.targets
    }
    given = [(name, each in made) for each in walk(scope) for name in _given(each)]
    return frozenset(dict(given)) - {name for name, is_value in given if not is_value}


def _defined(unit: Unit) -> frozenset[str]:
    return frozenset(each.name for each in unit.definitions)


def _given(node: ast.AST) -> Sequence[str]:
    """The names to which the node gives a meaning in its scope."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return (name,)
        case ast.ClassDef(name=name):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
    return ()


def _name(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _parameters(unit: Unit) -> frozenset[str]:
    """The names of parameters, and of the attributes that they are kept as."""
    functions = [n for n in unit.definitions if isinstance(n, ast.FunctionDef)]
    own = {a.arg for function in functions for a in parameters(function.args)}
    attributes = {
        target.attr
        for stmt in unit.nodes(ast.Assign)
        if isinstance(stmt.value, ast.Name) and stmt.value.id in own
        for target in stmt.targets
        if isinstance(target, ast.Attribute)
    }
    return frozenset(own | attributes)


def _handed(unit: Unit) -> frozenset[str]:
    """The functions that calls are handed, or that are the default of a parameter."""
    callables = effects_of(unit).callables
    given = [a for call in unit.nodes(ast.Call) for a in arguments_of(call)]
    for args in unit.nodes(ast.arguments):
        given += [d for d in (*args.defaults, *args.kw_defaults) if d is not None]
    return frozenset().union(*map(callables.handed, given))

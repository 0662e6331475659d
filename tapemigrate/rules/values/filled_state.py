"""What functions of a file put into things that outlive them."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, kinds_of
from tapemigrate.rules.values.provenance import PLAIN, VARIABLE, root_of
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.kinds import Kinds, Make

# What ``filled_state`` looks at.
_FILLING = frozenset({ast.Assign, ast.AugAssign, ast.Call, ast.FunctionDef})


def filled_state(unit: Unit) -> frozenset[str]:
    """What functions put values into that outlives them, other than variables.

    Dicts, lists and objects at module level, classes, and functions that have a list for a default,
    or attributes.
    """
    tree = unit.tree
    effects = effects_of(unit)
    kinds = kinds_of(unit)
    names = {
        target.id
        for stmt in tree.body
        if isinstance(stmt, ast.Assign | ast.AnnAssign)
        and stmt.value is not None
        and _holds_values(stmt.value, kinds)
        for target in (stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target])
        if isinstance(target, ast.Name)
    } | {stmt.name for stmt in tree.body if isinstance(stmt, ast.ClassDef)}
    functions = {stmt.name for stmt in tree.body if isinstance(stmt, ast.FunctionDef)}
    methods = {
        (cls.name, f".{each.name}")
        for cls in tree.body
        if isinstance(cls, ast.ClassDef)
        for each in cls.body
        if isinstance(each, ast.FunctionDef)
        and [path_of(d) for d in each.decorator_list] in ([], [("staticmethod",)])
    }
    found: set[str] = set()
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        shared = {n for s in walk(function) if isinstance(s, ast.Global) for n in s.names}
        for node in walk(function):
            if node.__class__ not in _FILLING:
                continue
            if isinstance(node, ast.Assign | ast.AugAssign) and shared:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if kinds.make(node.value) not in (*VARIABLE, *PLAIN):
                    found |= {t.id for t in targets if isinstance(t, ast.Name)} & shared
            name, values = _filled(node)
            if isinstance(node, ast.Call) and path_of(node.func) in methods:
                continue  # what it puts into the class stands in its own body
            keeps = name in names or (name in functions and isinstance(node, ast.Assign))
            if keeps and not all(_is_uncomputed(v, function, shared, kinds) for v in values):
                found.add(name or "")
            if isinstance(node, ast.FunctionDef) and (
                _fills_a_default(node) or effects.remembers(node)
            ):
                found.add(node.name)
    return frozenset(found)


def _is_uncomputed(value: ast.expr, function: ast.AST, shared: set[str], kinds: Kinds) -> bool:
    """Whether it is a number, a variable, or a name that the function gives to variables alone."""
    if kinds.make(value) in (*VARIABLE, *PLAIN):
        return True
    if not isinstance(value, ast.Name) or value.id in shared:
        return False
    nodes = walk(function)
    bound: list[ast.AST] = [n for n in nodes if isinstance(n, ast.arg) and n.arg == value.id]
    names = (n for n in nodes if isinstance(n, ast.Name) and n.id == value.id)
    bound += [n for n in names if not isinstance(n.ctx, ast.Load)]
    given = [
        stmt.value
        for stmt in nodes
        if isinstance(stmt, ast.Assign) and stmt.targets[0] in bound and len(stmt.targets) == 1
    ]
    # A list by a name may have something else put into it.
    alone = all(kinds.make(each) in (Make.VARIABLE, Make.FROZEN) for each in given)
    return 0 < len(bound) == len(given) and alone


def _fills_a_default(function: ast.FunctionDef) -> bool:
    args = function.args
    named = [*args.posonlyargs, *args.args]
    lists = {
        a.arg
        for a, d in zip(named[len(named) - len(args.defaults) :], args.defaults, strict=True)
        if isinstance(d, ast.List | ast.Dict | ast.Set)
    }
    return bool(lists) and any(_filled(node)[0] in lists for node in walk(function))


def _holds_values(value: ast.expr, kinds: Kinds) -> bool:
    return _is_container(value) or (isinstance(value, ast.Call) and kinds.makes_object(value))


def _is_container(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("dict", "list", "set", "defaultdict", "OrderedDict")
    return isinstance(value, ast.Dict | ast.List | ast.Set)


def _filled(node: ast.AST) -> tuple[str | None, list[ast.expr]]:
    """The name of what is put into, and the values."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript | ast.Attribute):
                if (root := root_of(target)) is not None:
                    return root, [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.args or node.keywords:
            return root_of(node.func), arguments_of(node)
    return None, []

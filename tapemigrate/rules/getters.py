"""Custom getters, and creators of variables: what ``get_variable`` gives where one is set."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.finding import Unit
from tapemigrate.source.trees import walk

#: What stands in the text of a file that sets such a getter, and of one that sets a creator.
GETTING = "custom_getter"
CREATING = "variable_creator_scope"
_KEYWORDS = (GETTING, f"{GETTING}_")  # of ``make_template``
_SETTER = "set_custom_getter"


def sets_getter(unit: Unit) -> bool:
    """Whether a scope gets a getter there that may give something else than a variable, or one
    that is not trainable.
    """
    given: list[ast.expr] = []
    for node in walk(unit.tree):
        match node:
            case ast.Call(func=func, args=args, keywords=keywords):
                given += [k.value for k in keywords if k.arg in _KEYWORDS]
                if isinstance(func, ast.Attribute) and func.attr == _SETTER:
                    given += args[:1]
            case ast.Dict(keys=keys, values=values):
                # ``tf.variable_scope("net", **options)``
                pairs = zip(keys, values, strict=True)
                given += [v for k, v in pairs if getattr(k, "value", None) in _KEYWORDS]
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Store()) if key in _KEYWORDS:
                return True
    return any(_computes(unit, value) for value in given)


def sets_creator(unit: Unit) -> bool:
    """The same of what makes variables in a scope: ``tf.variable_creator_scope(frozen)``."""
    calls = (n for n in unit.nodes(ast.Call) if getattr(n.func, "attr", "") == CREATING)
    return any(_computes(unit, value) for call in calls for value in call.args[:1])


def _computes(unit: Unit, getter: ast.expr) -> bool:
    name = getattr(getter, "id", getattr(getter, "attr", ""))
    functions: list[ast.AST] = [f for f in unit.definitions if f.name == name]
    if isinstance(getter, ast.Constant) or (not functions and _is_handed_on(unit, getter)):
        return False
    if isinstance(getter, ast.Lambda):
        functions = [getter]
    return not functions or not all(map(_gives_the_variable, functions))


def _is_handed_on(unit: Unit, getter: ast.expr) -> bool:
    """Whether it is what the function around was handed, or keeps: ``self._custom_getter``.

    Whoever hands it in names it so, too.
    """
    if isinstance(getter, ast.Attribute):
        return getter.attr.strip("_") == GETTING
    scope = unit.parents.get(getter)
    while scope is not None:
        if isinstance(scope, NamedFunction) and isinstance(getter, ast.Name):
            known = {a.arg for a in parameters(scope.args) if a.arg.strip("_") == GETTING}
            if getter.id in known:
                return True
        scope = unit.parents.get(scope)
    return False


def _gives_the_variable(function: ast.AST) -> bool:
    """Whether it gives what the getter that it is handed does, as it is, and as it was asked to."""
    if any(_decides(node) for node in walk(function)):
        return False
    if isinstance(function, ast.Lambda):
        ends: list[ast.expr | None] = [function.body]
    else:
        ends = [node.value for node in walk(function) if isinstance(node, ast.Return)]
    given = {a.arg for a in walk(function) if isinstance(a, ast.arg)}
    made: dict[str, list[ast.expr | None]] = {}
    for node in walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            made.setdefault(node.targets[0].id, []).append(node.value)
    stored = {
        n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }

    def is_variable(value: ast.expr | None) -> bool:
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id in given - stored
        values = made.get(value.id, []) if isinstance(value, ast.Name) else []
        return bool(values) and all(isinstance(v, ast.Call) and is_variable(v) for v in values)

    return bool(ends) and all(map(is_variable, ends))


def _decides(node: ast.AST) -> bool:
    """Whether it says of a variable that it is trainable, or is not."""
    named = getattr(node, "arg", None) if isinstance(node, ast.keyword) else None
    return "trainable" in (named, node.value if isinstance(node, ast.Constant) else None)

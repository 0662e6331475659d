"""Whether code at hand makes variables where something is computed.

No proof: it only tells whether it is likely that a tensor was computed from variables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import defined
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk

_LIBRARIES = ("keras.", "sonnet.", "tensorlayer.", "tf_slim.", "tflearn.", "tensorpack.")
_LAYERS = ("tensorflow.layers.", "tensorflow.keras.layers.", "tensorflow.contrib.")
_MAKERS = frozenset({"get_variable", "Variable", "VariableV1", "dense", "fully_connected"})
# What is made from nothing, and is no network's.
_FROM_NOTHING = frozenset(
    {"placeholder", "placeholder_with_default", "constant", "random_normal", "random_uniform"}
)
# Through how many functions calls are followed.
_MOST = 40


def shows_variables(roots: Iterable[ast.AST], name: str, unit: Unit, project: Project) -> bool:
    """Whether what ``roots`` call makes variables; not if ``name`` is seen to be an input there."""
    pending: list[tuple[ast.AST, Unit]] = [(root, unit) for root in roots]
    seen: set[ast.AST] = set()
    found = False
    while pending and len(seen) < _MOST:
        code, home = pending.pop(0)
        if code in seen:
            continue
        seen.add(code)
        if _gives_input(code, name):
            return False
        for node in walk(code):
            called = _called(node)
            if not called:
                continue
            found |= _is_maker(called, node, home)
            pending += (
                (each, other)
                for other in project.units.defining(called)
                for each in other.once(defined).get(called, ())
            )
    return found


def made_among_variables(name: str, project: Project) -> bool:
    """Whether functions at hand that give ``name`` a value make variables, too."""
    return any(
        shows_variables([each], name, unit, project)
        for unit in project.units.with_text([name])
        for each in (*unit.nodes(ast.ClassDef), *unit.nodes(ast.FunctionDef))
        if _sets(each, name)
    )


def may_be_input(name: str, project: Project) -> bool:
    """Whether an object or a dict at hand has a part of that name that was given to it as it is."""
    return any(
        not _computes(value)
        for unit in project.units.with_text([name])
        for node in (*unit.nodes(ast.Assign), *unit.nodes(ast.Dict), *unit.nodes(ast.Call))
        for value in _given_to_part(node, name)
    )


def _given_to_part(node: ast.AST, name: str) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets, value=value):
            return [each for target in targets for each in _given_to(target, value, name)]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == name]
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [k.value for k in keywords if k.arg == name]
    return []


def _given_to(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """What is given to an attribute, or an element, of that name."""
    if isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        if len(values) != len(target.elts):
            return []
        pairs = zip(target.elts, values, strict=True)
        return [each for t, v in pairs for each in _given_to(t, v, name)]
    match target:
        case ast.Attribute(attr=part) | ast.Subscript(slice=ast.Constant(value=part)):
            return [value] if part == name else []
    return []


def _computes(value: ast.expr) -> bool:
    if _called(value) in _FROM_NOTHING:
        return False
    return isinstance(value, ast.Call | ast.BinOp | ast.UnaryOp | ast.Dict | ast.List)


def _called(node: ast.AST) -> str:
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _is_maker(called: str, node: ast.AST, unit: Unit) -> bool:
    if called in _MAKERS:
        return True
    path = unit.names.qualified(node.func) if isinstance(node, ast.Call) else None
    plain = (path or "").replace(".compat.v1", "")
    return plain.startswith((*_LIBRARIES, *_LAYERS))


def _gives_input(code: ast.AST, name: str) -> bool:
    """Whether ``name`` is given a placeholder, a constant or random numbers there."""
    named = isinstance(code, NamedFunction | ast.ClassDef)
    return named and any(_called(value) in _FROM_NOTHING for value in _values(code, name))


def _sets(code: ast.AST, name: str) -> bool:
    return next(_values(code, name), None) is not None


def _values(code: ast.AST, name: str) -> Iterator[ast.expr]:
    """What is assigned to a variable or an attribute of that name."""
    for node in walk(code):
        if isinstance(node, ast.Assign) and any(_last(t) == name for t in node.targets):
            yield node.value


def _last(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else ""

"""Where a value holds functions, that are called by its name later: in lists, objects, closures."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.source.trees import arguments_of, children, kept, walk

# What these give is the function itself, calls it, or holds it as an element.
_WRAPPING = (
    *("partial", "make_template", "function", "defun", "recompute_grad"),
    *("dict", "list", "tuple"),
)
# Methods of tensors, lists and texts, which run no code of the user's.
_OF_TENSORS = frozenset(
    {".get_shape", ".set_shape", ".eval", ".numpy", ".assign", ".append", ".extend", ".items"}
    | {".keys", ".values", ".get", ".format", ".join", ".split", ".astype", ".reshape"}
)


def code_held(value: ast.expr, called: bool) -> Iterator[ast.expr]:
    """The paths and lambdas in a value that may be called where the value, or a part of it, is.

    ``called``: whether it is, by its name. A tensor that a call gives is not, and holds no code of
    the function that made it.
    """
    pending: list[ast.expr | None] = [value]
    while pending:
        node = pending.pop()
        if node is None:
            continue
        if isinstance(node, ast.Lambda) or path_of(node) is not None:
            yield node
        elif isinstance(node, ast.Call):
            if called or _may_hold(node):
                pending += arguments_of(node)
                pending.append(node.func)
        else:
            pending += _parts(node)


def paths_held(value: ast.expr) -> frozenset[Path]:
    """The objects that what is called by a name reads as they are when it is called.

    They are what a function was handed that made it, and whose method it is: ``pop = rows.pop``.
    What classes are handed, their objects are known to keep, and methods of its own object a class.
    """
    path = path_of(value)
    if path is not None:
        return frozenset({path[:-1]} if path[:-1] not in ((), ("self",)) else ())
    if not isinstance(value, ast.Call) or names_class(_last_of(value)):
        return frozenset()
    paths = [path_of(part) for each in arguments_of(value) for part in code_held(each, False)]
    return frozenset(path for path in paths if path is not None and path != ("self",))


def _parts(node: ast.expr) -> list[ast.expr | None]:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return [*parts]
        case ast.BoolOp(values=parts) | ast.Dict(values=parts):
            return [*parts]
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
        case ast.DictComp(value=part) | ast.Starred(value=part) | ast.Await(value=part):
            return [part]
        case ast.NamedExpr(value=part) | ast.Subscript(value=part) | ast.Attribute(value=part):
            return [part]
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
            return [part]
    return []


def _may_hold(call: ast.Call) -> bool:
    """Whether what the call gives is a function that it was handed, or an object that keeps it."""
    return _last_of(call) in _WRAPPING or names_class(_last_of(call))


def _last_of(call: ast.Call) -> str:
    path = path_of(call.func)
    return path[-1].lstrip(".") if path is not None else getattr(call.func, "attr", "")


def paths_called(scope: ast.AST) -> frozenset[Path]:
    """What is called in a scope, or holds what is: also the objects whose methods are."""
    return kept(scope, _paths_called)


def _paths_called(scope: ast.AST) -> frozenset[Path]:
    found: set[Path] = set()
    taken: list[tuple[list[Path], list[Path]]] = []
    for node in walk(scope):
        if isinstance(node, ast.Call):
            path = path_of(node.func)
            if path is not None:
                found.add(path)
                if len(path) > 1 and path[-1] not in _OF_TENSORS:
                    found.add(path[:-1])
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            taken.append((_paths_in(node.target), _paths_in(node.iter)))
        elif isinstance(node, ast.Assign):
            held = [path for each in code_held(node.value, False) if (path := path_of(each))]
            taken += [(_paths_in(target), held) for target in node.targets]
    size = -1
    while size < len(found):
        size = len(found)
        for targets, values in taken:
            if not found.isdisjoint(targets):
                # ``for act in acts.values()``
                found.update(values, (path[:-1] for path in values if len(path) > 1))
    return frozenset(found)


def _paths_in(node: ast.AST) -> list[Path]:
    """The paths in an expression, each as long as it is there."""
    path = path_of(node)
    return [path] if path is not None else [p for child in children(node) for p in _paths_in(child)]

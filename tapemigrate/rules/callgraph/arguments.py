"""What calls pass for the parameters of functions."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, is_static
from tapemigrate.flow.paths import names_class, path_of


def argument_for(
    call: ast.Call,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    name: str,
    method: bool,
) -> ast.expr | None:
    """What ``call`` passes for the parameter ``name``; its default if it passes nothing.

    None: it has no such parameter, or none is passed, or not in sight: ``hides_argument`` tells.
    """
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if name not in names:
        return None
    place = names.index(name) - _taken_by_object(call, function, method)
    if 0 <= place < len(call.args):
        return call.args[place]
    default = names.index(name) - len(names) + len(function.args.defaults)
    return function.args.defaults[default] if default >= 0 else None


def further_arguments(
    call: ast.Call,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    name: str,
    method: bool,
) -> ast.Tuple | None:
    """What ``call`` passes for ``*name``, written out; None where that is not in sight."""
    args = function.args
    if args.vararg is None or args.vararg.arg != name:
        return None
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    count = len([*args.posonlyargs, *args.args]) - _taken_by_object(call, function, method)
    return ast.Tuple(call.args[count:], ast.Load())


def hides_argument(
    call: ast.Call,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    name: str,
    method: bool,
) -> bool:
    """Whether ``call`` may pass for the parameter what is not seen: by a star, or among others."""
    args = function.args
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        return True
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    if args.vararg is not None and args.vararg.arg == name:
        return len(call.args) > len(names) - _taken_by_object(call, function, method)
    if args.kwarg is not None and args.kwarg.arg == name:
        known = {*names, *(a.arg for a in args.kwonlyargs)}
        return not {k.arg for k in call.keywords} <= known
    return False


def _taken_by_object(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, method: bool
) -> int:
    """How many parameters the object takes that a method is called on: one, or none."""
    args = [*function.args.posonlyargs, *function.args.args]
    on_object = isinstance(call.func, ast.Attribute) or function.name == "__init__"
    bound = method and not is_static(function) and on_object
    return int(bound and not (args and _is_of_class(call, args[0].arg)))


def _is_of_class(call: ast.Call, own: str) -> bool:
    """``Base.method(self, x)``: the object is passed like any other argument."""
    first = call.args[0] if call.args else None
    if not isinstance(call.func, ast.Attribute) or not isinstance(first, ast.Name):
        return False
    owner = path_of(call.func.value)
    return first.id == own and owner is not None and names_class(owner[-1])


def takes(function: NamedFunction, call: ast.Call, method: bool) -> bool:
    """Whether the function can be called with these arguments, ``self`` perhaps among them."""
    args = function.args
    known = [a.arg for a in (*args.posonlyargs, *args.args)]
    keywords = {k.arg for k in call.keywords}
    if args.kwarg is None and not keywords <= {*known, *(a.arg for a in args.kwonlyargs), None}:
        return False
    if None in keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return True
    needed = known[: len(known) - len(args.defaults)]
    return any(
        (args.vararg is not None or count <= len(known)) and set(needed[count:]) <= keywords
        for count in {len(call.args), len(call.args) + method}
    )

"""What calls pass for the parameters of functions."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import is_static
from tapemigrate.flow.paths import names_class, path_of


def argument_for(
    call: ast.Call,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    name: str,
    method: bool,
) -> ast.expr | None:
    """What ``call`` passes for the parameter ``name``; its default if it passes nothing."""
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
    place = names.index(name)
    if (
        method
        and not is_static(function)
        and (isinstance(call.func, ast.Attribute) or function.name == "__init__")
        and not (names and _is_of_class(call, names[0]))
    ):
        place -= 1
    if 0 <= place < len(call.args):
        return call.args[place]
    default = names.index(name) - len(names) + len(function.args.defaults)
    return function.args.defaults[default] if default >= 0 else None


def _is_of_class(call: ast.Call, own: str) -> bool:
    """``Base.method(self, x)``: the object is passed like any other argument."""
    first = call.args[0] if call.args else None
    if not isinstance(call.func, ast.Attribute) or not isinstance(first, ast.Name):
        return False
    owner = path_of(call.func.value)
    return first.id == own and owner is not None and names_class(owner[-1])

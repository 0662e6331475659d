"""Which methods and functions a call may run that it is handed, or has by another name.

``map(net.forward, xs)``, ``getattr(net, "forward")(x)``, ``[net.forward][0](x)``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from tapemigrate.flow.definitions import Kind, Uses
from tapemigrate.flow.functions import Function, named_defaults
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import arguments_of, calls_in

#: What calls its first argument, or what it is handed by one of the names below.
CALLING = frozenset(
    {"map", "imap", "filter", "starmap", "reduce", "sorted", "min", "max", "map_structure"}
    | {"map_fn", "vectorized_map", "scan", "foldl", "foldr"}
    | {"submit", "apply_async", "Thread", "Timer", "partial"}
)
_HOLDING = frozenset({"list", "tuple", "iter", "reversed"})
_BY_NAME = frozenset({"key", "target", "fn", "func", "function"})
_GIVEN = (Kind.ASSIGN, Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)
# Through how many names a function is followed.
_DEPTH = 3

_Reads = Mapping[ast.AST, Uses]


def run_by(
    call: ast.Call, reads: _Reads, library: bool, is_method: Callable[[str], bool]
) -> Iterator[ast.Call]:
    """The calls that ``call`` may make so. ``is_method`` tells of a name whether methods have it.

    A function of a ``library`` calls nothing but what it is known to call.
    """
    for made in _values(call.func, reads, _DEPTH) if not _is_plain(call.func) else ():
        if is_method(made.attr):
            yield ast.Call(made, call.args, call.keywords)
    name = (path_of(call.func) or ("",))[-1].lstrip(".")
    if isinstance(call.func, ast.Call) and _last(call.func.func) == "methodcaller":
        match call.func.args, call.args:
            case [ast.Constant(value=str(method)), *rest], [owner]:
                yield ast.Call(ast.Attribute(owner, method, ast.Load()), rest, call.func.keywords)
    calling = name in CALLING
    if library and not calling:
        return
    for place, argument in enumerate(arguments_of(call)):
        if isinstance(argument, ast.Constant | ast.BinOp):
            continue
        rest = list(_flat(a for a in arguments_of(call) if a is not argument))
        for made in _values(argument, reads, _DEPTH):
            if is_method(made.attr):
                yield ast.Call(made, rest, [])
        named = any(k.value is argument and k.arg in _BY_NAME for k in call.keywords)
        if calling and (named or place == 0) and isinstance(argument, ast.Name | ast.Lambda):
            yield ast.Call(argument, rest, [])


def _is_plain(func: ast.expr) -> bool:
    """Whether what is called is said by its name: what a name was given may be anything."""
    return isinstance(func, ast.Attribute) and path_of(func) is not None


def _values(value: ast.expr, reads: _Reads, depth: int) -> Iterator[ast.Attribute]:
    """The methods of objects that a value may be, or hold."""
    match value:
        case ast.Attribute():
            if path_of(value) is not None:
                yield value
        case ast.Name() if depth:
            for use in reads.get(value, ()):
                if use.made.kind in _GIVEN and use.made.value is not None:
                    yield from _values(use.made.value, reads, depth - 1)
        case ast.Subscript() | ast.Starred():
            yield from _values(value.value, reads, depth)
        case ast.IfExp():
            yield from _values(value.body, reads, depth)
            yield from _values(value.orelse, reads, depth)
        case ast.BoolOp() | ast.Dict():
            for part in value.values:
                yield from _values(part, reads, depth)
        case ast.List() | ast.Tuple() | ast.Set():
            for part in value.elts:
                yield from _values(part, reads, depth)
        case ast.Lambda():
            yield from _called_in(value)
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            yield ast.Attribute(owner, name, ast.Load())
        case ast.Call() if (called := _last(value.func)) == "partial" or called in _HOLDING:
            for part in value.args[:1]:
                yield from _values(part, reads, depth)


def _called_in(function: Function) -> Iterator[ast.Attribute]:
    """The methods that a lambda calls of objects around it, or of what it has for defaults."""
    given = named_defaults(function.args)
    for call in calls_in(function):
        path = path_of(call.func)
        if path is None or len(path) < 2 or not isinstance(call.func, ast.Attribute):
            continue
        default = given.get(path[0])
        if default is None:
            yield call.func
        elif len(path) == 2:
            yield ast.Attribute(default, call.func.attr, ast.Load())


def _flat(values: Iterator[ast.expr]) -> Iterator[ast.expr]:
    """What is handed over one by one of the elements that stand there."""
    for value in values:
        if isinstance(value, ast.List | ast.Tuple):
            yield from _flat(iter(value.elts))
        else:
            yield value


def _last(func: ast.expr) -> str:
    return (path_of(func) or ("",))[-1].lstrip(".")

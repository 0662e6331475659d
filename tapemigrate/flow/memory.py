"""Functions that give what an earlier call of them made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tapemigrate.flow.functions import NamedFunction, free_names, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import children, kept, walk

# What decorators that keep results are called.
_WORDS = ("cache", "memo", "once", "singleton")
# What is called to put something where it is found by its name, or key.
_STORING = frozenset({"setattr", "setdefault"})
#: What puts something into a list, a set or a dict.
FILLING = frozenset({"append", "appendleft", "extend", "insert", "add", "update"})
# What Python has by itself, and makes numbers, texts and containers of what it is handed.
_PLAIN = frozenset(
    {"abs", "bool", "bytes", "chr", "dict", "enumerate", "float", "frozenset", "int", "len", "list"}
    | {"max", "min", "ord", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple"}
    | {"zip"}
)


def remembers(
    function: NamedFunction,
    named: Callable[[str], list[NamedFunction]],
    binds: Callable[[str], bool],
) -> bool:
    """Whether a decorator keeps results: by its name, ``@functools.lru_cache()``, or its code.

    One that is handed nothing, and reads nothing but Python's own names, keeps no tensors.
    ``named`` gives the functions of the file that have a name, ``binds`` whether the file itself
    may give one a meaning.
    """
    free = free_names(function)
    if not any(parameters(function.args)) and free <= _PLAIN and not any(map(binds, free)):
        return False
    return any(_by_decorator(decorator, named) for decorator in function.decorator_list)


def is_cached(function: NamedFunction) -> bool:
    """Whether a decorator has a name for one that keeps results, and so all get the same one."""
    return any(
        any(word in _last(decorator).lower() for word in _WORDS)
        for decorator in function.decorator_list
    )


def is_remembering(value: ast.expr, named: Callable[[str], list[NamedFunction]]) -> bool:
    """Whether it is a function that was handed to what keeps results: ``lru_cache(8)(make)``."""
    handed = isinstance(value, ast.Call) and any(
        isinstance(a, ast.Name | ast.Attribute) or makes_function(a) for a in value.args
    )
    return handed and isinstance(value, ast.Call) and _by_decorator(value.func, named)


def makes_function(value: ast.expr) -> bool:
    """Whether it is a function without a name: a lambda, or ``partial(make, width=3)``."""
    return isinstance(value, ast.Lambda) or (
        isinstance(value, ast.Call) and _last(value) == "partial"
    )


def remembers_objects(
    cls: ast.ClassDef,
    named: Callable[[str], list[NamedFunction]],
    called: Callable[[str], list[NamedFunction]],
) -> bool:
    """Whether a call of the class may give an object that an earlier call made.

    Or one that has what an earlier one has. A decorator has it do so, or its metaclass, or its
    constructor. ``called`` gives the methods that run where an
    object of the class of a name is called.
    """
    handed = [a for d in cls.decorator_list if isinstance(d, ast.Call) for a in d.args]
    handed += [keyword.value for keyword in cls.keywords if keyword.arg == "metaclass"]
    handed += [a for base in cls.bases if isinstance(base, ast.Call) for a in base.args]
    handed += [s.value for s in cls.body if isinstance(s, ast.Assign) and _names_metaclass(s)]
    methods = (m for d in (*cls.decorator_list, *handed) for m in called(_last(d)))
    return (
        any(_by_decorator(decorator, named) for decorator in cls.decorator_list)
        or any(map(_puts_aside, methods))
        or kept(cls, _shares_parts)
    )


def _shares_parts(cls: ast.AST) -> bool:
    """Whether all objects of the class have the same parts: ``self.__dict__ = self.state``"""
    return any(_takes_parts_of_others(s) for s in walk(cls) if isinstance(s, ast.Assign))


def _takes_parts_of_others(stmt: ast.Assign) -> bool:
    parts = any(isinstance(t, ast.Attribute) and t.attr == "__dict__" for t in stmt.targets)
    return parts and isinstance(stmt.value, ast.Attribute)


def _names_metaclass(stmt: ast.Assign) -> bool:
    return [path_of(target) for target in stmt.targets] == [("__metaclass__",)]


def _last(node: ast.expr) -> str:
    path = path_of(node.func if isinstance(node, ast.Call) else node)
    return path[-1].lstrip(".") if path is not None else ""


def _by_decorator(decorator: ast.expr, named: Callable[[str], list[NamedFunction]]) -> bool:
    """Whether what it decorates gives again what it gave: by its name, or by its code.

    So it is where another decorator does its work: ``def lazy(f): return kept(f)``.
    """
    pending, seen = [_last(decorator)], set[str]()
    while pending:
        name = pending.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        if any(word in name.lower() for word in _WORDS):
            return True
        for function in named(name):
            if _keeps(function):
                return True
            given = [end for end in _given_back(function) if isinstance(end, ast.Call)]
            pending += (_last(part) for call in given for part in (call, call.func))
    return False


def _given_back(function: NamedFunction) -> Iterator[ast.expr]:
    """What the function itself gives back, and none of those inside of it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif not isinstance(node, NamedFunction | ast.ClassDef | ast.expr):
            pending += children(node)


def stores_beyond(node: ast.AST, own: set[str]) -> bool:
    """Whether a node sets a part of something that is not among the names ``own``."""
    if not isinstance(node, ast.Subscript | ast.Attribute) or not isinstance(node.ctx, ast.Store):
        return False
    path = path_of(node.value)
    return path is not None and path[0] not in own


def _fills_beyond(node: ast.AST, own: set[str]) -> bool:
    """Whether a node puts something into what is not among the names ``own``: ``kept.append(x)``"""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    path = path_of(node.func.value)
    return node.func.attr in FILLING and path is not None and path[0] not in own


def _keeps(decorator: NamedFunction) -> bool:
    """Whether a function inside of it puts something where it outlives its calls."""
    inner = [n for s in decorator.body for n in walk(s) if isinstance(n, ast.FunctionDef)]
    return any(_puts_aside(each) for each in inner if not _gives_its_first(each))


def keeps_when_called(cls: ast.ClassDef) -> bool:
    """Whether an object of the class, in the place of a function, gives again what that gave.

    It keeps something when it is called, or calls the function where it is made.
    """
    for method in cls.body:
        if not isinstance(method, NamedFunction):
            continue
        handed = {a.arg for a in parameters(method.args)}
        if method.name != "__init__":
            if _puts_aside(method):
                return True
        elif any(isinstance(n, ast.Call) and _last(n.func) in handed for n in walk(method)):
            return True
    return False


def _gives_its_first(function: NamedFunction) -> bool:
    """Whether all that it gives back is its first argument, as what registers a class does."""
    ends = [n.value for n in walk(function) if isinstance(n, ast.Return)]
    first = next((a.arg for a in parameters(function.args)), "")
    return bool(ends) and all(isinstance(e, ast.Name) and e.id == first for e in ends)


def _puts_aside(function: NamedFunction) -> bool:
    """Whether it puts something where it outlives its calls; its first argument is such a place."""
    nodes = [n for s in function.body for n in walk(s)]
    own = {a.arg for a in list(parameters(function.args))[1:]} | {
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return any(
        isinstance(node, ast.Nonlocal)
        or stores_beyond(node, own)
        or (isinstance(node, ast.Call) and _last(node.func) in _STORING)
        or _fills_beyond(node, own)
        for node in nodes
    )

"""What calls of the methods of lists, dicts and sets change, on them or handed them."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import arguments_of, walk

# Methods of lists, dicts and sets that change them.
CHANGERS = frozenset(
    {"append", "extend", "insert", "add", "update", "setdefault", "pop", "popleft", "appendleft"}
    | {"remove", "discard", "clear", "sort", "reverse", "__setitem__", "__setattr__"}
)
#: Functions of Python that put something into what they are handed first.
INSERTING = frozenset(
    {"heapq.heappush", "heapq.heappushpop", "heapq.heapreplace", "operator.setitem"}
    | {"bisect.insort", "bisect.insort_left", "bisect.insort_right"}
)
_CLASSES = frozenset({"list", "dict", "set", "deque", "OrderedDict", "defaultdict"})


def is_of_class(method: ast.expr) -> bool:
    """``list.append``: what it changes is handed to it."""
    if not isinstance(method, ast.Attribute) or method.attr not in CHANGERS:
        return False
    return (path_of(method.value) or ("",))[-1].lstrip(".") in _CLASSES


def put_into(call: ast.Call) -> list[ast.expr]:
    """What such a method changes that is called: ``rows`` of ``list.append(rows, x)``."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in CHANGERS:
        return []
    return arguments_of(call)[:1] if is_of_class(func) else [func.value]


def changed_by_handed(call: ast.Call) -> list[ast.expr]:
    """The same of methods that are handed on: ``map(found.append, x)``, ``map(list.append, a, x)``.

    Or that are called by their name, or by what is handed on.

    Which of the other arguments is changed nothing tells.
    """
    given = arguments_of(call)
    methods = [e for e in given if isinstance(e, ast.Attribute) and e.attr in CHANGERS]
    found = [each.value for each in methods if not is_of_class(each)]
    if len(found) < len(methods):
        for each in given:
            parts = each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
            found += [part for part in parts if not is_of_class(part)]
    match call:
        case ast.Call(
            func=ast.Call(func=maker, args=[ast.Constant(value=str(name)), _, *_]), args=[owner]
        ):
            # ``methodcaller("append", h)(rows)``
            if name in CHANGERS and (path_of(maker) or ("",))[-1].lstrip(".") == "methodcaller":
                found.append(owner)
        case ast.Call(func=func, args=[ast.Lambda(body=body), _, owner]):
            # ``reduce(lambda rows, x: rows.append(x) or rows, found, rows)``
            if (path_of(func) or ("",))[-1].lstrip(".") == "reduce" and any(
                isinstance(each, ast.Attribute) and each.attr in CHANGERS for each in walk(body)
            ):
                found.append(owner)
    return found

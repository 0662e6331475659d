"""What names a value in a file, and the parts of which that value may be one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tapemigrate.flow.functions import NamedFunction, free_names, named_defaults
from tapemigrate.flow.unpacking import GIVING, each_given
from tapemigrate.rules.finding import Unit

# They give on what they are handed, or one after the other of its elements.
_GIVING_ON = frozenset({"zip", "enumerate", "list", "tuple", "set", "reversed", "iter", "next"})
# Most of what is asked about is none of these.
_OF_PARTS: frozenset[type[ast.AST]] = frozenset(
    {ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp}
    | {ast.GeneratorExp, ast.DictComp, ast.NamedExpr, ast.Starred, ast.Subscript, ast.Await}
    | {ast.Call}
)


def last_name(node: ast.expr) -> str:
    """By what a value, or what holds it, goes in the end."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def bound(unit: Unit) -> tuple[tuple[str, ast.expr], ...]:
    """The last names of what is given a value in the file, and that value, or what holds it."""
    return unit.once(_bound)


def is_shared(unit: Unit, name: ast.Name) -> bool:
    """Whether the name is one of the module, or of what it imports, and no local one."""
    outermost, above = None, unit.parents.get(name)
    while above is not None:
        if isinstance(above, NamedFunction | ast.Lambda):
            outermost = above
        above = unit.parents.get(above)
    return outermost is None or name.id in free_names(outermost)


def bound_parts(unit: Unit) -> tuple[tuple[str, ast.expr], ...]:
    """The last names of what is given a value in the file, each with every part of that value."""
    return unit.once(_bound_parts)


def with_second_names(unit: Unit, names: Collection[str]) -> frozenset[str]:
    """``names`` of the file with those that are given what goes by one of them."""
    second = unit.once(_second_names)
    found = set(names)
    pending = list(found)
    while pending:
        more = second.get(pending.pop(), set()) - found
        found |= more
        pending += more
    return frozenset(found)


def parts(value: ast.expr) -> Iterator[ast.expr]:
    """The calls, names and attributes of which ``value``, or an element of it, may be one."""
    if value.__class__ not in _OF_PARTS:
        yield value
        return
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            inner = [body, orelse]
        case ast.BoolOp(values=inner):
            pass
        case ast.Tuple(elts=inner) | ast.List(elts=inner) | ast.Set(elts=inner):
            pass
        case ast.Dict(values=inner):
            pass
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one):
            inner = [one]
        case ast.NamedExpr(value=one) | ast.Starred(value=one) | ast.Subscript(value=one):
            inner = [one]
        case ast.Await(value=one) | ast.DictComp(value=one):
            inner = [one]
        case ast.Call(func=ast.Name(id=name), args=inner) if name in _GIVING_ON:
            pass
        case _:
            yield value
            return
    for each in inner:
        yield from parts(each)


def _bound(unit: Unit) -> tuple[tuple[str, ast.expr], ...]:
    given = [pair for kind in GIVING for node in unit.nodes(kind) for pair in each_given(node)]
    loops: list[ast.For | ast.comprehension] = [*unit.nodes(ast.For)]
    for loop in [*loops, *unit.nodes(ast.comprehension)]:
        # ``for net in sorted(nets)``
        inside = loop.iter.args if isinstance(loop.iter, ast.Call) else ()
        given += ((loop.target, each) for each in (loop.iter, *inside))
    given += (
        (item.optional_vars, item.context_expr)
        for item in unit.nodes(ast.withitem)
        if item.optional_vars is not None
    )
    functions: list[ast.FunctionDef | ast.Lambda] = [*unit.nodes(ast.FunctionDef)]
    functions += unit.nodes(ast.Lambda)
    by_default = [pair for each in functions for pair in named_defaults(each.args).items()]
    return *by_default, *((name, value) for target, value in given for name in _names(target))


def _bound_parts(unit: Unit) -> tuple[tuple[str, ast.expr], ...]:
    return tuple((name, part) for name, value in bound(unit) for part in parts(value))


def _second_names(unit: Unit) -> dict[str, set[str]]:
    """By the last names of what is given: the names that it is given."""
    found: dict[str, set[str]] = {}
    for name, part in bound_parts(unit):
        found.setdefault(last_name(part), set()).add(name)
    return found


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _names(each)
    elif name := last_name(target):
        yield name

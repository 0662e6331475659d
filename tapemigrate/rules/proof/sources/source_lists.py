"""Lists that hold sources: what is put into them, and what tells that they are lists."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Set

from tapemigrate.flow.changers import changed_by_handed
from tapemigrate.flow.changers import put_into as put_into_by
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import calls_in, kept, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.symbols import short

_TAKEN = (Kind.LOOP, Kind.COMPREHENSION)
# Through how many names a list is followed.
_DEPTH = 3
_ADDING = frozenset({"append", "insert", "add"})
_EXTENDING = frozenset({"extend", "update"})
# Builtins and ops that take the elements of a list.
_TAKING_EACH = frozenset({"sum", "zip", "enumerate"})
_OF_LISTS = frozenset({"concat", "add_n", "accumulate_n", "math.add_n", "math.accumulate_n"})


def unpacked_together(leaves: list[Leaf]) -> list[ast.expr]:
    """What several sources are taken out of in one statement: ``x, h = pair``."""
    taken = {
        id(d.value): d.value
        for x in leaves
        if x.watch is not None and not x.variables
        for d in x.defs
        if d.kind is Kind.ELEMENT and d.value is not None
    }
    counts = Counter(id(d.value) for x in leaves for d in x.defs if d.kind is Kind.ELEMENT)
    return [value for key, value in taken.items() if counts[key] > 1 and path_of(value)]


def added_whole(view: View, leaves: list[Leaf]) -> Iterator[ast.expr]:
    """The lists that are put as a whole into a list that is watched: ``xs.extend(others)``."""
    filled = {x.watch for x in leaves if x.filled and x.watch is not None}
    for name, put in _put(view, filled):
        if name in _EXTENDING and path_of(put) is not None:
            yield put


def put_into(view: View, lists: Set[str]) -> Iterator[ast.expr]:
    """What holds the elements that the scope puts into the lists of these names."""
    for name, put in _put(view, lists):
        if name in _EXTENDING:
            yield put
        elif isinstance(put, ast.Subscript):
            yield put.value
        else:
            for made in origins(view.flow.reads.get(put, frozenset())):
                if made.kind in _TAKEN and made.value is not None:
                    yield made.value


def _put(view: View, lists: Set[str]) -> Iterator[tuple[str, ast.expr]]:
    """The methods by which something is put into the lists of these names, and what."""
    known = kept(view.scope, _fillings) if lists else {}
    for name in sorted(known.keys() & lists):
        yield from known[name]


def _fillings(scope: ast.AST) -> dict[str, list[tuple[str, ast.expr]]]:
    found: dict[str, list[tuple[str, ast.expr]]] = {}
    for call in calls_in(scope):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _ADDING | _EXTENDING and call.args:
            if (path := path_of(func.value)) is not None:
                found.setdefault(text_of(path), []).append((func.attr, call.args[-1]))
    return found


def fills(scope: ast.AST, name: str) -> bool:
    """Whether a function, or one in it, puts something into the list or dict of that name."""
    return name in kept(scope, _filled_by_name)


def _filled_by_name(scope: ast.AST) -> frozenset[str]:
    found: list[ast.expr] = []
    for node in walk(scope):
        match node:
            case ast.Call():
                found += [*put_into_by(node), *changed_by_handed(node)]
            case ast.Subscript(ctx=ast.Store()):
                found.append(node.value)
            case ast.AugAssign():
                found.append(node.target)
    return frozenset(n.id for n in found if isinstance(n, ast.Name))


def lists_taken(view: View, made: Def) -> list[ast.expr | None]:
    """What a loop gives a name of what is written out: one list each round; None if it is not.

    ``for name, h in [("a", [x, y])]``
    """
    if made.value is None:
        return [None]
    over = view.unit.parents.get(made.value)
    # Of ``zip`` and rows that are written out, the value is what the name alone is taken from.
    place: tuple[int, ...] | None = ()
    if isinstance(over, ast.For | ast.comprehension):
        place = _place_in(over.target, made.path[0])
    return [None] if place is None else _rows(view, made.value, place, _DEPTH)


def _place_in(target: ast.expr, name: str) -> tuple[int, ...] | None:
    """Where the name stands among the targets: ``(1,)`` for ``h`` in ``name, h``."""
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    for index, each in enumerate(target.elts if isinstance(target, ast.Tuple | ast.List) else ()):
        below = None if isinstance(each, ast.Starred) else _place_in(each, name)
        if below is not None:
            return (index, *below)
    return None


def _rows(view: View, value: ast.expr, place: tuple[int, ...], depth: int) -> list[ast.expr | None]:
    """What stands in ``place`` in each of the elements of ``value``."""
    match value:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            return [_within(each, place) for each in elts]
        case ast.Call(func=ast.Attribute(value=ast.Dict(values=values), attr="items")):
            return [_within(each, place[1:]) for each in values] if place[:1] == (1,) else [None]
        case ast.Call(func=ast.Attribute(value=ast.Dict(values=values), attr="values")):
            return [_within(each, place) for each in values]
        case ast.Name() if depth:
            made = origins(view.flow.reads.get(value, frozenset()))
            given = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
            if given and len(given) == len(made):
                return [row for each in given for row in _rows(view, each, place, depth - 1)]
    return [None]


def _within(value: ast.expr, place: tuple[int, ...]) -> ast.expr | None:
    for index in place:
        elts = value.elts if isinstance(value, ast.List | ast.Tuple) else []
        if index >= len(elts) or any(isinstance(e, ast.Starred) for e in elts):
            return None
        value = elts[index]
    return value


def is_gone_through(project: Project, view: View, made: Def) -> bool:
    """Whether the elements are taken of what comes from outside: no tensor of a v1 graph."""
    if made.kind is not Kind.PARAM and made.kind is not Kind.ENTRY:
        return False
    for node in project.uses_of(view.unit, view.scope, made.path):
        parent = view.unit.parents.get(node)
        if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
            return True
        if isinstance(parent, ast.Call) and node in parent.args:
            func = parent.func
            if isinstance(func, ast.Name) and func.id in _TAKING_EACH:
                return True
            if short(view.kinds.name(func)) in _OF_LISTS:
                return True
    return False

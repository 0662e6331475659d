"""What functions give back, element by element."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.source.points import begin
from tapemigrate.source.trees import children, kept

# What gives the elements of its arguments one after the other, as they are asked for.
_IN_TURN = frozenset({"enumerate", "filter", "iter", "reversed", "zip"})
_COMPUTING = frozenset({"map", "accumulate", "starmap"})


def place_of(made: Def) -> int | None:
    """Which element of what is unpacked the definition is; None where that cannot be told."""
    if made.kind is not Kind.ELEMENT or not isinstance(made.stmt, ast.Assign):
        return None
    for target in made.stmt.targets:
        if isinstance(target, ast.Tuple | ast.List):
            if any(isinstance(part, ast.Starred) for part in target.elts):
                return None
            for place, part in enumerate(target.elts):
                if path_of(part) == made.path:
                    return place
    return None


def places_of(made: Def) -> tuple[int, ...] | None:
    """The same, one in the other: ``a, (b, c) = …`` has ``c`` in place 1 of place 1."""
    if made.kind is not Kind.ELEMENT or not isinstance(made.stmt, ast.Assign):
        return None
    pending: list[tuple[ast.expr, tuple[int, ...]]] = [(t, ()) for t in made.stmt.targets]
    while pending:
        target, places = pending.pop()
        if isinstance(target, ast.Tuple | ast.List):
            if any(isinstance(part, ast.Starred) for part in target.elts):
                continue
            pending += [(part, (*places, place)) for place, part in enumerate(target.elts)]
        elif places and path_of(target) == made.path:
            return places
    return None


def element(value: ast.expr | None, places: tuple[int, ...]) -> ast.expr | None:
    """What is written in the place of a display, and of those in it; None where that cannot be
    told."""
    for place in places:
        if not isinstance(value, ast.Tuple | ast.List) or place >= len(value.elts):
            return None
        if any(isinstance(each, ast.Starred) for each in value.elts):
            return None
        value = value.elts[place]
    return value


def given(function: ast.FunctionDef | ast.AsyncFunctionDef, place: int) -> list[ast.expr]:
    """The values that element ``place`` of what the function returns may have; [] if unknown."""
    own = list(_own(function))
    returns = [n.value for n in own if isinstance(n, ast.Return)]
    if not returns:
        return []
    found: list[ast.expr] = []
    for each in returns:
        if not isinstance(each, ast.Tuple | ast.List) or place >= len(each.elts):
            return []
        value = each.elts[place]
        if not isinstance(value, ast.Name):
            found.append(value)
            continue
        assigned = [n for n in own if isinstance(n, ast.Assign) and _is_plain(n, value.id)]
        stores = [n for n in own if isinstance(n, ast.Name) and n.id == value.id]
        if sum(isinstance(n.ctx, ast.Store) for n in stores) != len(assigned):
            return []
        found += [n.value for n in assigned] or [value]
    return found


def gives_what_was(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the function may give back what it was handed, or what was kept somewhere before."""
    return kept(function, _gives_what_was)


def _gives_what_was(function: ast.AST) -> bool:
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    nodes = list(_own(function))
    first = min((begin(n) for n in nodes if isinstance(n, ast.Return)), default=(0, 0))
    always = {stmt for stmt in _always(function.body) if begin(stmt) < first}
    values: dict[Path, list[ast.expr]] = {}
    bound = {(a.arg,) for a in parameters(function.args)}
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            path = path_of(target)
            if path is not None and isinstance(node, ast.Assign):
                values.setdefault(path, []).append(node.value)
                if node in always:
                    bound.discard(path)
    pending = [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    seen: set[Path] = set()
    while pending:
        value = pending.pop()
        path = path_of(value)
        if isinstance(value, ast.IfExp):
            pending += [value.body, value.orelse]
        elif isinstance(value, ast.BoolOp):
            pending += value.values
        elif isinstance(value, ast.Tuple | ast.List):
            pending += value.elts
        elif isinstance(value, ast.Dict):
            pending += value.values
        elif path is None and isinstance(value, ast.Subscript | ast.Call):
            held = _held_in(value)
            if held is not None and not any(held in _paths(s) for s in always):
                return True
        elif path is not None and path not in seen:
            seen.add(path)
            stays = len(path) > 1 and not any(path in _paths(s) for s in always)
            if path in bound or stays:
                return True
            pending += values.get(path, ())
    return False


def _held_in(value: ast.expr) -> Path | None:
    """``self.cache`` of ``self.cache[key]`` and of ``self.cache.get(key)``: it was there before."""
    while True:
        match value:
            case ast.Subscript(value=inner, slice=by) if not isinstance(by, ast.Slice | ast.Tuple):
                value = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="get" | "pop" | "setdefault")):
                value = inner
            case _:
                path = path_of(value)
                return path if path is not None and len(path) > 1 else None


def gives_iterator(call: ast.Call, iterates: Callable[[ast.expr], bool]) -> bool:
    """Whether a built-in function, or one of ``itertools``, gives what makes elements when asked.

    ``iterates`` tells the same of its arguments.
    """
    name = (path_of(call.func) or ("",))[-1].lstrip(".")
    if name in _COMPUTING:
        return True
    found = name in _IN_TURN or not isinstance(call.func, ast.Name)
    return found and any(iterates(each) for each in call.args)


def yields(
    function: ast.FunctionDef | ast.AsyncFunctionDef, called: Callable[[ast.expr], bool]
) -> bool:
    """Whether what the function gives makes its elements only when it is asked for them.

    ``called`` tells the same of what another function gives.
    """
    own = list(_own(function))
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own):
        return True
    values: dict[str, list[ast.expr]] = {}
    for node in own:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
    iterates = partial(_iterates, values=values, seen=set(), called=called)
    return any(isinstance(n, ast.Return) and n.value and iterates(n.value) for n in own)


def _iterates(
    value: ast.expr,
    values: Mapping[str, list[ast.expr]],
    seen: set[str],
    called: Callable[[ast.expr], bool],
) -> bool:
    # A function inside that calls itself would keep all that ``called`` knows until garbage is
    # looked for.
    iterates = partial(_iterates, values=values, seen=seen, called=called)
    match value:
        case ast.GeneratorExp():
            return True
        case ast.Name(id=name) if name not in seen:
            seen.add(name)
            return any(map(iterates, values.get(name, ())))
        case ast.IfExp():
            return iterates(value.body) or iterates(value.orelse)
        case ast.Call():
            return gives_iterator(value, iterates) or called(value.func)
    return False


def _always(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run whenever the function does."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, ast.With):
            yield from _always(stmt.body)


def _paths(stmt: ast.stmt) -> list[Path | None]:
    """What a statement assigns by itself."""
    return [path_of(t) for t in stmt.targets] if isinstance(stmt, ast.Assign) else []


def _is_plain(stmt: ast.Assign, name: str) -> bool:
    target = stmt.targets[0]
    return len(stmt.targets) == 1 and isinstance(target, ast.Name) and target.id == name


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes that run in the function itself."""
    stack: list[ast.AST] = [*function.body]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += children(node)

"""Sources that ops hand back as they are: a branch of ``tf.cond``, a loop that never runs.

In a graph these ops give new tensors. Executed eagerly, they give the very tensor that the branch
gave, or that went into the loop: a gradient by it takes in all that was made of that by its own
name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import NamedFunction, is_static, parameters
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.syntax import giving
from tapemigrate.tape.placing.region import Region

#: The functions of a name in all files, each with the kinds of its own.
Functions = Callable[[str], Iterable[tuple[Kinds, NamedFunction]]]

_BRANCHING = frozenset({"cond", "case", "switch_case"})
# By name: where what goes in is passed, and what it is called.
_LOOPING = {
    "while_loop": (2, "loop_vars"),
    "foldl": (2, "initializer"),
    "foldr": (2, "initializer"),
    "tuple": (0, "tensors"),
}
# Through how many functions it is looked what they hand back.
_DEPTH = 3


def handed_back(region: Region, flow: Flow, kinds: Kinds, functions: Functions) -> list[str]:
    """What is assumed of sources that may be another tensor of the target, executed eagerly."""
    found: dict[str, None] = {}
    for leaf in region.sources.leaves:
        sources = frozenset(leaf.defs)
        made = _made(sources, flow)
        paths = {path for each in made for path in _given_back(each, flow, kinds, functions)}
        if not paths or leaf.watch is None:
            continue
        behind = backward(flow.uses_in(region.request.target), sources).made - sources
        for path in sorted(paths.intersection(d.path for d in behind)):
            found[
                f"`{leaf.watch}` is not `{text_of(path)}` itself, which an op hands back as it "
                "is where execution is eager"
            ] = None
    return list(found)


def _made(sources: Iterable[Def], flow: Flow) -> set[Def]:
    """The definitions, and those of which these are other names: ``z = flipped``."""
    found: set[Def] = set()
    pending = list(origins(Use(each) for each in sources))
    while pending:
        made = pending.pop()
        if made not in found:
            found.add(made)
            if made.kind is Kind.ASSIGN and isinstance(made.value, ast.Name):
                pending += origins(flow.reads.get(made.value, frozenset()))
    return found


def _given_back(made: Def, flow: Flow, kinds: Kinds, functions: Functions) -> Iterator[Path]:
    """The names whose tensors the source may be, executed eagerly."""
    call = giving(made.value)
    if not isinstance(call, ast.Call):
        return

    def meant(name: ast.Name) -> Iterator[ast.AST]:
        for each in origins(flow.reads.get(name, frozenset())):
            if each.kind is Kind.FUNCTION and each.stmt is not None:
                yield each.stmt
            elif each.value is not None:
                yield each.value

    yield from _handed(call, kinds, meant, functions, _DEPTH)


#: What a name stands for in a scope: functions, and values.
_Meant = Callable[[ast.Name], Iterable[ast.AST]]


def _handed(
    call: ast.Call, kinds: Kinds, meant: _Meant, functions: Functions, depth: int
) -> Iterator[Path]:
    """The names of what a call may give as it is, and does not in a graph."""
    op = kinds.tensorflow(call.func)
    name = (op or "").rpartition(".")[2]
    if name in _BRANCHING:
        for argument in arguments_of(call):
            yield from _named(_of_branches(argument, meant))
    elif name in _LOOPING:
        place, keyword = _LOOPING[name]
        given = [k.value for k in call.keywords if k.arg == keyword] or call.args[place:][:1]
        found = [each for value in given for each in _elements(value, meant)]
        unchanged = _unchanged(call, found, meant) if name == "while_loop" else None
        yield from _named(found if unchanged is None else unchanged)
    elif op is None and depth and isinstance(call.func, ast.Name | ast.Attribute):
        called = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        for other, function in functions(called):
            yield from _by_function(call, other, function, functions, depth)


def _named(values: Iterable[ast.expr]) -> Iterator[Path]:
    return (path for path in map(path_of, values) if path is not None)


def _unchanged(call: ast.Call, given: list[ast.expr], meant: _Meant) -> list[ast.expr] | None:
    """What goes round a loop that runs once at least, and comes out as it went in.

    None where it may run not at all, or where its body is not seen.
    """
    named = {k.arg: k.value for k in call.keywords}
    test, body = (
        named.get(name) or (call.args[place] if place < len(call.args) else None)
        for place, name in enumerate(("cond", "body"))
    )
    match test, given:
        case (
            ast.Lambda(
                args=ast.arguments(args=[ast.arg(arg=counter), *_]),
                body=ast.Compare(
                    left=ast.Name(id=name),
                    ops=[ast.Lt()],
                    comparators=[ast.Constant(value=int(most))],
                ),
            ),
            [ast.Constant(value=int(first)) | ast.Call(args=[ast.Constant(value=int(first))]), *_],
        ) if name == counter and first < most:
            pass
        case _:
            return None
    bodies = [*meant(body)] if isinstance(body, ast.Name) else [body]
    found: list[ast.expr] = []
    for each in bodies:
        if isinstance(each, ast.Lambda):
            ends: list[ast.expr | None] = [each.body]
        elif isinstance(each, NamedFunction):
            ends = [n.value for n in walk(each) if isinstance(n, ast.Return)]
        else:
            return None
        own = [a.arg for a in parameters(each.args)]
        parts = [part for end in ends for part in _parts(end)]
        if len(own) != len(given) or any(isinstance(part, ast.Starred) for part in parts):
            return None
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        found += [value for name, value in zip(own, given, strict=True) if name in names]
    return found if bodies else None


def _by_function(
    call: ast.Call, kinds: Kinds, function: NamedFunction, functions: Functions, depth: int
) -> Iterator[Path]:
    """The names of what a function gives so that a call passes it, or of parts of that."""
    given: dict[str, list[ast.expr]] = {}
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
                for part in parts:
                    if isinstance(part, ast.Name):
                        given.setdefault(part.id, []).append(node.value)
    inner = {n.name: n for n in walk(function) if isinstance(n, NamedFunction)}

    def meant(name: ast.Name) -> Iterator[ast.AST]:
        yield from given.get(name.id, ())
        if name.id in inner:
            yield inner[name.id]

    own = [a.arg for a in parameters(function.args)]
    values = [*call.args]
    if isinstance(call.func, ast.Attribute) and not is_static(function):
        values.insert(0, call.func.value)
    passed = dict(zip(own, values, strict=False))
    passed |= {k.arg: k.value for k in call.keywords if k.arg is not None}
    ends = [n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None]
    seen: set[ast.AST] = set()
    while ends:
        end = giving(ends.pop())
        if end is None or end in seen:
            continue
        seen.add(end)
        if isinstance(end, ast.Tuple | ast.List):
            ends += end.elts
        elif isinstance(end, ast.IfExp):
            ends += [end.body, end.orelse]
        elif isinstance(end, ast.Name):
            ends += given.get(end.id, [])
        elif isinstance(end, ast.Call):
            for path in _handed(end, kinds, meant, functions, depth - 1):
                whole = path_of(passed[path[0]]) if path[0] in passed else None
                if whole is not None:
                    yield (*whole, *path[1:])


def _of_branches(argument: ast.expr, meant: _Meant) -> Iterator[ast.expr]:
    """What the branches give that stand in an argument, or are named there."""
    for node in walk(argument):
        if isinstance(node, ast.Lambda):
            yield from _parts(node.body)
        elif isinstance(node, ast.Name):
            for each in meant(node):
                if isinstance(each, ast.Lambda):
                    yield from _parts(each.body)
                elif isinstance(each, NamedFunction):
                    ends = (n for n in walk(each) if isinstance(n, ast.Return))
                    yield from (part for end in ends for part in _parts(end.value))


def _parts(value: ast.expr | None) -> list[ast.expr]:
    if isinstance(value, ast.Tuple | ast.List):
        return value.elts
    return [] if value is None else [value]


def _elements(value: ast.expr, meant: _Meant) -> Iterator[ast.expr]:
    """A value, and the elements of the list that it is, here or where its name is given it."""
    if isinstance(value, ast.Tuple | ast.List):
        yield from value.elts
        return
    lists = meant(value) if isinstance(value, ast.Name) else ()
    named = [each.elts for each in lists if isinstance(each, ast.Tuple | ast.List)]
    yield from (part for parts in named for part in parts)
    if not named:
        yield value

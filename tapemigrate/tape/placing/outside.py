"""Targets that were computed outside of the scope in which the gradient is asked for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.recipes import SOURCE, THREAD
from tapemigrate.tape.request import Refusal, Request


def may_be_passed_in(target: ast.expr, flow: Flow, sources: Set[Def], loops: Set[ast.stmt]) -> bool:
    """Whether what this function also computes may still be what was passed, on some path.

    One of the ``sources`` that is passed is no target that the caller computed. ``loops`` are those
    round the gradient call.
    """
    for part in target.elts if isinstance(target, ast.List | ast.Tuple) else [target]:
        if isinstance(part, ast.Name | ast.IfExp):
            held = _held(part, flow) - sources
            others = [each for each in held if not _is_passed(each)]
            if not others or len(others) == len(held):
                continue
            own = any(map(_is_passed, origins(flow.reads.get(part, frozenset()))))
            # ``h = x; for …: h = f(h)``: nobody means the loop that never runs.
            if own or not all(isinstance(d, Def) and d.loops - loops for d in others):
                return True
    return False


def _is_passed(held: Def | ast.expr) -> bool:
    return isinstance(held, Def) and held.kind is Kind.PARAM


def _held(node: ast.expr, flow: Flow) -> Set[Def | ast.expr]:
    """What a name may hold, seen through other names for it: ``a = b``, ``b if c else d``."""
    found: set[Def | ast.expr] = set()
    seen: set[Def | ast.expr] = set()
    stack: list[Def | ast.expr] = [node]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        match current:
            case ast.Name():
                stack += origins(flow.reads.get(current, frozenset()))
            case ast.IfExp():
                stack += [current.body, current.orelse]
            case Def(kind=Kind.ASSIGN, value=ast.Name() | ast.IfExp() as value):
                stack.append(value)
            case _:
                found.add(current)
    return found


def together(name: str) -> Refusal:
    """That the source and the target both come out of ``name``, which was made before."""
    return Refusal(
        f"the source and the target both come out of `{name}`, where one may have been made from "
        "the other before a tape could watch it",
        SOURCE,
        unwatched=True,
    )


def found_in_graph(name: str) -> Refusal:
    """That a source is looked up in the graph, which holds by then what was made of it."""
    return Refusal(
        f"`{name}` is looked up in the graph, when what is made of it was computed",
        "Give the tensor a name where it is made, and differentiate by that.",
    )


def elsewhere(
    request: Request,
    target: frozenset[Use],
    flow: Flow,
    kinds: Kinds,
    ops: Ops,
    is_made_of_none: Callable[[Path], bool],
    sources: Set[Def] = frozenset(),
) -> Refusal:
    """That no tape of this scope sees the target being computed, and where one might.

    ``is_made_of_none`` tells attributes that are nothing but placeholders, variables and numbers;
    ``sources`` are none of what the target is made of, only what gradients in it are taken by.
    """
    made = {u.made for u in target}
    what = ast.unparse(request.target)
    me = (kinds.self_name,)
    behind = backward(target).made - sources
    handed = {d for d in origins(target) if d.kind is Kind.PARAM and d.path != me}
    if handed:
        carriers = _carriers(request, handed, behind, flow, ops)
        return Refusal(
            f"the target `{what}` {_as_handed(request.target, carriers)}",
            THREAD,
            threads=True,
            begins=True,
        )
    # What a method of the object runs is no value that it keeps: ``with self.test_session():``.
    called = set(map(path_of, _functions(request, behind)))
    entered = {
        d.path
        for d in behind
        if d.kind is Kind.ENTRY and len(d.path) > 1 and d.path[0] == kinds.self_name
        if d.path not in called
    }
    # ``self.losses[0]`` counts where nothing is taken whole.
    whole = {path[1] for path in entered if len(path) == 2}
    parts = {p[1] for p in entered if all(step.startswith("[") for step in p[2:])}
    # What an object keeps that this one keeps, ``self.pi.logits``, is computed where that is made.
    names = whole or parts or {path[1] for path in entered if path[2].startswith(".")}
    if len(names) > 1:
        names = {n for n in names if not is_made_of_none((kinds.self_name or "", n))} or names
    keeps = min(names).lstrip(".") if len(names) == 1 else ""
    if any(d.path[0] == "self" and d.kind is not Kind.ASSIGN for d in made):
        return Refusal(
            f"the target `{what}` was computed before this method runs, outside of it",
            THREAD,
            keeps=_attribute(request.target) or keeps,
            own=True,
        )
    passed = {d for d in backward(target).made if d.kind is Kind.PARAM and d.path != me}
    carriers = _carriers(request, passed, behind, flow, ops)
    if carriers:
        own = entered if _is_of_object(flow.uses_in(request.sources), kinds) else ()
        also = [f"`{text_of(path)}`" for path in sorted(own, key=text_of)[:3]]
        first = f"{', '.join(also)} and " if also else ""
        return Refusal(
            f"the target `{what}` is computed from {first}`{carriers[0]}`, a parameter: its "
            f"forward pass begins {'before this method runs' if also else 'in the callers'}",
            THREAD,
            threads=True,
            begins=True,
        )
    if passed:
        reason = f"the target `{what}` is computed outside this function, or not from the source"
        return Refusal(reason, THREAD, threads=True)
    if entered or not _is_made_here(request.target, made):
        kept = min(map(text_of, entered), default=what) if not whole else what
        of = "" if kept == what else f"is made of `{kept}`, which "
        reason = (
            f"the target `{what}` {of}is computed outside this function, or not from the source"
        )
        return Refusal(reason, THREAD, keeps=keeps, own=bool(names))
    passed_on = request.sources
    if request.api == "threaded" and isinstance(passed_on, ast.List) and len(passed_on.elts) == 1:
        passed_on = passed_on.elts[0]  # what stands in the call
    of_graph = isinstance(passed_on, ast.List) and not passed_on.elts and request.api == "threaded"
    whence = "the variables" if of_graph else f"`{ast.unparse(passed_on)}`"
    return Refusal(f"nothing here shows that `{what}` is computed from {whence}", SOURCE)


def _as_handed(target: ast.expr, carriers: list[str]) -> str:
    """What a target, or what it is made of right in the call, has to do with the parameters."""
    if isinstance(target, ast.Name):
        return "is a parameter: its forward pass runs in the callers"
    if not carriers:
        return "is computed outside this function, or not from the source"
    parts = target.elts if isinstance(target, ast.List | ast.Tuple) else [target]
    owners = [_owner(part) for part in parts]
    if not all(isinstance(owner, ast.Name) for owner in owners):
        forward = "computed from", "begins"
    elif owners == parts:
        forward = "made of", "runs"
    else:
        forward = "a part of", "runs"
    how, goes = forward
    return f"is {how} `{carriers[0]}`, a parameter: its forward pass {goes} in the callers"


def _owner(part: ast.expr) -> ast.expr:
    """What something is taken out of, step by step, if it is."""
    while isinstance(part, ast.Subscript | ast.Attribute):
        part = part.value
    return part


def _carriers(
    request: Request, passed: Set[Def], behind: Set[Def], flow: Flow, ops: Ops
) -> list[str]:
    """Of the parameters ``passed``, those by which the forward pass may come here, likeliest first.

    What the source is taken out of as well, and then what is read as a value, and by itself: an
    index or a name only says what is to be done, and a setting hardly more.
    """
    sources = flow.uses_in(request.sources)
    beside = {d for d in backward(sources).made if d in passed}
    read = ops.paths_read([request.target, *(d.value for d in behind)])

    def rank(made: Def) -> tuple[bool, bool, int]:
        parts = [path[1:2] for path in read if path[0] == made.path[0]]
        whole = any(not part or part[0].startswith("[") for part in parts)
        return made not in beside, not whole, made.order

    carrying = {d for d in passed if d in beside or any(path[0] == d.path[0] for path in read)}
    # The source itself is where the forward pass begins only if nothing else is.
    carrying = carrying - origins(sources) or carrying
    return list(dict.fromkeys(d.path[0] for d in sorted(carrying, key=rank)))


def _is_of_object(uses: Set[Use], kinds: Kinds) -> bool:
    """Whether all of it is kept on the object whose method this is."""
    made = origins(uses)
    return bool(made) and all(
        d.kind is Kind.ENTRY and len(d.path) > 1 and d.path[0] == kinds.self_name for d in made
    )


def _functions(request: Request, behind: Set[Def]) -> Iterator[ast.expr]:
    """What is called where the target, and what is ``behind`` it, is computed."""
    for value in (request.target, *(d.value for d in behind if d.value is not None)):
        yield from (call.func for call in walk(value) if isinstance(call, ast.Call))


def _is_made_here(target: ast.expr, made: Set[Def]) -> bool:
    """Whether this function computes the target, whatever from."""
    ops = (ast.Call, ast.BinOp)
    values = [d.value for d in made if d.kind is Kind.ASSIGN]
    return isinstance(target, ops) or any(isinstance(value, ops) for value in values)


def _attribute(target: ast.expr) -> str:
    path = path_of(target)
    return path[1].lstrip(".") if path is not None and len(path) == 2 else ""

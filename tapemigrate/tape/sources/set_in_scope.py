"""Attributes of ``self`` that the function itself sets: whether that is what it finds later on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.sources.source_arithmetic import DISPLAYS

# Whether one of some calls may set an attribute of ``self``.
SetAnew = Callable[[str, Iterable["ast.AST | None"]], bool]

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_NO_LISTS = (Make.TENSOR, Make.LEAF, Make.VARIABLE, Make.FROZEN)


def set_here(
    flow: Flow, kinds: Kinds, set_anew: SetAnew, uses: frozenset[Use], path: Path
) -> tuple[frozenset[Use], bool]:
    """What the function itself gave ``self.x``, and whether a method might do so as well.

    A call of a method changes its object; whether it changes this attribute, its class tells.
    """
    made = origins(uses)
    own = frozenset(d for d in made if d.path == path and d.kind not in _OUTSIDE)
    changed = [u.made for u in uses if u.made.kind is Kind.MUTATE and u.made.path == path]
    listed = any(u.made.kind is Kind.MUTATE for u in uses) and _has_list(own, flow)
    filled = any(_is_filled(d) for d in changed) or (changed and listed)
    if not filled and any(_is_put_into(d, kinds) for d in changed):
        filled = any(d.value is None or kinds.make(d.value) not in _NO_LISTS for d in own)
    if listed:
        # Methods that are called may put something into a list as well.
        filled = filled or kinds.fills(path[-1].lstrip("."), flow.scope)
    if not own and not changed and len(path) == 2 and path[0] == kinds.self_name:
        return _as_it_came(flow, kinds, set_anew, uses, path), False
    if not own or filled or len(path) != 2 or path[0] != kinds.self_name:
        return uses, False
    if any(d.path == path for d in made - own):
        return uses, False
    calls = [d.value for d in _changes(uses)]
    again = own != made and set_anew(path[1].lstrip("."), calls)
    return frozenset(Use(d) for d in own), again


def _has_list(defs: Iterable[Def], flow: Flow) -> bool:
    """Whether one is a list, or the like, as it is written: there, or where it was named first.

    ``theta = [w]``, ``self.theta = theta``
    """
    stack = [*defs]
    seen = {*stack}
    while stack:
        each = stack.pop()
        if isinstance(each.value, DISPLAYS):
            return True
        if isinstance(each.value, ast.Name):
            there = origins(flow.reads.get(each.value, frozenset())) - seen
            seen |= there
            stack += there
    return False


def _as_it_came(
    flow: Flow, kinds: Kinds, set_anew: SetAnew, uses: frozenset[Use], path: Path
) -> frozenset[Use]:
    """What the object had when it came, where no method that is called gives it another value."""
    name = path[1].lstrip(".")
    came = frozenset(u.made for u in uses if u.made.kind is Kind.ENTRY and u.made.path == path)
    calls = [d.value for d in _changes(uses)]
    if not came or not calls or kinds.fills(name, flow.scope) or set_anew(name, calls):
        return uses
    return frozenset(Use(d) for d in came)


def _changes(uses: Iterable[Use]) -> set[Def]:
    """All changes in place that the values may have gone through, one after the other."""
    found: set[Def] = set()
    pending = list(uses)
    while pending:
        made = pending.pop().made
        if made.kind is Kind.MUTATE and made not in found:
            found.add(made)
            pending += made.before
    return found


def _is_put_into(made: Def, kinds: Kinds) -> bool:
    """Whether a function surely puts something into it that is handed it."""
    call = made.value
    handed = kinds.effect(call).changes if isinstance(call, ast.Call) else ()
    return any(path_of(each) == made.path for each in handed)


def _is_filled(made: Def) -> bool:
    """Whether the object's own method, or an assignment to an element, changes it."""
    call = made.value
    if not isinstance(call, ast.Call):
        return True
    return isinstance(call.func, ast.Attribute) and path_of(call.func.value) == made.path

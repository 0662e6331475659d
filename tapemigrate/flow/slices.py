"""Slices of a scope's definitions: what a target depends on, which of it comes from a source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tapemigrate.flow.definitions import NONE, Def, Kind, Use, Uses
from tapemigrate.flow.paths import Path, path_of


@dataclass(frozen=True, slots=True)
class Backward:
    """All that some uses depend on, cut at the definitions in ``cut`` (which are part of it)."""

    made: frozenset[Def]
    cut: frozenset[Def]
    edges: tuple[tuple[Def | None, Use], ...]

    def leading_to(self, goals: Callable[[Def], bool]) -> frozenset[Def]:
        """The definitions from which a path runs back to a goal (the goals included)."""
        users: dict[Def, list[Def]] = {}
        for user, use in self.edges:
            if user is not None:
                users.setdefault(use.made, []).append(user)
        found = {d for d in self.made if goals(d)}
        stack = list(found)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in found:
                    found.add(user)
                    stack.append(user)
        return frozenset(found)


def backward(
    uses: Iterable[Use],
    cut: frozenset[Def] = frozenset(),
    rounds: frozenset[ast.stmt] = frozenset(),
    passed: frozenset[Def] = frozenset(),
) -> Backward:
    """Everything that ``uses`` were made of, in this scope.

    But for what was carried there round one of the loops in ``rounds``. Changes made in place that
    are in ``passed`` put nothing in: only what was there before counts.
    """
    edges: list[tuple[Def | None, Use]] = [
        (None, u) for u in uses if not rounds or rounds.isdisjoint(u.carried)
    ]
    made = {use.made for _, use in edges}
    stack = list(made)
    while stack:
        current = stack.pop()
        # What an empty set holds is asked of the definition all the same, in Python.
        if cut and current in cut:
            continue
        read: Iterable[Use] = current.before if passed and current in passed else current.uses
        if rounds:
            read = [use for use in read if rounds.isdisjoint(use.carried)]
        edges += [(current, use) for use in read]
        new = {use.made for use in read} - made
        made |= new
        stack += new
    return Backward(frozenset(made), cut, tuple(edges))


def origins(uses: Iterable[Use]) -> frozenset[Def]:
    """The definitions themselves, seen through changes made in place."""
    found: set[Def] = set()
    seen: set[Def] = set()
    stack = [u.made for u in uses]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if current.kind is Kind.MUTATE:
            stack.extend(u.made for u in current.before)
        else:
            found.add(current)
    return frozenset(found)


def of_path(uses: Iterable[Use], path: Path | None) -> Iterator[Def]:
    """The definitions of a path, and the changes that are made to it in place, the last first."""
    seen: set[Def] = set()
    stack = [u.made for u in uses]
    while stack:
        current = stack.pop()
        if current in seen or current.path != path:
            continue
        seen.add(current)
        yield current
        if current.kind is Kind.MUTATE:
            stack += [u.made for u in current.before]


def meant(uses: Iterable[Use], reads: Mapping[ast.AST, Uses]) -> frozenset[Def]:
    """The definitions themselves, seen through those that only give another name to one."""
    found: set[Def] = set()
    seen: set[Def] = set()
    stack = list(origins(uses))
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        value = current.value if current.kind is Kind.ASSIGN else None
        path = path_of(value) if value is not None else None
        there = origins(reads.get(value, NONE)) if path is not None and value is not None else ()
        whole = [made for made in there if made.path == path]
        stack += whole
        if not whole or len(whole) < len(there):
            found.add(current)
    return frozenset(found)

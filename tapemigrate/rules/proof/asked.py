"""Two values of one function of which it is asked whether one was made from the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Scope
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.traces import Provenance


@dataclass(frozen=True, slots=True)
class Asked:
    """Two values of one function: ``source``, and another that may have been made from it.

    The other is a ``parameter``; or an ``attribute`` of ``self``, of which ``traced`` tells where
    it comes from; or made of what a ``closure`` holds, in which ``same`` is the very tensor.
    ``linear``: the target is linear in the other. ``computed``: the other is no plain argument.
    ``part``: the source is a part of the object that ``source`` is. ``above``: it is a caller's
    value, where what functions give that are not followed is taken for data.
    """

    source: Def
    parameter: str | None = None
    attribute: str | None = None
    traced: Provenance | None = None
    closure: frozenset[Def] | None = None
    same: frozenset[Def] = frozenset()
    linear: bool = False
    computed: bool = False
    part: bool = False
    above: bool = False

    def of(self, source: Def, parameter: str) -> Asked:
        """The same of two values of a caller."""
        return replace(self, source=source, parameter=parameter, closure=None)


class Answers:
    """What was found of two values of a function, kept with the project.

    Functions that all call each other are led to in as many ways as there are rows of them.
    """

    def __init__(self, _: Project) -> None:
        # With what is traced, which is told apart by its place: that no other one may take.
        self._known: dict[_Key, tuple[bool | CallSite, Provenance | None]] = {}
        self._pending: set[_Key] = set()
        self._wholes: dict[tuple[Scope, str], Def] = {}

    def of(
        self,
        view: View,
        asked: Asked,
        depth: int,
        find: Callable[[View, Asked, int], bool | CallSite],
    ) -> bool | CallSite:
        """The answer that ``find`` gives, which follows callers up to ``depth``.

        Where it leads back to itself, through functions that call themselves, there is none.
        """
        key = (view.scope, replace(asked, traced=None), id(asked.traced), depth)
        if key in self._pending:
            return False
        if key not in self._known:
            self._pending.add(key)
            self._known[key] = find(view, asked, depth), asked.traced
            self._pending.remove(key)
        return self._known[key][0]

    def whole(self, scope: Scope, name: str) -> Def:
        """The parameter, which is the same one wherever it is asked about."""
        return self._wholes.setdefault((scope, name), Def((name,), Kind.PARAM, None))


_Key = tuple[Scope, Asked, int, int]


def attribute_of(made: Def, view: View) -> str | None:
    """The attribute of ``self`` that is read or set there, if it is one."""
    if made.kind is Kind.ENTRY and len(made.path) > 1 and made.path[0] == view.kinds.self_name:
        return made.path[1].lstrip(".")
    return None

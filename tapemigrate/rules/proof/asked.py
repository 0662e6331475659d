"""Two values of one function of which it is asked whether one was made from the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.rules.project import View
from tapemigrate.rules.values.provenance import Provenance


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


def attribute_of(made: Def, view: View) -> str | None:
    """The attribute of ``self`` that is read or set there, if it is one."""
    if made.kind is Kind.ENTRY and len(made.path) > 1 and made.path[0] == view.kinds.self_name:
        return made.path[1].lstrip(".")
    return None

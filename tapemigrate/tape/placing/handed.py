"""Whether the callers of a function can watch what it differentiates by."""

from __future__ import annotations

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import text_of
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.syntax import only_iterates


def is_passed_in(leaf: Leaf) -> bool:
    """Whether the source is a parameter, or variables, however it is named here."""
    if leaf.watch is None and leaf.variables:
        return True
    return any(d.kind is Kind.PARAM for d in leaf.defs) and all(
        d.kind in (Kind.PARAM, Kind.LOOP, Kind.COMPREHENSION)
        or (d.kind is Kind.ASSIGN and d.value is not None and only_iterates(d.value))
        for d in leaf.defs
    )


def own_attribute(leaf: Leaf, me: str | None) -> str:
    """The attribute of the object ``me`` that the source is, as the method finds it; else none."""
    paths = {d.path for d in leaf.defs}
    path = next(iter(paths)) if len(paths) == 1 else ()
    found = len(path) == 2 and path[0] == me and path[1].startswith(".")
    if not found or leaf.watch != text_of(path) or leaf.looked_up:
        return ""
    return path[1].lstrip(".") if all(d.kind is Kind.ENTRY for d in leaf.defs) else ""


def is_read_outside(leaf: Leaf) -> bool:
    """Whether the source is a plain name of the module or the function around."""
    return bool(leaf.defs) and all(
        d.kind is Kind.ENTRY and len(d.path) == 1 and text_of(d.path) == leaf.watch
        for d in leaf.defs
    )

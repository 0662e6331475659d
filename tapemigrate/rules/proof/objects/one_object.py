"""Sources that are parts of objects: what else comes out of the same object may depend on them."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.project import View
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import Make

_TENSORS = (Make.LEAF, Make.TENSOR)
_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


def outside_paths(leaf: Leaf, view: View) -> frozenset[Path]:
    """What the source may be called outside of the scope: ``net.x`` where it is ``n.x``."""
    return frozenset(p for made in leaf.defs for p in _paths(made, leaf, view) if p)


def certain_paths(leaf: Leaf, view: View) -> frozenset[Path]:
    """The same, if it certainly is one of these; else none."""
    found = frozenset(p for made in leaf.defs for p in _paths(made, leaf, view))
    return frozenset() if () in found else found


def names_outside(view: View, node: ast.expr) -> frozenset[Path]:
    """What ``node`` is certainly another name of, outside of the scope; none if it may be more."""
    path = path_of(node)
    found: set[Path] = set()
    for use in view.flow.reads.get(node, frozenset()):
        found |= _below(use.made, path, view, set())
    return frozenset() if () in found else frozenset(found)


def _paths(made: Def, leaf: Leaf, view: View) -> set[Path]:
    watch = _watched(leaf.watch)
    if watch is None or watch[: len(made.path)] != made.path:
        return _named(made, view, set())
    return _below(made, watch, view, set())


def _watched(text: str | None) -> Path | None:
    if text is None or text.isidentifier():
        return None if text is None else (text,)
    return path_of(ast.parse(text, mode="eval").body)


def _below(made: Def, path: Path | None, view: View, seen: set[Def]) -> set[Path]:
    """What ``path``, which ``made`` is or which leads on from it, is called outside."""
    above = made.path
    if path is None or path[: len(above)] != above:
        return {()}
    return {outer + path[len(above) :] if outer else () for outer in _named(made, view, seen)}


def _named(made: Def, view: View, seen: set[Def]) -> set[Path]:
    """The paths from outside of which a definition is merely another name; () if of none."""
    if made.kind in _OUTSIDE:
        return {made.path}
    path = path_of(made.value) if made.kind is Kind.ASSIGN and made.value is not None else None
    if path is None or made.value is None or made in seen:
        return {()}
    found: set[Path] = set()
    for use in view.flow.reads.get(made.value, frozenset()):
        found |= _below(use.made, path, view, seen | {made})
    return found or {()}


def comes_with(root: Def, leaf: Leaf, view: View) -> bool:
    """Whether ``root`` is another part of the object of which the source is one, or all of it."""
    for path in outside_paths(leaf, view):
        owner = path[:-1]
        if not owner or owner == (view.kinds.self_name,) or not path[-1].startswith("."):
            continue
        if root.path == owner[: len(root.path)] and root.path != (view.kinds.self_name,):
            return True
        other = root.path[: len(owner)] == owner and root.path[: len(path)] != path
        if other and root.path[len(owner)].startswith("."):
            return True
    return False


def holders(leaf: Leaf, view: View) -> list[Def]:
    """The parameters that are the objects of which the source is a part."""
    names = {path[0] for path in outside_paths(leaf, view) if len(path) > 1}
    if not names:
        return []
    return [
        d
        for d in view.flow.defs.values()
        if d.kind is Kind.PARAM and d.path[0] in names and d.path != (view.kinds.self_name,)
    ]


def tensors_in(view: View, behind: frozenset[Def]) -> frozenset[Def]:
    """Of what an object was made of, that which may be its part, or what the part was made of."""
    return frozenset(
        d
        for d in behind
        if (d.kind is Kind.PARAM and d.path != (view.kinds.self_name,))
        or (d.value is not None and view.kinds.make(d.value) in _TENSORS)
    )

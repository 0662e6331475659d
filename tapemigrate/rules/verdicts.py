"""How it is told why a tape would be wrong, or on what its correctness rests."""

from __future__ import annotations

import ast

from tapemigrate.flow.defuse import Def, Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import View
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.sources import Leaf

_TAKEN = (Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION)
_RECIPE = (
    "Open the tape where the value is computed, watch the source there, and pass the tape on: "
    "`with tf.GradientTape() as tape:` has to surround every path from the source to the target."
)


def wrong(text: str, how: str, source: str, threads: bool = False, keeps: str = "") -> Refusal:
    """That a value which enters the forward pass may come from the source."""
    return Refusal(
        f"`{text}` enters the forward pass and was {how}, so it may depend on {source}: a tape "
        "here would silently drop that part of the gradient",
        _RECIPE,
        threads,
        keeps,
    )


def name_of(leaves: list[Leaf]) -> str:
    """One source, as the scope calls it."""
    return next((text_of(d.path) for x in leaves for d in x.defs), "the source")


def names_of(leaves: list[Leaf]) -> str:
    """All sources, as the scope calls them."""
    if any(x.variables for x in leaves):
        return "the variables"
    names = sorted({text_of(d.path) for x in leaves for d in x.defs if d.kind is not Kind.LOOP})
    return " or ".join(f"`{n}`" for n in names[:3])


def parts_beside(region: Region, view: View) -> list[str]:
    """What is assumed of sources that are parts of what was passed in, beside other parts of it."""
    found = [
        f"no other part of `{ast.unparse(container)}` was computed from `{text_of(made.path)}`"
        for made, container in _containers(region, view)
        if _is_passed_in(container, view)
    ]
    return list(dict.fromkeys(found))


def kept_together(region: Region, view: View) -> Refusal | None:
    """That a source was taken out of something that is kept, and so was what stands beside it."""
    for made, container in _containers(region, view):
        if not _is_passed_in(container, view):
            how = "made before, with more in it than the source"
            return wrong(ast.unparse(container), how, f"`{text_of(made.path)}`")
    return None


def _is_passed_in(container: ast.expr, view: View) -> bool:
    made = {u.made for u in view.flow.reads.get(container, frozenset())}
    return any(d.kind is Kind.PARAM for d in made)


def _containers(region: Region, view: View) -> list[tuple[Def, ast.expr]]:
    """What sources were taken out of, where it enters the forward pass by another way as well."""
    cut = {d for leaf in region.sources.leaves for d in leaf.defs}
    behind = backward(view.flow.uses_in(region.request.target)).made
    found: list[tuple[Def, ast.expr]] = []
    for made in sorted((d for d in cut if d.kind in _TAKEN), key=lambda d: d.order):
        container = made.value
        if container is None or path_of(container) is None:
            continue
        whole = any(r.path == path_of(container) for r in region.roots)
        # ``for x, h in pairs``: of one round, both are taken out of one element.
        twins = (d for d in behind - cut if d.value is container and d.kind is made.kind)
        if whole or (made.kind is not Kind.ELEMENT and any(twins)):
            found.append((made, container))
    return found

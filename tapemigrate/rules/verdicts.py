"""How it is told why a tape would be wrong, or on what its correctness rests."""

from __future__ import annotations

from tapemigrate.flow.defuse import Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.sources import Leaf

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


def parts_beside(region: Region) -> list[str]:
    """What is assumed of sources that are parts of what was passed in, beside other parts of it."""
    found: list[str] = []
    for leaf in region.sources.leaves:
        for made in leaf.defs:
            if made.kind is Kind.ELEMENT and made.value is not None and leaf.watch:
                path = path_of(made.value)
                if path is not None and any(
                    r.kind is Kind.PARAM and r.path == path for r in region.roots
                ):
                    found.append(
                        f"no other part of `{text_of(path)}` was computed from `{leaf.watch}`"
                    )
    return found

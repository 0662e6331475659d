"""Gradients of gradients that were asked of a tape from outside of the function.

``u_x`` is asked of the tape that is kept beside ``self.u``. A tape that opens here has not seen how
``self.u`` was made; the one that is kept has, and goes on here: what it is asked for while it
records, it can be asked to differentiate again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request

if TYPE_CHECKING:
    from tapemigrate.rules.handing.placing import Keeping

#: Such a gradient, where no tape records both.
HIGHER = Refusal(
    "it differentiates a gradient whose forward pass runs outside of this function",
    "Open a second tape round that forward pass, outside of the first, and ask it here.",
)


def is_elsewhere(outcome: Region | Refusal) -> bool:
    """Whether the forward pass runs outside of the function, on a tape from there."""
    if isinstance(outcome, Refusal):
        return outcome.threads or bool(outcome.keeps)
    return bool(outcome.given or outcome.resumes)


def on_kept_tape(
    region: Region,
    below: Sequence[Region | Refusal],
    kept: Mapping[Request, Keeping],
    me: str | None,
) -> Region | Refusal:
    """``region``, if the tape that goes on in it is the one that all gradients ``below`` are of.

    Else a refusal that names the attribute whose tape may be asked for both.
    """
    if region.resumes and all(_tape(g) == region.resumes for g in below):
        return region
    names = {_attribute(g, kept, me) for g in below}
    keeps = names.pop() if len(names) == 1 else ""
    return Refusal(HIGHER.reason, HIGHER.recipe, keeps=keeps)


def _tape(outcome: Region | Refusal) -> str:
    return outcome.given or outcome.resumes if isinstance(outcome, Region) else ""


def _attribute(outcome: Region | Refusal, kept: Mapping[Request, Keeping], me: str | None) -> str:
    """The attribute of ``self`` beside which the tape is kept, or may be."""
    if isinstance(outcome, Refusal):
        return outcome.keeps
    keeping = kept.get(outcome.request)
    recorded = keeping.recorded if keeping is not None else frozenset()
    names = {path[1].lstrip(".") for path in recorded if len(path) == 2 and path[0] == me}
    return names.pop() if len(names) == 1 else ""

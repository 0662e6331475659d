"""Values that the code itself differentiates by a source: they were computed from it."""

from __future__ import annotations

from collections.abc import Iterable

from tapemigrate.flow.paths import Path, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.verdicts import names_of, wrong
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request


def differentiated(
    region: Region, requests: Iterable[Request], recorded: frozenset[Path], view: View
) -> Refusal | None:
    """That what enters the region is asked for its gradient by one of its sources.

    ``u_x = gradient(outputs["u"], x)``, ahead of ``u_xx = gradient(u_x, x)``. Of what is
    ``recorded`` elsewhere, the tape knows.
    """
    flow = view.flow
    entering = [
        root
        for root in sorted(region.roots, key=lambda d: d.path)
        if not any(root.path[: len(path)] == path for path in recorded)
    ]
    for request in requests if entering else ():
        if request.call is region.request.call:
            continue
        made = backward(flow.uses_in(request.target)).made
        asked = {use.made for use in flow.uses_in(request.sources)}
        for leaf in region.sources.leaves:
            if leaf.variables or not leaf.defs & asked or leaf.defs & made:
                continue
            root = next((d for d in entering if d in made and d not in leaf.defs), None)
            if root is not None:
                how = f"differentiated by the source in line {request.call.lineno}"
                return wrong(text_of(root.path), how, names_of([leaf]), threads=True)
    return None

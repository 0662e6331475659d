"""Values that the code itself differentiates by a source: they were computed from it."""

from __future__ import annotations

from collections.abc import Iterable

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.verdicts import names_of, wrong
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request


def differentiated(
    region: Region, requests: Iterable[Request], recorded: frozenset[Path], view: View
) -> Refusal | None:
    """That what is handed in is asked for its gradient by one of the sources of the region.

    ``u_x = gradient(outputs["u"], x)``, ahead of ``u_xx = gradient(u_x, x)``. Of what is
    ``recorded`` elsewhere, the tape knows.
    """
    flow, me = view.flow, view.kinds.self_name
    handed = {d.path[0] for d in flow.defs.values() if d.kind is Kind.PARAM} - {me}
    entering = [
        root
        for root in sorted(region.roots, key=lambda d: d.path)
        if root.path[0] in handed and not any(root.path[: len(path)] == path for path in recorded)
    ]
    for request in requests if entering else ():
        if request.call is region.request.call:
            continue
        behind = {d.path[0] for d in backward(flow.uses_in(request.target)).made}
        asked = {use.made for use in flow.uses_in(request.sources)}
        for leaf in region.sources.leaves:
            own = {d.path[0] for d in leaf.defs}
            if leaf.variables or not own <= handed or not leaf.defs & asked:
                continue
            if own & behind or me in behind:
                continue
            # The target is made of what is handed in alone, and of none of the sources.
            root = next((d for d in entering if behind & handed == {d.path[0]}), None)
            if root is not None:
                how = f"differentiated by the source in line {request.call.lineno}"
                return wrong(text_of(root.path), how, names_of([leaf]), threads=True)
    return None

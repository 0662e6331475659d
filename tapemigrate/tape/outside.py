"""Targets that were computed outside of the scope in which the gradient is asked for."""

from __future__ import annotations

import ast
from collections.abc import Set

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.tape.kinds import Kinds
from tapemigrate.tape.recipes import SOURCE, THREAD
from tapemigrate.tape.request import Refusal, Request


def may_be_passed_in(target: ast.expr, flow: Flow) -> bool:
    """Whether a name that this function also computes may still hold what was passed."""
    for part in target.elts if isinstance(target, ast.List | ast.Tuple) else [target]:
        if isinstance(part, ast.Name):
            found = {d.kind for d in origins(flow.reads.get(part, frozenset()))}
            if Kind.PARAM in found and len(found) > 1:
                return True
    return False


def together(name: str) -> Refusal:
    """That the source and the target both come out of ``name``, which was made before."""
    return Refusal(
        f"the source and the target both come out of `{name}`, where one may have been made from "
        "the other before a tape could watch it",
        SOURCE,
    )


def elsewhere(
    request: Request, target: frozenset[Use], kinds: Kinds, sources: Set[Def] = frozenset()
) -> Refusal:
    """That no tape of this scope sees the target being computed, and where one might.

    ``sources`` are none of what the target is made of, only what gradients in it are taken by.
    """
    made = {u.made for u in target}
    what = ast.unparse(request.target)
    me = (kinds.self_name,)
    if any(d.kind is Kind.PARAM and d.path != me for d in origins(target)):
        return Refusal(
            f"the target `{what}` is a parameter: its forward pass runs in the callers",
            THREAD,
            threads=True,
        )
    entered = {
        d.path
        for d in backward(target).made - sources
        if d.kind is Kind.ENTRY and len(d.path) > 1 and d.path[0] == kinds.self_name
    }
    # ``self.losses[0]`` counts where nothing is taken whole.
    whole = {path[1] for path in entered if len(path) == 2}
    parts = {p[1] for p in entered if all(step.startswith("[") for step in p[2:])}
    names = whole or parts
    keeps = names.pop().lstrip(".") if len(names) == 1 else ""
    if any(d.path[0] == "self" and d.kind is not Kind.ASSIGN for d in made):
        return Refusal(
            f"the target `{what}` was computed before this method runs, outside of it",
            THREAD,
            keeps=_attribute(request.target) or keeps,
            own=True,
        )
    passed = {d.path[0] for d in backward(target).made if d.kind is Kind.PARAM and d.path != me}
    if passed:
        return Refusal(
            f"the target `{what}` is computed from `{min(passed)}`, a parameter: its forward "
            "pass begins in the callers",
            THREAD,
            threads=True,
        )
    return Refusal(
        f"the target `{what}` is computed outside this function, or not from the source",
        THREAD,
        keeps=keeps,
        own=bool(names),
    )


def _attribute(target: ast.expr) -> str:
    path = path_of(target)
    return path[1].lstrip(".") if path is not None and len(path) == 2 else ""

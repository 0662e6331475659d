"""One gradient call, read: what is differentiated, by what, and how."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapemigrate.tape.leaf import Sources


# What a tape is asked for, if not for a gradient.
_ASKED = {
    "hessians": "a Hessian",
    "jacobian": "a Jacobian",
    "batch_jacobian": "a Jacobian of each example",
}


@dataclass(eq=False, slots=True)
class Request:
    """A call that asks for gradients.

    ``node`` is what a rewrite replaces: the call, or ``call[0]``. ``stmt`` is the innermost
    statement around it. ``first`` says that only the first of the result's list is used.

    ``api`` is "threaded" for the call of a function that is handed the tape as ``parameter``, and
    asks it itself: ``often``, more than once; ``records``, after more ops; ``joins``, which lead
    from the sources to the target; ``variables``, for those that are trainable, beside the
    ``sources``; ``alone`` are the parts of the target of which it asks a gradient each by itself,
    ``whole`` the sources that it takes as they are, or gone through: there may be several in one.
    It is "kept" where no gradient is asked for, but the
    tape is kept, as ``parameter``, for a method that asks it; ``known`` are its sources then, and
    ``beside`` are statements that it has to record as well.
    ``late``: an inner function asks, whenever it runs; ``stmt`` is where that function is made.
    ``ahead``: the target that it would compute is computed before it is made.
    ``received``: the ``known`` sources are recorded by a tape of the callers, and by no other.
    """

    call: ast.Call
    node: ast.expr
    stmt: ast.stmt
    api: str
    target: ast.expr
    sources: ast.expr
    first: bool = False
    output_gradients: ast.expr | None = None
    stop: ast.expr | None = None
    unconnected: ast.expr | None = None
    gated: bool = False
    parameter: str = ""
    often: bool = False
    records: bool = False
    joins: bool = False
    variables: bool = False
    known: Sources | None = None
    late: bool = False
    ahead: Ahead | None = None
    received: bool = False
    beside: tuple[ast.stmt, ...] = ()
    alone: tuple[ast.expr, ...] = ()
    whole: tuple[ast.expr, ...] = ()
    extras: dict[str, ast.expr] = field(default_factory=dict)

    def unfit_for_others(self) -> str:
        """Why it cannot be asked of a tape that another scope opens; "" where it can."""
        if self.stop is not None:
            return "`stop_gradients` would have to cut the forward pass where that runs"
        if self.api not in ("gradients", "threaded"):
            asked = _ASKED.get(self.api, "what is asked for")
            return f"tapes are handed on for gradients alone, not for {asked}"
        return ""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A target that an inner ``function`` would compute, as its call has it ``written``.

    ``stmt`` computes it there, for nothing but the call, where the call has its name only.
    ``assumption``: what has to hold for it to be the same where the function is made.
    """

    function: str
    written: ast.expr
    stmt: ast.stmt | None = None
    assumption: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call stays as it is, and what its author can write instead.

    ``threads``: the forward pass runs in the callers, who could hand in a tape. ``keeps`` is
    the attribute of ``self`` that another method computes, which could keep one. ``own``: other
    methods put on ``self`` what the target is made of, and whoever calls them before this one could
    hand one in. ``lends``: a function makes a source, and could be handed a tape to watch it.
    ``gathers``: a graph collection is asked for, and a tape that opens before it is filled would
    serve. ``overrides``: ops run under ``gradient_override_map``, or may be made so by whoever
    enters what does it. ``placed``: the reason tells the file that it holds of. ``unwatched``: only
    that a source cannot be watched in time is in the way. ``begins``: the forward pass certainly
    begins in the callers.
    """

    reason: str
    recipe: str
    threads: bool = False
    keeps: str = ""
    own: bool = False
    lends: bool = False
    gathers: bool = False
    overrides: bool = False
    placed: bool = False
    unwatched: bool = False
    begins: bool = False

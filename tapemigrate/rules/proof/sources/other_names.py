"""Under which other names a source came into the scope."""

from __future__ import annotations

import ast
from collections.abc import Collection

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.aliases import with_aliases
from tapemigrate.source.trees import arguments_of, calls_in
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.names.same import may_be
from tapemigrate.tape.ops.returned import gives_what_was
from tapemigrate.tape.ops.symbols import ANY_VARIABLE_LISTS, GETTERS, VARIABLE_LISTS

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


def passed_on(leaf: Leaf, view: View) -> frozenset[Def]:
    """The parameters that a call whose result is the source may have given back as they were."""
    made = [d for d in leaf.defs if d.kind is Kind.ASSIGN and not _is_looked_up(d, view)]
    # What an op makes is nothing that was handed in.
    made = [d for d in made if d.value is None or not view.kinds.is_op(d.value)]
    behind = backward(u for m in made for u in _handed(m, view)).made
    unpacked = [d for d in leaf.defs if d.kind is Kind.ELEMENT and view.kinds.hands_back(d)]
    given = backward(u for d in unpacked for u in d.uses).made
    own = (view.kinds.self_name,)  # an object, and no tensor
    return frozenset(d for d in behind | given if d.kind is Kind.PARAM and d.path != own)


def given_back(leaf: Leaf, view: View) -> frozenset[Def]:
    """The parameters that a call which cannot be seen through may have given as the source."""
    return frozenset(
        each
        for made in leaf.defs
        if made.kind is Kind.ASSIGN and not _is_seen_through(made.value, view)
        for each in may_be(made, view.flow, view.kinds)
        if each.kind is Kind.PARAM and each.path != (view.kinds.self_name,)
    )


def _is_seen_through(value: ast.expr | None, view: View) -> bool:
    """Whether other names of what it gives are known without this."""
    while isinstance(value, ast.Subscript | ast.Attribute):
        value = value.value
    if not isinstance(value, ast.Call):
        return True
    function = view.kinds.called(value)
    if function is not None and not gives_what_was(function):
        if all(view.kinds.name(call.func) is not None for call in calls_in(function)):
            return True
    return view.kinds.gives_tensors(value)


def _handed(made: Def, view: View) -> Collection[Use]:
    """What the value may be one of: not what it was looked up by."""
    value = made.value
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.args
        and all(isinstance(each, ast.Constant) for each in arguments_of(value))
    ):
        # ``ends("x")`` asks for what was kept: it is no other name of what is asked.
        return made.uses - view.flow.uses_in(value.func)
    return view.flow.uses_in(value.value) if isinstance(value, ast.Subscript) else made.uses


def _is_looked_up(made: Def, view: View) -> bool:
    """Whether TensorFlow gives variables of the graph, and is told only by which texts."""
    call = made.value
    if not isinstance(call, ast.Call):
        return call is None
    return view.kinds.tensorflow(call.func) in (*VARIABLE_LISTS, *ANY_VARIABLE_LISTS, *GETTERS)


def aliased(leaf: Leaf, view: View) -> frozenset[Def]:
    """What came from outside and is merely given another name: ``self.x = x``."""
    own = frozenset(d for d in leaf.defs if d.kind in (Kind.ASSIGN, Kind.ELEMENT))
    return frozenset(d for d in with_aliases(own, view) - own if d.kind in _OUTSIDE)


def taken_out(leaf: Leaf, view: View) -> frozenset[Def]:
    """What came from outside and was unpacked to the source: ``x, scale = batch``."""
    named = with_aliases(leaf.defs, view)
    values = [d.value for d in named if d.kind is Kind.ELEMENT and d.value is not None]
    paths = (each for each in values if path_of(each) is not None)
    made = (d for path in paths for d in origins(view.flow.reads.get(path, frozenset())))
    return frozenset(d for d in made if d.kind in _OUTSIDE)

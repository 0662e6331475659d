"""What became of two values before a call that is handed both."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.project import CallSite, View
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.kinds import Make


def handed_on_together(
    tracer: Tracer, site: CallSite, caller: View, other: ast.expr, cut: frozenset[Def]
) -> bool:
    """Whether an earlier call was handed both, and may have put the one into the other."""
    path, kinds = path_of(other), caller.kinds
    held = path is not None and any(
        isinstance(d.value, ast.Call) and kinds.make(d.value) is Make.UNKNOWN
        for d in origins(caller.flow.uses_in(other))
    )
    for node in walk(caller.scope) if held and cut else ():
        if not isinstance(node, ast.Call) or node.lineno >= site.call.lineno:
            continue
        given = arguments_of(node)
        if kinds.make(node) is not Make.UNKNOWN or not any(path_of(g) == path for g in given):
            continue
        if any(cut & tracer.behind(caller, g) for g in given if path_of(g) != path):
            return True
    return False


def was_there(
    tracer: Tracer, site: CallSite, caller: View, other: ast.expr, cut: frozenset[Def]
) -> bool:
    """Whether the other value was made before there was a source, and then left alone."""
    path, body = path_of(other), caller.blocks.top.body
    behind = _in_order(caller, tracer.behind(caller, other))
    sources = _in_order(caller, cut)
    if path is None or not behind or not sources or max(behind) >= min(sources):
        return False
    inside = set(walk(site.call))
    since = [n for s in body[min(sources) :] if s.lineno <= site.call.lineno for n in walk(s)]
    return not any(isinstance(n, ast.Name) and n.id == path[0] and n not in inside for n in since)


def _in_order(view: View, made: Iterable[Def]) -> list[int] | None:
    """Where in a straight run of statements the definitions stand; None if they do not."""
    top = view.blocks.top
    rows: list[int] = []
    for each in made:
        if each.stmt is None or each.kind not in (Kind.ASSIGN, Kind.IMPORT, Kind.FUNCTION):
            return None
        if each.stmt not in top.body:
            return None
        rows.append(top.body.index(each.stmt))
    return rows

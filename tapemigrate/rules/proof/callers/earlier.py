"""What became of two values before a call that is handed both."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.project import CallSite, View
from tapemigrate.rules.proof.callers.passed import PLAIN
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Make

# What nobody is handed before it has its name.
_NEW = (Kind.ASSIGN, Kind.IMPORT, Kind.FUNCTION)


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
        if not isinstance(node, ast.Call) or not _runs_before(node, site.call):
            continue
        given = arguments_of(node)
        if kinds.make(node) is not Make.UNKNOWN or not any(path_of(g) == path for g in given):
            continue
        if any(cut & tracer.behind(caller, g) for g in given if path_of(g) != path):
            return True
    return False


def _runs_before(node: ast.Call, call: ast.Call) -> bool:
    """Whether a call of the same scope runs first, where no loop runs both: by where it ends."""
    return node is not call and end(node) <= end(call)


def was_there(
    tracer: Tracer, site: CallSite, caller: View, other: ast.expr, cut: frozenset[Def]
) -> bool:
    """Whether the other value was made before there was a source, and then left alone."""
    path, body = path_of(other), caller.blocks.top.body
    behind, sources = tracer.behind(caller, other), _in_order(caller, cut)
    before = _in_order(caller, behind)
    if path is None or not sources:
        return False
    if not before:
        # Whoever was handed it may hold it, and give it more when it is run.
        rows = [_row(caller, d) for d in behind]
        apart = all(row is not None and row < min(sources) for row in rows)
        return apart and _runs_nothing(caller, body[min(sources) :], site.call)
    if max(before) >= min(sources):
        return False
    inside = set(walk(site.call))
    since = [n for s in body[min(sources) :] if begin(s) <= begin(site.call) for n in walk(s)]
    return not any(isinstance(n, ast.Name) and n.id == path[0] and n not in inside for n in since)


def _runs_nothing(caller: View, body: list[ast.stmt], call: ast.Call) -> bool:
    """Whether the call is the next thing that runs code of one's own, and nothing else is set."""
    for stmt in body:
        if isinstance(stmt, ast.Assign | ast.Expr) and stmt.value is call:
            return not any(isinstance(n, ast.Call) for a in arguments_of(call) for n in walk(a))
        if not isinstance(stmt, ast.Assign) or caller.kinds.make(stmt.value) not in PLAIN:
            return False
        if not all(isinstance(target, ast.Name) for target in stmt.targets):
            return False
    return False


def _in_order(view: View, made: Iterable[Def]) -> list[int] | None:
    """Where in a straight run of statements the definitions stand; None if they do not."""
    top = view.blocks.top
    rows: list[int] = []
    for each in made:
        if each.stmt is None or each.kind not in _NEW or each.stmt not in top.body:
            return None
        rows.append(top.body.index(each.stmt))
    return rows


def _row(view: View, made: Def) -> int | None:
    """Which statement of the scope makes it, however deep inside; -1: what the module begins with.

    None where it may come from outside at any time.
    """
    if made.kind is Kind.ENTRY and len(made.path) == 1 and isinstance(view.scope, ast.Module):
        return -1
    body: list[ast.stmt] = view.blocks.top.body
    node: ast.AST | None = made.stmt
    while node is not None and node not in body:
        node = view.unit.parents.get(node)
    return body.index(node) if isinstance(node, ast.stmt) else None

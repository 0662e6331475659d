"""Targets that outlive their tapes: a method runs again, opens another, and leaves the target."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.callgraph.setters import runs_once
from tapemigrate.rules.handing.placed import Placed
from tapemigrate.rules.project import Project
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.planner import Layout, Tape
from tapemigrate.tape.request import Request

_LEAVES = (ast.Return, ast.Continue, ast.Break)


def left_behind(
    project: Project, touched: Mapping[Scope, Placed], layouts: Mapping[Scope, Layout]
) -> Iterator[tuple[Request, str]]:
    """What a tape is kept for that may be there still when the tape has been opened anew."""
    for scope, layout in layouts.items():
        view = touched[scope].view
        for tape in layout.tapes:
            for region in tape.regions:
                if region.request.api != "kept" or not isinstance(scope, ast.FunctionDef):
                    continue
                looped = bool(view.blocks.loops_around(tape.block.body[0]))
                if not _always_given(tape, region) and (
                    looped or not runs_once(project, view, scope)
                ):
                    what = "a loop" if looped else f"`{scope.name}`"
                    yield region.request, f"{what} may run again, and leave the target as it was"


def _always_given(tape: Tape, region: Region) -> bool:
    """Whether the target is set whenever the tape is opened, in one branch or another."""
    made = (*region.request.beside, region.request.stmt)
    rows = tape.block.body[tape.first_real :]
    stores: dict[str, set[ast.stmt]] = {}
    for stmt in made:
        for name in _stored(stmt):
            stores.setdefault(name, set()).add(stmt)
    if not all(_sets(rows, stmts) for stmts in (stores or {"": set(made)}).values()):
        return False
    last = begin(region.request.stmt)
    return not any(
        isinstance(n, _LEAVES) and begin(n) < last
        for row in rows
        for n in walk(row)
        if n is not region.request.stmt
    )


def _stored(stmt: ast.stmt) -> list[str]:
    """The attributes that the statement sets anew."""
    targets = stmt.targets if isinstance(stmt, ast.Assign) else []
    nodes = (n for target in targets for n in walk(target))
    return [n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]


def _sets(rows: Sequence[ast.stmt], made: Set[ast.stmt]) -> bool:
    """Whether one of ``made`` runs wherever ``rows`` run to their end."""
    for stmt in rows:
        if stmt in made or isinstance(stmt, ast.Raise):
            return True
        if isinstance(stmt, ast.With) and _sets(stmt.body, made):
            return True
        if isinstance(stmt, ast.If) and _sets(stmt.body, made) and _sets(stmt.orelse, made):
            return True
    return False

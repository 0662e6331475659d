"""``tapemigrate why``: how a gradient call was read, told for a person."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import HIDDEN, Def
from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import text_of
from tapemigrate.rules import cells, gradients
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.entry_names import as_written
from tapemigrate.source.points import begin
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request


def tell(project: Project, unit: Unit, row: int, found: list[Finding]) -> str:
    """What was found out about the gradient calls on ``row``: one paragraph each.

    ``found`` is what there is in the file. Where nothing stands on the row, the nearest are named.
    """
    readings = list(gradients.readings(project, unit))
    parts = [
        _call(project, unit, view, request, outcome)
        for view, request, outcome in readings
        if request.call.lineno <= row <= (request.call.end_lineno or row)
    ]
    verdicts = [_verdict(f) for f in found if f.span.row <= row <= f.span.end_row]
    if not parts and not verdicts:
        rows = {request.call.lineno for _, request, _ in readings} | {f.span.row for f in found}
        near = [
            max((r for r in rows if r < row), default=0),
            min((r for r in rows if r > row), default=0),
        ]
        where = " and ".join(cells.where(unit, r) for r in near if r)
        nearest = f"; the nearest: {where}" if where else ""
        return f"{cells.where(unit, row)}: no gradient call stands here{nearest}"
    return as_written("\n\n".join([*parts, *dict.fromkeys(verdicts)]))


def _call(
    project: Project, unit: Unit, view: View, request: Request, outcome: Region | Refusal
) -> str:
    lines = [f"{cells.where(unit, request.call.lineno)}: {_text(unit, request.call)}"]
    lines.append(f"  target   {_text(unit, request.target)}{_origin(view, request.target)}")
    lines.append(f"  sources  {_text(unit, request.sources)}{_origin(view, request.sources)}")
    if isinstance(outcome, Refusal):
        lines.append(f"  no tape  {outcome.reason}")
        return "\n".join(lines)
    if outcome.given:
        lines.append(f"  tape     `{outcome.given}`, which comes from elsewhere:")
        lines += _handed(project, view.scope, {view.scope})
        return "\n".join(lines)
    if outcome.resumes:
        lines.append(f"  tape     `{outcome.resumes}`, which goes on here")
    lines.append(f"  region   {_region(outcome)}")
    leaves = outcome.sources.leaves
    watched = [leaf.watch for leaf in leaves if leaf.watch]
    watched += [f"in `{leaf.lent.name}`, where it is made" for leaf in leaves if leaf.lent]
    watched = [*dict.fromkeys(watched)]
    lines.append(f"  watch    {', '.join(watched) or 'nothing: the tape watches variables itself'}")
    for lower in sorted(outcome.lower, key=lambda r: begin(r.call)):
        lines.append(f"  order    differentiates the gradient of line {lower.call.lineno}")
    for assumption in outcome.assumptions:
        lines.append(f"  assumes  {assumption}")
    return "\n".join(lines)


def _text(unit: Unit, node: ast.expr) -> str:
    """The expression as the text has it; as it is read where that is no expression of its own.

    A name may be read by another one, which was there first.
    """
    written = unit.lines.segment(unit.lines.span(node))
    try:
        same = type(ast.parse(f"({written}\n)", mode="eval").body) is type(node)
    except SyntaxError:
        same = False
    return " ".join(written.split()) if same and "#" not in written else ast.unparse(node)


def _region(outcome: Region) -> str:
    body = outcome.block.body
    if outcome.last < outcome.first:
        return "the target itself, which is written in the call"
    first, last = body[outcome.first].lineno, body[outcome.last].end_lineno
    rows = f"line {first} has" if first == last else f"lines {first} to {last} have"
    return f"{rows} to run under the tape"


def _handed(project: Project, scope: Scope, seen: set[Scope]) -> list[str]:
    """Where the tape of a function is opened, or through which functions it gets there."""
    lines: list[str] = []
    for view, request, region in gradients.handed_by(project, scope):
        where = cells.where(view.unit, request.stmt.lineno)
        if not region.given:
            lines.append(f"           {where}: {_region(region)}")
        elif view.scope not in seen:
            lines.append(f"           {where}: passes on the one that it is handed:")
            lines += _handed(project, view.scope, seen | {view.scope})
    return lines or ["           no caller is in sight"]


def _origin(view: View, node: ast.expr) -> str:
    made = sorted(
        {u.made for u in view.flow.uses_in(node) if u.made.path[0] != HIDDEN[0]}, key=_row
    )
    named = [*dict.fromkeys(map(_definition, made))][:4]
    return f"  ({'; '.join(named)})" if named else ""


def _definition(made: Def) -> str:
    where = f" in line {made.stmt.lineno}" if made.stmt is not None else ""
    return f"`{text_of(made.path)}`: {made.kind.value}{where}"


def _row(made: Def) -> int:
    return made.stmt.lineno if made.stmt is not None else 0


def _verdict(finding: Finding) -> str:
    sure = finding.rewrite.applicability if finding.rewrite is not None else "no"
    lines: Iterable[str] = [f"  {finding.code}    {sure} fix: {finding.message}"]
    if finding.help:
        lines = [*lines, f"  instead  {finding.help}"]
    return "\n".join(lines)

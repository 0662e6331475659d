"""``tapemigrate why``: how a gradient call was read, told for a person."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.defuse import Def
from tapemigrate.flow.paths import text_of
from tapemigrate.rules import cells, gradients
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal, Request


def tell(project: Project, unit: Unit, row: int, found: list[Finding]) -> str:
    """What was found out about the gradient calls on ``row``: one paragraph each."""
    parts = [
        _call(unit, view, request, outcome)
        for view, request, outcome in gradients.readings(project, unit)
        if request.call.lineno <= row <= (request.call.end_lineno or row)
    ]
    verdicts = [_verdict(f) for f in found]
    if not parts and not verdicts:
        return f"{cells.where(unit, row)}: no gradient call stands here"
    return "\n\n".join([*parts, *dict.fromkeys(verdicts)])


def _call(unit: Unit, view: View, request: Request, outcome: Region | Refusal) -> str:
    lines = [f"{cells.where(unit, request.call.lineno)}: {ast.unparse(request.call)}"]
    lines.append(f"  target   {ast.unparse(request.target)}{_origin(view, request.target)}")
    lines.append(f"  sources  {ast.unparse(request.sources)}{_origin(view, request.sources)}")
    if isinstance(outcome, Refusal):
        lines.append(f"  no tape  {outcome.reason}")
        return "\n".join(lines)
    body = outcome.block.body
    if outcome.last >= outcome.first:
        first, last = body[outcome.first].lineno, body[outcome.last].end_lineno
        rows = f"line {first} has" if first == last else f"lines {first} to {last} have"
        lines.append(f"  region   {rows} to run under the tape")
    else:
        lines.append("  region   the target itself, which is written in the call")
    watched = [leaf.watch for leaf in outcome.sources.leaves if leaf.watch]
    lines.append(f"  watch    {', '.join(watched) or 'nothing: the tape watches variables itself'}")
    for lower in sorted(outcome.lower, key=lambda r: r.call.lineno):
        lines.append(f"  order    differentiates the gradient of line {lower.call.lineno}")
    for assumption in outcome.assumptions:
        lines.append(f"  assumes  {assumption}")
    return "\n".join(lines)


def _origin(view: View, node: ast.expr) -> str:
    made = sorted(
        {u.made for u in view.flow.uses_in(node) if u.made.path[0] != "<hidden state>"}, key=_row
    )
    named = [_definition(d) for d in made[:4]]
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

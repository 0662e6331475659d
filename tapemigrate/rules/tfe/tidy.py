"""Takes away the imports that nothing uses any longer once all else is rewritten."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.model import Applicability
from tapemigrate.rules.conditions import right_if
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.tfe.group import Group
from tapemigrate.rules.tfe.imports import Binding, idle, unneeded
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.symbols import CODE, is_contrib_eager
from tapemigrate.source.span import Span
from tapemigrate.source.trees import statements
from tapemigrate.suppression import Suppressions
from tapemigrate.tape.plan import Op, ReplaceStatement

_KEPT = (
    "tf.contrib does not exist in TensorFlow 2; nothing here needs it any longer, "
    "but other code may"
)


def tidy(unit: Unit, scopes: Scopes, groups: Sequence[Group], stuck: bool) -> list[Finding]:
    """A finding for every import that can go, with a rewrite that holds all that it needs.

    A group of which something is suppressed is left out: what it uses stays imported. ``stuck``
    says that the file needs work by hand; then an import that it never used stays as well.
    """
    silenced = Suppressions(unit.text)
    used = [g for g in groups if not _silenced(unit, g, silenced)]
    gone = {id(n) for g in used for node in g.nodes for n in ast.walk(node)}
    emptied = {op.span for g in used for op in g.ops if isinstance(op, ReplaceStatement)}
    gone |= {id(n) for node in _statements_at(unit, emptied) for n in ast.walk(node)}
    found = []
    for mine, op in unneeded(unit, scopes, lambda name: id(name) in gone):
        if stuck and not any(scopes.mentioned(b.name, b.statement) for b in mine):
            continue
        code, why = _code_and_reason(mine, used)
        span = unit.lines.span(mine[0].statement)
        line = unit.lines.segment(span).split("\n")[0].rstrip()
        found.append(
            Finding(code, unit.filename, span, f"`{line}`: {why}", "", _rewrite(unit, used, op))
        )
    for each in idle(unit, scopes, lambda name: id(name) in gone):
        span = unit.lines.span(each.statement)
        line = unit.lines.segment(span).split("\n")[0].rstrip()
        found.append(Finding(CODE, unit.filename, span, f"`{line}`: {_KEPT}"))
    return found


def _silenced(unit: Unit, group: Group, silenced: Suppressions) -> bool:
    pairs = [(s.kind.value, s.node) for s in group.sites] + [(CODE, u.node) for u in group.uses]
    return any(silenced.covers(code, unit.lines.span(node).row) for code, node in pairs)


def _statements_at(unit: Unit, spans: set[Span]) -> list[ast.stmt]:
    stmts = statements(unit.tree) if spans else []
    return [n for n in stmts if isinstance(n, ast.stmt) and unit.lines.span(n) in spans]


def _code_and_reason(mine: Sequence[Binding], groups: Sequence[Group]) -> tuple[str, str]:
    if any(is_contrib_eager(b.path) for b in mine):
        return CODE, "tf.contrib does not exist in TensorFlow 2; the line goes with its last use"
    sites = [s.kind.value for g in groups for s in g.sites]
    return sites[0] if sites else CODE, "nothing uses it any longer"


def _rewrite(unit: Unit, groups: Sequence[Group], op: ReplaceStatement) -> Rewrite:
    ops: dict[Op, None] = {}
    kind: Applicability = "safe"
    assumptions: list[str] = []
    for group in groups:
        assert group.rewrite is not None
        ops.update(dict.fromkeys(group.rewrite.ops[unit.filename]))
        if group.rewrite.applicability == "unsafe":
            kind = "unsafe"
        assumptions += [a for a in group.assumptions() if a not in assumptions]
    ops[op] = None
    message = "Remove what nothing uses any longer" + right_if(assumptions)
    return Rewrite(kind, message, {unit.filename: tuple(ops)})

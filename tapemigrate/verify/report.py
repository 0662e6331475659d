"""Verdicts, as text and as JSON."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tapemigrate.reports.common import printable
from tapemigrate.verify import wire
from tapemigrate.verify.cases import CaseResult, Counterexample
from tapemigrate.verify.compare import VERDICTS
from tapemigrate.verify.job import Verdicts
from tapemigrate.verify.probes import OPTIMIZING


def text(verdicts: Verdicts) -> str:
    """A table of the cases, if there are any, one of the calls, and what they come to."""
    lines, cases = verdicts.lines, verdicts.cases
    if not any(line.rewritten for line in lines):
        return "No call is rewritten: there is nothing to verify.\n"
    parts = [_cases(cases)] if cases else []
    rows, details = [("verdict", "runs", "difference", "call")], [""]
    for line in lines:
        site = line.site
        if site.api in OPTIMIZING and not line.rewritten:
            continue  # an optimizer's own gradients stay as they are in a graph
        rows.append(
            (
                site.verdict if line.rewritten else "not rewritten",
                str(site.runs),
                _size(site.largest) if site.runs and site.verdict == "VERIFIED" else "",
                f"{printable(site.filename) or 'elsewhere'}:{site.row} {site.api}",
            )
        )
        details.append(site.detail if line.rewritten else "")
    parts.append(_table(rows, details))
    counts = Counter(line.site.verdict for line in lines if line.rewritten)
    parts.append(f"{_told(counts)} of {_counted(counts.total(), 'rewritten call')}.\n")
    return "\n".join(parts)


def json_text(verdicts: Verdicts) -> str:
    """An object with a list of the calls and one of the cases."""
    return json.dumps(data(verdicts), indent=2) + "\n"


def sarif_text(verdicts: Verdicts) -> str:
    """A SARIF log of the rewritten calls; what was shown of each is in its properties."""
    from tapemigrate.reports import Report, sarif

    found = []
    for line in verdicts.lines:
        if line.call is not None and line.call.diagnostic is not None:
            proof = verdicts.proof(line)
            told = f"{proof.verdict}: {proof.detail}" if proof.detail else proof.verdict
            message = f"the rewrite of this `{line.site.api}` is {told}"
            found.append(
                replace(line.call.diagnostic, message=message, help="", fix=None, proof=proof)
            )
    return sarif.render(Report(found, {}, os.getcwd()))


#: How verdicts are told, by the name of the format.
RENDERERS = {"text": text, "json": json_text, "sarif": sarif_text}


def data(verdicts: Verdicts) -> dict[str, Any]:
    """The verdicts as JSON data."""
    return {
        "calls": [
            {
                "filename": line.site.filename,
                "row": line.site.row,
                "api": line.site.api,
                "rewritten": line.rewritten,
                "verdict": line.site.verdict,
                "runs": line.site.runs,
                "largest_difference": line.site.largest,
                "detail": line.site.detail,
            }
            for line in verdicts.lines
        ],
        "cases": [
            {
                "name": case.name,
                "verdict": case.comparison.verdict,
                "largest_difference": case.comparison.largest,
                "detail": case.comparison.detail,
                "counterexample": None
                if case.counterexample is None
                else _counterexample_data(case.counterexample),
            }
            for case in verdicts.cases
        ],
    }


def _cases(cases: Sequence[CaseResult]) -> str:
    rows, details = [("verdict", "difference", "case")], [""]
    for case in cases:
        found = case.comparison
        size = _size(found.largest) if found.verdict == "VERIFIED" else ""
        rows.append((found.verdict, size, case.name))
        told = [found.detail] if found.detail else []
        told += case.proof.example
        details.append("\n".join(told))
    return _table(rows, details)


def _table(rows: Sequence[Sequence[str]], details: Sequence[str]) -> str:
    """Columns under each other, the last as long as it is; a row's details below it."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    told = []
    for (verdict, *numbers, name), detail in zip(rows, details, strict=True):
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)]
        told.append("  ".join([verdict.ljust(widths[0]), *cells, name]))
        told += [f"{' ' * widths[0]}  {printable(line)}" for line in detail.splitlines()]
    return "\n".join([*told, ""])


def _counterexample_data(found: Counterexample) -> dict[str, Any]:
    return {
        "mode": found.mode,
        "inputs": {name: wire.dump(value) for name, value in found.inputs.items()},
        "before": wire.dump_observation(found.before),
        "after": wire.dump_observation(found.after),
    }


def _size(difference: float) -> str:
    return f"{difference:.1e}" if difference else "0"


def _told(counts: Counter[Any]) -> str:
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""SARIF 2.1.0, as GitHub code scanning and others read it."""

from __future__ import annotations

import json
from dataclasses import asdict

import tapemigrate
from tapemigrate.model import Diagnostic, Edit, Position
from tapemigrate.reports import Report
from tapemigrate.reports.common import extent, fingerprints, in_cell, uri
from tapemigrate.rules import catalog, pages
from tapemigrate.settings import ALWAYS_REPORTED

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report) -> str:
    """The report as a SARIF log."""
    codes = sorted({each.code for each in report.diagnostics})
    run = {
        "tool": {
            "driver": {
                "name": "tapemigrate",
                "version": tapemigrate.__version__,
                "informationUri": catalog.HOME,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not any(
                    each.code in ALWAYS_REPORTED for each in report.diagnostics
                )
            }
        ],
        "results": [
            _result(each, fingerprint, codes, report.root)
            for each, fingerprint in fingerprints(report)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    rule = catalog.rule(code)
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": f"{rule.summary}."},
        "fullDescription": {"text": rule.what},
        "help": {"text": f"{rule.why}\n\n{rule.fix_safety}", "markdown": pages.explain(code)},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": "error"},
    }


def _result(each: Diagnostic, fingerprint: str, codes: list[str], root: str) -> dict[str, object]:
    text = f"{each.message}{in_cell(each)}\n{each.help}".strip()
    result: dict[str, object] = {
        "ruleId": each.code,
        "ruleIndex": codes.index(each.code),
        "level": "error",
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(each.filename, root)},
                    "region": _region(*extent(each)),
                }
            }
        ],
        "partialFingerprints": {"tapemigrate/v1": fingerprint},
    }
    if each.proof is not None:
        result["properties"] = {"proof": asdict(each.proof)}
        if each.proof.verdict == "VERIFIED":
            result.update(kind="pass", level="none")
    # The edits of a notebook are places in its cells, and nothing that SARIF could speak of.
    if each.fix is not None and each.fix.edits and all(e.cell is None for e in each.fix.edits):
        by_file: dict[str, list[Edit]] = {}
        for edit in each.fix.edits:
            by_file.setdefault(edit.filename, []).append(edit)
        changes = [
            {
                "artifactLocation": {"uri": uri(filename, root)},
                "replacements": [
                    {
                        "deletedRegion": _region(edit.start, edit.end),
                        "insertedContent": {"text": edit.content},
                    }
                    for edit in edits
                ],
            }
            for filename, edits in by_file.items()
        ]
        result["fixes"] = [
            {
                "description": {"text": each.fix.message},
                "artifactChanges": changes,
                "properties": {"applicability": each.fix.applicability},
            }
        ]
    return result


def _region(start: Position, end: Position) -> dict[str, int]:
    return {
        "startLine": start.row,
        "startColumn": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }

"""GitLab's code quality report."""

from __future__ import annotations

import json

from tapemigrate.model import Position
from tapemigrate.reports import Report
from tapemigrate.reports.common import extent, fingerprints, in_cell, relative
from tapemigrate.settings import ALWAYS_REPORTED


def render(report: Report) -> str:
    """The report as a JSON list."""
    issues = [
        {
            "check_name": each.code,
            "description": f"{each.code}: {each.message}{in_cell(each)}",
            "severity": "critical" if each.code in ALWAYS_REPORTED else "major",
            "fingerprint": fingerprint,
            "location": {
                "path": relative(each.filename, report.root),
                "positions": {
                    "begin": _position(extent(each)[0]),
                    "end": _position(extent(each)[1]),
                },
            },
        }
        for each, fingerprint in fingerprints(report)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _position(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}

"""A JSON list with ruff's field names, so that what reads the one reads the other."""

from __future__ import annotations

import json
from dataclasses import asdict

from tapemigrate.model import Diagnostic, Edit, Position
from tapemigrate.reports import Report
from tapemigrate.reports.common import relative
from tapemigrate.rules import catalog


def render(report: Report) -> str:
    """The report as a JSON list."""
    if not report.diagnostics:
        return "[]\n"
    # One diagnostic at a time: the indented whole of a large report takes several times its size.
    items = (json.dumps(_item(each, report.root), indent=2) for each in report.diagnostics)
    body = ",\n".join(items).replace("\n", "\n  ")
    return f"[\n  {body}\n]\n"


def _item(each: Diagnostic, root: str) -> dict[str, object]:
    fix = each.fix
    item: dict[str, object] = {
        "code": each.code,
        "message": each.message,
        "filename": relative(each.filename, root),
        "location": _position(each.location),
        "end_location": _position(each.end_location),
        "cell": each.cell,
        "noqa_row": each.noqa_row,
        "url": catalog.url(each.code),
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability,
            "message": fix.message,
            "edits": [_edit(edit, each.filename, root) for edit in fix.edits],
        },
    }
    if each.proof is not None:
        item["proof"] = asdict(each.proof)
    return item


def _edit(edit: Edit, filename: str, root: str) -> dict[str, object]:
    item: dict[str, object] = {
        "content": edit.content,
        "location": _position(edit.start),
        "end_location": _position(edit.end),
    }
    if edit.cell is not None:
        item["cell"] = edit.cell
    if edit.filename != filename:
        item["filename"] = relative(edit.filename, root)
    return item


def _position(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}

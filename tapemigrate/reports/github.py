"""Annotations on a pull request: GitHub's workflow commands."""

from __future__ import annotations

from tapemigrate.reports import Report
from tapemigrate.reports.common import extent, printable, relative
from tapemigrate.reports.concise import headline, position


def render(report: Report) -> str:
    """The report, one workflow command a diagnostic."""
    commands = []
    for each in report.diagnostics:
        path = printable(relative(each.filename, report.root))
        start, end = extent(each)
        properties: dict[str, object] = {
            "title": f"tapemigrate ({each.code})",
            "file": path,
            "line": start.row,
            "endLine": end.row,
        }
        # GitHub takes columns only for what stands on one line.
        if start.row == end.row:
            properties["col"] = start.column
            properties["endColumn"] = end.column
        listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        text = _data(f"{path}:{position(each)}: {headline(each)}")
        commands.append(f"::error {listed}::{text}\n")
    return "".join(commands)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

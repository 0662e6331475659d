"""One line a diagnostic: ``file:row:column: code message``."""

from __future__ import annotations

from tapemigrate.model import Diagnostic
from tapemigrate.reports import Report
from tapemigrate.reports.common import printable

_MARKS = {"safe": "[*] ", "unsafe": "[unsafe] ", "display": ""}


def render(report: Report) -> str:
    """The report, one line a diagnostic."""
    return "".join(f"{place(each)}: {headline(each)}\n" for each in report.diagnostics)


def place(diagnostic: Diagnostic) -> str:
    """``file:row:column``, or ``file:cell 3:row:column``."""
    return f"{printable(diagnostic.filename)}:{position(diagnostic)}"


def position(diagnostic: Diagnostic) -> str:
    """``row:column``, or ``cell 3:row:column``."""
    cell = "" if diagnostic.cell is None else f"cell {diagnostic.cell}:"
    location = diagnostic.location
    return f"{cell}{location.row}:{location.column}"


def headline(diagnostic: Diagnostic) -> str:
    """``code message``, with a mark where there is a fix."""
    mark = _MARKS[diagnostic.fix.applicability] if diagnostic.fix else ""
    return f"{diagnostic.code} {mark}{printable(diagnostic.message)}"

"""JUnit XML: one suite a file, one failed case a diagnostic."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as XML

from tapemigrate.patterns import late
from tapemigrate.reports import Report
from tapemigrate.reports.common import extent, relative
from tapemigrate.reports.concise import position

# XML 1.0 has no way to write these at all.
_ILLEGAL = late("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """The report as an XML document."""
    top = XML.Element("testsuites", name="tapemigrate")
    _count(top, len(report.diagnostics), len(report.diagnostics))
    for filename, group in groupby(report.diagnostics, key=lambda each: each.filename):
        found = list(group)
        name = _legal(relative(filename, report.root))
        suite = XML.SubElement(top, "testsuite", name=name)
        _count(suite, len(found), len(found))
        for each in found:
            row, column = each.location.row, each.location.column
            line = extent(each)[0].row
            cell = "" if each.cell is None else f"cell {each.cell}, "
            # CI servers tell cases apart by these two names.
            title = f"{each.code} in {cell}line {row}, column {column}"
            case = XML.SubElement(
                suite, "testcase", name=title, classname=name, file=name, line=str(line), time="0"
            )
            failure = XML.SubElement(case, "failure", type=each.code, message=_legal(each.message))
            failure.text = _legal(f"{name}:{position(each)}: {each.message}\n{each.help}".strip())
    if not report.diagnostics:
        # Some readers take a report without any case for a failed upload.
        suite = XML.SubElement(top, "testsuite", name="tapemigrate")
        XML.SubElement(suite, "testcase", name="no findings", classname="tapemigrate", time="0")
        _count(top, 1, 0)
        _count(suite, 1, 0)
    XML.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + XML.tostring(top, encoding="unicode") + "\n"


def _count(element: XML.Element, tests: int, failures: int) -> None:
    counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": 0, "time": 0}
    for name, count in counts.items():
        element.set(name, str(count))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)

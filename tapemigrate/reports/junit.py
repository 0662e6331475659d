"""JUnit XML: one suite a file, one failed case a diagnostic."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree as XML

from tapemigrate.reports import Report
from tapemigrate.reports.common import relative

# XML 1.0 has no way to write these at all.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """The report as an XML document."""
    total = str(len(report.diagnostics))
    top = XML.Element("testsuites", name="tapemigrate", tests=total, failures=total)
    for filename, group in groupby(report.diagnostics, key=lambda each: each.filename):
        found = list(group)
        name = _legal(relative(filename, report.root))
        count = str(len(found))
        suite = XML.SubElement(
            top, "testsuite", name=name, tests=count, failures=count, errors="0", skipped="0"
        )
        for each in found:
            row, column = each.location.row, each.location.column
            case = XML.SubElement(
                suite, "testcase", name=each.code, classname=name, file=name, line=str(row)
            )
            failure = XML.SubElement(case, "failure", type=each.code, message=_legal(each.message))
            failure.text = _legal(f"{name}:{row}:{column}: {each.message}\n{each.help}".strip())
    if not report.diagnostics:
        # Some readers take a report without any case for a failed upload.
        suite = XML.SubElement(top, "testsuite", name="tapemigrate", tests="1", failures="0")
        XML.SubElement(suite, "testcase", name="no diagnostics", classname="tapemigrate")
        top.set("tests", "1")
    XML.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + XML.tostring(top, encoding="unicode") + "\n"


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)

"""Every output format, read back by what was made to read it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as XML

import pytest

from tapemigrate.model import Diagnostic, Edit, Fix, Position
from tapemigrate.reports import FORMATS, Report, render
from tapemigrate.reports.common import fingerprints, printable

LINE = "\tgrads = tf.gradients(loss, xs)  # é"

SAFE = Diagnostic(
    "TM101",
    "`tf.gradients` can be a tape",
    "pkg/a, b%.py",
    Position(3, 10),
    Position(3, 32),
    fix=Fix(
        "safe",
        "one tape around line 2",
        (Edit("pkg/a, b%.py", Position(3, 10), Position(3, 32), "tape.gradient(loss, xs)"),),
    ),
)
FLAG = Diagnostic(
    "TM904",
    "a value <&> with\nno call \x1b[31m",
    "pkg/z.py",
    Position(7, 1),
    Position(9, 2),
    help="First.\nSecond.",
)
LINES = {("pkg/a, b%.py", 3): LINE + "\r\n", ("pkg/z.py", 7): "x = tf.gradients\n"}


def report(*diagnostics: Diagnostic, color: bool = False) -> Report:
    return Report(diagnostics, LINES, os.getcwd(), color)


def test_full() -> None:
    assert render("full", report(SAFE, FLAG)) == (
        "TM101 [*] `tf.gradients` can be a tape\n"
        " --> pkg/a, b%.py:3:10\n"
        "  |\n"
        "3 |     grads = tf.gradients(loss, xs)  # é\n"
        "  |             ^^^^^^^^^^^^^^^^^^^^^^\n"
        "  |\n"
        "  = fix: one tape around line 2\n"
        "\n"
        "TM904 a value <&> with\\nno call \\x1b[31m\n"
        " --> pkg/z.py:7:1\n"
        "  |\n"
        "7 | x = tf.gradients\n"
        "  | ^^^^^^^^^^^^^^^^\n"
        "  |\n"
        "  = help: First.\n"
        "    Second.\n"
        "\n"
    )
    assert "\x1b[" in render("full", report(SAFE, color=True))
    assert "\x1b" not in render("full", report(FLAG))


@pytest.mark.parametrize("start", [1, 500_000, 999_990])
def test_full_shows_a_piece_of_a_long_line(start: int) -> None:
    line = "x" * (start - 1) + "HERE" + "y" * (1_000_000 - start)
    each = Diagnostic("TM101", "m", "f.py", Position(1, start), Position(1, start + 4))
    text = render("full", Report((each,), {("f.py", 1): line}))
    shown, caret = text.splitlines()[3:5]
    assert len(shown) < 140
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "HERE"


def test_carets_stand_below_wide_characters() -> None:
    line = "名 = tf.gradients(y, x)"
    each = Diagnostic("TM101", "m", "f.py", Position(1, 5), Position(1, 23))
    shown, caret = render("full", Report((each,), {("f.py", 1): line})).splitlines()[3:5]
    assert caret.index("^") == shown.index("tf.") + 1


def test_concise() -> None:
    assert render("concise", report(SAFE, FLAG)).splitlines() == [
        "pkg/a, b%.py:3:10: TM101 [*] `tf.gradients` can be a tape",
        "pkg/z.py:7:1: TM904 a value <&> with\\nno call \\x1b[31m",
    ]


def test_json_has_the_names_that_scripts_depend_on() -> None:
    first, second = json.loads(render("json", report(SAFE, FLAG)))
    assert list(first) == [
        *("code", "message", "filename", "location", "end_location"),
        *("cell", "noqa_row", "url", "fix"),
    ]
    assert first["location"] == {"row": 3, "column": 10}
    assert first["end_location"] == {"row": 3, "column": 32}
    assert first["filename"] == "pkg/a, b%.py"
    assert first["noqa_row"] == 3
    assert first["cell"] is None
    assert first["fix"] == {
        "applicability": "safe",
        "message": "one tape around line 2",
        "edits": [
            {
                "content": "tape.gradient(loss, xs)",
                "location": {"row": 3, "column": 10},
                "end_location": {"row": 3, "column": 32},
            }
        ],
    }
    assert second["fix"] is None
    assert second["message"] == FLAG.message
    assert json.loads(render("json", report())) == []


def test_sarif() -> None:
    log = json.loads(render("sarif", report(SAFE, FLAG, SAFE)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TM101", "TM904"]
    assert all(rule["shortDescription"]["text"] for rule in rules)
    first, second, third = run["results"]
    assert rules[second["ruleIndex"]]["id"] == second["ruleId"] == "TM904"
    location = first["locations"][0]["physicalLocation"]
    assert unquote(location["artifactLocation"]["uri"]) == "pkg/a, b%.py"
    assert " " not in location["artifactLocation"]["uri"]
    assert location["region"] == {
        "startLine": 3,
        "startColumn": 10,
        "endLine": 3,
        "endColumn": 32,
    }
    replacement = first["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"] == {"text": "tape.gradient(loss, xs)"}
    assert "fixes" not in second
    assert first["partialFingerprints"] != third["partialFingerprints"]
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert json.loads(render("sarif", report()))["runs"][0]["results"] == []


def test_sarif_says_when_a_file_could_not_be_analysed() -> None:
    failed = Diagnostic("TM901", "m", "f.py", Position(1, 1), Position(1, 1))
    (run,) = json.loads(render("sarif", report(failed)))["runs"]
    assert run["invocations"] == [{"executionSuccessful": False}]


def test_github() -> None:
    first, second = render("github", report(SAFE, FLAG)).splitlines()
    assert first == (
        "::error title=tapemigrate (TM101),file=pkg/a%2C b%25.py,line=3,endLine=3,col=10,"
        "endColumn=32::pkg/a, b%25.py:3:10: TM101 [*] `tf.gradients` can be a tape"
    )
    assert "col=" not in second
    assert "endLine=9" in second


def test_gitlab() -> None:
    first, second, third = json.loads(render("gitlab", report(SAFE, FLAG, SAFE)))
    assert set(first) == {"check_name", "description", "severity", "fingerprint", "location"}
    assert first["location"]["path"] == "pkg/a, b%.py"
    assert first["location"]["positions"]["begin"] == {"line": 3, "column": 10}
    assert len({each["fingerprint"] for each in (first, second, third)}) == 3
    assert json.loads(render("gitlab", report())) == []


def test_junit() -> None:
    top = XML.fromstring(render("junit", report(SAFE, FLAG)).encode())
    assert top.get("failures") == "2"
    suites = list(top)
    assert [suite.get("name") for suite in suites] == ["pkg/a, b%.py", "pkg/z.py"]
    failure = suites[1].find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "TM904"
    assert "value <&> with" in (failure.get("message") or "")
    empty = XML.fromstring(render("junit", report()).encode())
    assert empty.get("failures") == "0"
    assert len(list(empty)) == 1


def test_fingerprints_survive_moved_lines_and_tell_equal_lines_apart() -> None:
    def at(row: int) -> Diagnostic:
        return Diagnostic("TM101", "m", "f.py", Position(row, 1), Position(row, 2))

    lines = {("f.py", row): "g = tf.gradients(y, x)" for row in (1, 2, 8, 9)}
    here = [found for _, found in fingerprints(Report((at(1), at(2)), lines))]
    there = [found for _, found in fingerprints(Report((at(8), at(9)), lines))]
    assert here == there
    assert len(set(here)) == 2


@pytest.mark.parametrize("output_format", FORMATS)
def test_odd_names_are_told_in_every_format(output_format: str, tmp_path: Path) -> None:
    name = os.fsdecode(b"odd \xff\n\x1b[0m.py")
    each = Diagnostic("TM101", "m", name, Position(1, 1), Position(1, 2))
    text = render(output_format, Report((each,), {}, str(tmp_path)))
    if output_format in ("json", "gitlab", "sarif"):
        json.loads(text)
    elif output_format == "junit":
        XML.fromstring(text.encode())
    else:
        text.encode()
        assert "\x1b" not in text


def test_printable() -> None:
    assert printable("a\tb\x1bé\udcff\u202e") == "a\\tb\\x1bé\\xff\\u202e"

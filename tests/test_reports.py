"""Every output format, read back by what was made to read it."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as XML

import jsonschema
import pytest

from tapemigrate.model import Diagnostic, Edit, Fix, Position
from tapemigrate.reports import FORMATS, Report, render
from tapemigrate.reports.common import fingerprints, printable
from tapemigrate.rules import catalog
from tapemigrate.runner import Mode, run
from tapemigrate.settings import Settings
from tapemigrate.source import Lines
from tests.programs import LOCAL

MODES: tuple[Mode, ...] = ("check", "fix")

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
FAILED = Diagnostic("TM901", "m", "f.py", Position(1, 1), Position(1, 1))
LINES = {
    ("pkg/a, b%.py", None, 3): LINE + "\r\n",
    ("pkg/z.py", None, 7): "x = tf.gradients\n",
}


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
        f"  = see: {catalog.rule('TM101').url}\n"
        "\n"
        "TM904 a value <&> with\\nno call \\x1b[31m\n"
        " --> pkg/z.py:7:1\n"
        "  |\n"
        "7 | x = tf.gradients\n"
        "  | ^^^^^^^^^^^^^^^^\n"
        "  |\n"
        "  = help: First.\n"
        "    Second.\n"
        f"  = see: {catalog.rule('TM904').url}\n"
        "\n"
    )
    assert "\x1b[" in render("full", report(SAFE, color=True))
    assert "\x1b" not in render("full", report(FLAG))


def test_full_lists_what_a_fix_rests_on_once() -> None:
    assumptions = ("`a` was not computed from `x`", "`z` is a list")
    told = f"a tape; right if {assumptions[0]}"
    one = Diagnostic(
        *("TM101", told, "pkg/z.py", Position(7, 1), Position(9, 2)), fix=Fix("unsafe", told, ())
    )
    text = render("full", report(one))
    assert text.startswith("TM101 [unsafe] a tape\n")
    assert f"  = unsafe fix: a tape; right if {assumptions[0]}\n" in text
    two = replace(one, fix=Fix("unsafe", f"{told}, and {assumptions[1]}", ()))
    text = render("full", report(two))
    assert text.startswith("TM101 [unsafe] a tape\n")
    assert (
        f"  = unsafe fix: a tape; right if\n    - {assumptions[0]}\n    - {assumptions[1]}\n  = see"
    ) in text
    assert told in render("full", report(replace(one, fix=None)))


@pytest.mark.parametrize("start", [1, 500_000, 999_990])
def test_full_shows_a_piece_of_a_long_line(start: int) -> None:
    line = "x" * (start - 1) + "HERE" + "y" * (1_000_000 - start)
    each = Diagnostic("TM101", "m", "f.py", Position(1, start), Position(1, start + 4))
    text = render("full", Report((each,), {("f.py", None, 1): line}))
    shown, caret = text.splitlines()[3:5]
    assert len(shown) < 140
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "HERE"


def test_carets_stand_below_wide_characters() -> None:
    line = "名 = tf.gradients(y, x)"
    each = Diagnostic("TM101", "m", "f.py", Position(1, 5), Position(1, 23))
    shown, caret = render("full", Report((each,), {("f.py", None, 1): line})).splitlines()[3:5]
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
    (run,) = json.loads(render("sarif", report(FAILED)))["runs"]
    assert run["invocations"] == [{"executionSuccessful": False}]


def annotations(text: str) -> list[tuple[dict[str, str], str]]:
    """What the runner of GitHub's workflows reads: of each line the properties and the message."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::error ([^:]*)::(.*)", line)
        assert match is not None, line
        pairs = (pair.split("=", 1) for pair in match[1].split(","))
        properties = {name: unescaped(value, "%0D|%0A|%3A|%2C|%25") for name, value in pairs}
        found.append((properties, unescaped(match[2], "%0D|%0A|%25")))
    return found


def unescaped(text: str, codes: str) -> str:
    return re.sub(codes, lambda code: chr(int(code[0][1:], 16)), text)


def test_github() -> None:
    text = render("github", report(SAFE, FLAG))
    assert text.splitlines()[0] == (
        "::error title=tapemigrate (TM101),file=pkg/a%2C b%25.py,line=3,endLine=3,col=10,"
        "endColumn=32::pkg/a, b%25.py:3:10: TM101 [*] `tf.gradients` can be a tape"
    )
    (first, message), (second, _) = annotations(text)
    assert first == {
        "title": "tapemigrate (TM101)",
        "file": "pkg/a, b%.py",
        "line": "3",
        "endLine": "3",
        "col": "10",
        "endColumn": "32",
    }
    assert message == "pkg/a, b%.py:3:10: TM101 [*] `tf.gradients` can be a tape"
    # Columns are only taken for what stands on one line.
    assert second.keys() == {"title", "file", "line", "endLine"}
    assert second["endLine"] == "9"


def test_gitlab() -> None:
    first, second, third = json.loads(render("gitlab", report(SAFE, FLAG, SAFE)))
    assert first["location"]["path"] == "pkg/a, b%.py"
    assert first["location"]["positions"]["begin"] == {"line": 3, "column": 10}
    assert first["severity"] == "major"
    # GitLab drops what has the fingerprint of another.
    assert len({each["fingerprint"] for each in (first, second, third)}) == 3
    (failed,) = json.loads(render("gitlab", report(FAILED)))
    assert failed["severity"] == "critical"
    assert json.loads(render("gitlab", report())) == []


def read_junit(text: str) -> list[tuple[str, str, str | None]]:
    """What CI servers read: file, case and failure. Counts have to be right, and names unique."""
    top = XML.fromstring(text.encode())
    assert top.tag == "testsuites"
    cases = []
    total: Counter[str] = Counter()
    for suite in top:
        assert suite.tag == "testsuite"
        assert suite.get("name")
        for case in suite:
            assert case.tag == "testcase"
            assert float(case.get("time", "")) >= 0
            failure = case.find("failure")
            if failure is not None:
                assert failure.get("type")
                assert failure.text
            message = None if failure is None else failure.get("message")
            cases.append((case.get("classname", ""), case.get("name", ""), message))
        counts = {"tests": len(suite), "failures": len(suite.findall("testcase/failure"))}
        assert {name: int(suite.get(name, "")) for name in counts} == counts
        assert (suite.get("errors"), suite.get("skipped")) == ("0", "0")
        total.update(counts)
    assert {name: int(top.get(name, "")) for name in total} == total
    assert len({case[:2] for case in cases}) == len(cases)
    return cases


def test_junit() -> None:
    assert read_junit(render("junit", report(SAFE, FLAG))) == [
        ("pkg/a, b%.py", "TM101 in line 3, column 10", SAFE.message),
        ("pkg/z.py", "TM904 in line 7, column 1", "a value <&> with\nno call \ufffd[31m"),
    ]
    # Some readers take a report without any case for a failed upload.
    assert read_junit(render("junit", report())) == [("tapemigrate", "no findings", None)]


@pytest.mark.parametrize("output_format", ["json", "sarif", "gitlab"])
def test_the_schema(output_format: str) -> None:
    real = Path(__file__).parent / "schemas" / f"{output_format}.json"
    schema = json.loads(real.read_text(encoding="utf-8"))
    validator = jsonschema.Draft7Validator(schema)
    validator.check_schema(schema)
    for made in (report(), report(SAFE, FLAG, SAFE, FAILED), of_the_examples()):
        validator.validate(json.loads(render(output_format, made)))
    # And a validator that lets everything pass is none.
    spoilt = json.loads(render(output_format, report(SAFE)).replace(": 3,", ": 0,"))
    assert not validator.is_valid(spoilt)


def of_the_examples() -> Report:
    root = Path(__file__).parents[1]
    settings = Settings(unsafe_fixes=True)
    outcome = run([str(root / "examples")], lambda path: settings, mode="check", jobs=1, edits=True)
    lines = {
        (result.filename, *place): line
        for result in outcome.results
        for place, line in result.lines.items()
    }
    assert any(each.fix and each.fix.edits for each in outcome.diagnostics)
    return Report(outcome.diagnostics, lines, str(root))


def test_everybody_can_read_the_report_of_the_examples() -> None:
    found = of_the_examples()
    assert len(read_junit(render("junit", found))) == len(found.diagnostics)
    assert len(annotations(render("github", found))) == len(found.diagnostics)
    (run_,) = json.loads(render("sarif", found))["runs"]
    rules = run_["tool"]["driver"]["rules"]
    fingerprints_ = {result["partialFingerprints"]["tapemigrate/v1"] for result in run_["results"]}
    assert len(fingerprints_) == len(found.diagnostics)
    for result in run_["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.startswith("examples/")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_replacements_of_sarif_are_the_rewrite(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "local.py"
    before = LOCAL.replace("x", "ξ").replace("\n", newline)
    path.write_bytes(before.encode())
    outcomes = {
        mode: run([str(path)], lambda path: Settings(), mode=mode, jobs=1, edits=True)
        for mode in MODES
    }
    found = Report(outcomes["check"].diagnostics, {}, str(tmp_path))
    (result,) = json.loads(render("sarif", found))["runs"][0]["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    lines = Lines(before)
    after = before
    for each in reversed(change["replacements"]):
        region = each["deletedRegion"]
        start = lines.offset(region["startLine"], region["startColumn"] - 1)
        end = lines.offset(region["endLine"], region["endColumn"] - 1)
        after = after[:start] + each["insertedContent"]["text"] + after[end:]
    assert after.encode() == outcomes["fix"].results[0].new


def test_paths_are_those_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    for name, path in (("a.py", "inner/a.py"), ("../b.py", "b.py"), ("-", "-")):
        each = Diagnostic("TM101", "m", name, Position(1, 1), Position(1, 2))
        made = Report((each,), {}, str(tmp_path))
        (item,) = json.loads(render("json", made))
        assert item["filename"] == path
        assert json.loads(render("gitlab", made))[0]["location"]["path"] == path
        assert annotations(render("github", made))[0][0]["file"] == path


def test_fingerprints_survive_moved_lines_and_tell_equal_lines_apart() -> None:
    def at(row: int) -> Diagnostic:
        return Diagnostic("TM101", "m", "f.py", Position(row, 1), Position(row, 2))

    lines = {("f.py", None, row): "g = tf.gradients(y, x)" for row in (1, 2, 8, 9)}
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

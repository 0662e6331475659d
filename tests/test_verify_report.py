"""Verdicts in the formats of other programs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tapemigrate.model import Diagnostic, Position, Proof
from tapemigrate.reports import Report, render
from tapemigrate.verify import report
from tapemigrate.verify.calls import Line, Rewritten
from tapemigrate.verify.compare import Site
from tapemigrate.verify.job import Verdicts

CALL = Diagnostic("TM101", "raises", "model.py", Position(7, 12), Position(7, 30))
SITES = [
    Site("model.py", 7, "gradients_v2", "VERIFIED", 3, 1e-7),
    Site("model.py", 7, "gradients_v2", "REFUTED", 1, 0.5, "differs", "[1.0]", "[2.0]"),
    Site("model.py", 7, "gradients_v2", "UNVERIFIED", 0, 0.0, "it was not reached"),
]
SCHEMA = Path(__file__).parent / "schemas" / "sarif.json"


def verdicts(site: Site) -> Verdicts:
    return Verdicts([Line(site, Rewritten("model.py", 7, 7, "TM101", CALL))], [])


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.verdict)
def test_sarif_holds_the_verdict(site: Site) -> None:
    log = json.loads(report.sarif_text(verdicts(site)))
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(log)
    [result] = log["runs"][0]["results"]
    proof = result["properties"]["proof"]
    assert (proof["verdict"], proof["detail"]) == (site.verdict, site.detail)
    assert (proof["before"], proof["after"]) == (site.before, site.after)
    assert site.verdict in result["message"]["text"]
    # What is proved is no problem.
    assert (result.get("kind") == "pass") == (site.verdict == "VERIFIED")
    assert (result["level"] == "none") == (site.verdict == "VERIFIED")


def test_a_call_that_stays_is_not_among_them() -> None:
    log = json.loads(report.sarif_text(Verdicts([Line(SITES[0], None)], [])))
    assert log["runs"][0]["results"] == []


def test_json_and_sarif_of_a_diagnostic_hold_its_proof() -> None:
    proof = Proof("REFUTED", "differs", "x = [1.0]", "[1.0]", "[2.0]")
    told = Diagnostic("TM101", "raises", "model.py", Position(7, 12), Position(7, 30), proof=proof)
    wanted = {
        "verdict": "REFUTED",
        "detail": "differs",
        "inputs": "x = [1.0]",
        "before": "[1.0]",
        "after": "[2.0]",
    }
    [item] = json.loads(render("json", Report([told])))
    assert item["proof"] == wanted
    [result] = json.loads(render("sarif", Report([told])))["runs"][0]["results"]
    assert result["properties"]["proof"] == wanted
    assert result["level"] == "error"
    [plain] = json.loads(render("json", Report([CALL])))
    assert "proof" not in plain

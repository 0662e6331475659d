"""What the command reads beside a file: no less than makes its fixes unsafe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fixtures.catalogue import Fixture
from tapemigrate.cli import main
from tests.test_fixtures import FIXTURES, fix

OF_SEVERAL = [fixture for fixture in FIXTURES if len(fixture.texts) > 1]


@pytest.mark.parametrize("fixture", OF_SEVERAL, ids=lambda fixture: fixture.name)
def test_no_file_that_is_not_read_makes_a_fix_safe(
    fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in fixture.texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    told = ["check", "--no-cache", "--quiet", "--output-format", "json", "."]
    found = json.loads(CliRunner().invoke(main, told).stdout)
    by_command = {
        (each["filename"], each["location"]["row"], each["code"])
        for each in found
        if each["fix"] and each["fix"]["applicability"] == "safe"
    }
    together = {
        (each.filename, each.location.row, each.code)
        for each in fix(fixture.texts, unsafe=False).diagnostics
        if each.fix and each.fix.applicability == "safe"
    }
    assert by_command <= together

"""What the command reads beside a file: no less than its verdict needs."""

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
def test_the_command_calls_safe_what_all_files_together_do(
    fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in fixture.texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    told = ["check", "--no-cache", "--quiet", "--output-format", "json", "."]
    found = json.loads(CliRunner().invoke(main, told).stdout)
    by_command = sorted(
        (
            each["filename"],
            each["location"]["row"],
            each["location"]["column"],
            each["code"],
            (each["fix"] or {}).get("applicability") == "safe",
        )
        for each in found
    )
    together = sorted(
        (
            each.filename,
            each.location.row,
            each.location.column,
            each.code,
            each.fix is not None and each.fix.applicability == "safe",
        )
        for each in fix(fixture.texts, unsafe=False).diagnostics
    )
    assert by_command == together

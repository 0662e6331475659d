"""The examples on the rules' pages are what the tool really makes."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.rules import catalog
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

MADE = ["TM101", "TM102", "TM201", "TM202", "TM203", "TM204", "TM205", "TM206"]


@pytest.mark.parametrize("code", MADE)
def test_after_is_what_the_tool_makes_of_before(code: str) -> None:
    example = catalog.rule(code).example
    assert example is not None
    files = {"example.py": SourceFile("example.py", example.before)}
    result = analyse(files, Settings(unsafe_fixes=True), rewrite=True)
    assert result.rewritten == {"example.py": example.after}

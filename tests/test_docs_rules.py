"""The pages and the README's table are what the rules' data says today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def make_rules() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_have_not_drifted(make_rules: ModuleType) -> None:
    pages = make_rules.pages()
    assert {path.name for path in (ROOT / "docs" / "rules").iterdir()} == {
        path.name for path in pages
    }
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "run python docs/make_rules.py"


def test_table_in_the_readme_has_not_drifted(make_rules: ModuleType) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == make_rules.with_table(readme), "run python docs/make_rules.py"


def test_what_is_looked_up_has_not_drifted(make_rules: ModuleType) -> None:
    written = make_rules.TABLES.read_text(encoding="utf-8")
    assert written == make_rules.looked_up(), "run python docs/make_rules.py"


def test_a_readme_without_markers_is_an_error(make_rules: ModuleType) -> None:
    with pytest.raises(ValueError, match="lacks"):
        make_rules.with_table("# tapemigrate\n")

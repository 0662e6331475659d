"""The site of the documentation is made without a warning, and its pictures are up to date."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"),
            *("-d", tmp_path / "doctrees", DOCS, tmp_path / "site"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    for name in ("index", "ci", "api", "rules/TM101"):
        assert (tmp_path / "site" / f"{name}.html").is_file()
    # What the page of the API is made of comes from the code.
    api = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for name in ("tapemigrate.api.analyse", "tapemigrate.runner.write", "SettingsError"):
        assert f'id="{name}"' in api or name in api


def test_the_examples_of_the_api_have_types(tmp_path: Path) -> None:
    """As a program of somebody else sees them: the package says that it is typed."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for number, block in enumerate(blocks):
        (tmp_path / f"example_{number}.py").write_text(block, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(
        "from tapemigrate.settings import Settings\nSettings(select=3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", tmp_path],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(DOCS.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    *errors, summary = done.stdout.splitlines()
    assert summary.startswith("Found 1 error in 1 file"), done.stdout
    assert errors[0].startswith('wrong.py:2: error: Argument "select"')
    assert len(blocks) == 2
    assert (DOCS.parent / "tapemigrate" / "py.typed").is_file()


def test_pictures_have_not_drifted() -> None:
    spec = importlib.util.spec_from_file_location("make_pictures", DOCS / "make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    make_pictures = importlib.util.module_from_spec(spec)
    sys.modules["make_pictures"] = make_pictures  # dataclasses look for their module there
    spec.loader.exec_module(make_pictures)
    pictures = make_pictures.pictures()
    assert {path.name for path in (DOCS / "pictures").iterdir()} == set(pictures)
    for name, text in pictures.items():
        drawn = (DOCS / "pictures" / name).read_text(encoding="utf-8")
        assert drawn == text, "run python docs/make_pictures.py"

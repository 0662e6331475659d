"""The hooks, run by the real pre-commit when somebody commits to a real repository.

pre-commit installs this tree with pip, so that pip's index is the only thing that is needed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import CLEAN, FLAGGED, LOCAL

ROOT = Path(__file__).resolve().parents[1]
# What `pip install` of the tree needs, and the hooks.
PACKAGE = (
    "tapemigrate",
    "rules",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
)

CONFIGURATION = """\
repos:
  - repo: {hooks}
    rev: {revision}
    hooks:
      - id: tapemigrate-check
        args: [--output-format, concise]
      - id: tapemigrate-fix
        stages: [manual]
      - id: tapemigrate-check
        alias: with-baseline
        args: [--baseline, known.json]
        stages: [manual]
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="pre-commit needs git")


class Repository:
    """A folder under git, seen by nobody's settings but its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {
            **others,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PRE_COMMIT_HOME": str(home),
            **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
        }
        folder.mkdir(exist_ok=True)
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> str:
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout.strip()

    def pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "pre_commit", *arguments)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def commit(self, *paths: str) -> subprocess.CompletedProcess[str]:
        self.git("add", *paths)
        return self.run("git", "commit", "--message", "a")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with the hooks installed, of which the first commit is made."""
    base = tmp_path_factory.mktemp("pre-commit")
    (base / "hooks").mkdir()
    for name in PACKAGE:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, base / "hooks" / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, base / "hooks" / name)
    hooks = Repository(base / "hooks", base / "home")
    hooks.git("add", "--all")
    hooks.git("commit", "--quiet", "--message", "hooks")
    repository = Repository(base / "project", base / "home")
    (repository.folder / ".pre-commit-config.yaml").write_text(
        CONFIGURATION.format(hooks=hooks.folder, revision=hooks.git("rev-parse", "HEAD"))
    )
    (repository.folder / "pyproject.toml").write_text(
        "[tool.tapemigrate]\nextend-exclude = ['third_party/']\n"
    )
    installed = repository.pre_commit("install", "--install-hooks")
    assert installed.returncode == 0, installed.stdout
    first = repository.commit(".")
    assert first.returncode == 0, first.stdout
    return repository


def test_a_commit_that_adds_a_gradient_call_is_stopped_until_it_is_fixed(
    project: Repository,
) -> None:
    local = project.folder / "local.py"
    local.write_text(LOCAL)
    stopped = project.commit("local.py")
    assert stopped.returncode == 1
    assert "tapemigrate check" in stopped.stdout
    assert "local.py:7:12: TM101 [*] " in stopped.stdout
    assert local.read_text() == LOCAL
    fixed = project.pre_commit("run", "--hook-stage", "manual", "tapemigrate-fix", "--all-files")
    assert fixed.returncode == 1
    assert "files were modified by this hook" in fixed.stdout
    assert "tf.GradientTape()" in local.read_text()
    assert project.commit("local.py").returncode == 0
    again = project.pre_commit("run", "--hook-stage", "manual", "tapemigrate-fix", "--all-files")
    assert again.returncode == 0, again.stdout


def test_a_baseline_that_gets_shorter_has_to_be_committed(project: Repository) -> None:
    def check(path: str) -> subprocess.CompletedProcess[str]:
        stage = ("--hook-stage", "manual")
        return project.pre_commit("run", "with-baseline", *stage, "--files", path)

    legacy = project.folder / "legacy.py"
    legacy.write_text(FLAGGED)
    known = {"code": "TM904", "text": "differentiate = apply(tf.gradients)", "count": 1}
    baseline = project.folder / "known.json"
    baseline.write_text(json.dumps({"version": 1, "findings": {"legacy.py": [known]}}))
    project.git("add", "legacy.py", "known.json")
    assert check("legacy.py").returncode == 0
    legacy.write_text(CLEAN)
    project.git("add", "legacy.py")
    shorter = check("legacy.py")
    assert shorter.returncode == 1
    assert "files were modified by this hook" in shorter.stdout
    assert "known.json: 1 known before and mended since, taken out" in shorter.stdout
    project.git("add", "known.json")
    assert check("legacy.py").returncode == 0
    project.git("reset", "--quiet", "--hard")


def test_only_the_files_of_the_commit_are_looked_at(project: Repository) -> None:
    (project.folder / "flagged.py").write_text(FLAGGED)
    (project.folder / "clean.py").write_text(CLEAN)
    assert project.commit("clean.py").returncode == 0
    (project.folder / "flagged.py").unlink()


def test_excluded_files_stay_excluded(project: Repository) -> None:
    (project.folder / "third_party").mkdir()
    (project.folder / "third_party" / "a.py").write_text(FLAGGED)
    assert project.commit("third_party").returncode == 0


def test_a_commit_without_python_files_runs_nothing(project: Repository) -> None:
    (project.folder / "notes.md").write_text("tf.gradients\n")
    done = project.commit("notes.md")
    assert done.returncode == 0
    assert "Skipped" in done.stdout

"""What the README and the pages of docs/ say is so: their blocks are run, or made by the tool."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tapemigrate.api import analyse
from tapemigrate.rules import catalog
from tapemigrate.settings import Settings, load
from tapemigrate.source.decoding import SourceFile

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCES = re.compile(r"^```.*$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)(#[^)]*)?\)")

# Every block is a program of its own; one process for all of them, because TensorFlow takes long to
# start. What cannot be told is told on the last line.
_RUN_BLOCKS = """
import json, sys, traceback
failed = {}
for name, code in json.load(sys.stdin).items():
    try:
        exec(compile(code, name, "exec"), {"__name__": name})
    except Exception:
        failed[name] = traceback.format_exc()
print("\\n" + json.dumps(failed))
"""


def blocks(language: str) -> list[tuple[str, str]]:
    """The blocks of all pages in a language, by page and line."""
    return [
        (f"{page}:{text.count(chr(10), 0, block.start()) + 1}", block[2])
        for page, text in TEXTS.items()
        for block in _FENCE.finditer(text)
        if block[1] == language
    ]


def quick_start(readme: str) -> list[str]:
    section = readme.partition("\n## Quick start\n")[2].partition("\n## ")[0]
    return [block[2] for block in _FENCE.finditer(section) if block[1] == "sh"]


def test_quick_start_has_two_commands() -> None:
    first, second = quick_start(TEXTS["README.md"])
    assert "tapemigrate fix --diff --unsafe-fixes examples" in first
    assert second.rstrip().endswith("pytest -q -n 2")


@pytest.mark.skipif(os.name == "nt", reason="CI runs on POSIX")
def test_ci_runs_the_second_command(tmp_path: Path) -> None:
    first, second = quick_start(TEXTS["README.md"])
    readme = TEXTS["README.md"].replace(first, "echo first\n").replace(second, "echo second\n")
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "run"
    script.write_bytes((ROOT / ".ci" / "run").read_bytes())
    done = subprocess.run(["bash", script], capture_output=True, check=True)
    assert done.stdout == b"second\n"


@pytest.fixture(scope="module")
def make_output() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_output", ROOT / "docs" / "make_output.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES)
def test_output_has_not_drifted(page: str, make_output: ModuleType) -> None:
    assert make_output.filled(TEXTS[page]) == TEXTS[page], "run python docs/make_output.py"


@pytest.mark.parametrize(("place", "diff"), blocks("diff"))
def test_rewrite_is_what_the_tool_makes(place: str, diff: str) -> None:
    lines = diff.splitlines(keepends=True)
    before, after = (
        "".join(line[1:] or "\n" for line in lines if not line.startswith(sign)) for sign in "+-"
    )
    files = {"example.py": SourceFile("example.py", before)}
    result = analyse(files, Settings(unsafe_fixes=True), rewrite=True)
    assert result.rewritten == {"example.py": after}, place


def test_programs_run() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RUN_BLOCKS],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        input=json.dumps(dict(blocks("python"))),
        capture_output=True,
        text=True,
        check=True,
    )
    failed = json.loads(done.stdout.splitlines()[-1])
    assert not failed, "\n".join(failed.values())


@pytest.mark.parametrize(("place", "text"), blocks("toml"))
def test_settings_are_accepted(place: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    assert load(str(path), catalog.codes()) is not None, place


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for link in _LINK.finditer(path.read_text(encoding="utf-8")):
        assert (path.parent / link[1]).exists(), link[0]


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    """A directive in braces is no code, but an instruction to Sphinx."""
    kinds = {
        line.removeprefix("```").strip()
        for text in TEXTS.values()
        for line in _FENCES.findall(text)[::2]
    }
    directives = {kind for kind in kinds if kind.startswith("{")}
    assert kinds - directives == {"console", "diff", "python", "sh", "toml", "yaml"}


TRAIN = """\
import sys

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [2])
slope = tf.gradients(tf.reduce_sum(x ** 3), x)[0]
with tf.Session() as session:
    for step in range(int(sys.argv[sys.argv.index("--steps") + 1])):
        print(session.run(slope, {x: [1.0, step]}))
"""

# Whatever a user does first. What pip does, the tests of the hooks and of the action show.
_SHELL = """
tapemigrate() {
    status=0
    "$PYTHON" -m tapemigrate "$@" || status=$?
    echo "$status tapemigrate $*" >> "$LOG"
    return "$status"
}
python() { "$PYTHON" "$@"; }
pip() { test "$1" = install; }
"""


def test_commands_can_be_typed_as_they_stand(tmp_path: Path) -> None:
    """In a repository with the examples, a program to train, and the files that pages name."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples", project / "examples")
    (project / "train.py").write_text(TRAIN)
    (project / "path" / "to").mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "burgers.py", project / "path" / "to" / "file.py")
    log = tmp_path / "log"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init"], ["add", "."], ["commit", "--message", "a"]):
        subprocess.run([*git, *command], cwd=project, capture_output=True, check=True)
    environment = os.environ | {
        "PYTHON": sys.executable,
        "LOG": str(log),
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        # What a CI server says about its parallel jobs.
        "CI_NODE_INDEX": "1",
        "CI_NODE_TOTAL": "4",
    }
    first, second = quick_start(TEXTS["README.md"])
    scripts = [(place, text) for place, text in blocks("sh") if text not in (first, second)]
    scripts += [
        (place, line.removeprefix("- run: "))
        for place, text in blocks("yaml")
        for line in map(str.strip, text.splitlines())
        if line.startswith("- run: ")
    ]
    scripts += [
        (place, "\n".join(job["script"]))
        for place, text in blocks("yaml")
        for job in yaml.safe_load(text).values()
        if "script" in job
    ]
    for place, text in scripts:
        done = subprocess.run(
            ["bash", "-c", f"{_SHELL}\n{text}"],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Usage:" not in done.stderr, (place, done.stderr)
        assert done.returncode in (0, 1), (place, done.stdout, done.stderr)
    lines = log.read_text().splitlines()
    commands = sum(text.count("tapemigrate ") for _, text in scripts)
    assert len(lines) > commands / 2
    # 2 is for what the tool could not do.
    assert not [line for line in lines if not line.startswith(("0 ", "1 "))]


@pytest.mark.parametrize(("place", "text"), blocks("yaml"))
def test_configurations_are_those_of_the_servers(place: str, text: str, tmp_path: Path) -> None:
    data = yaml.safe_load(text)
    if "repos" in data:
        from pre_commit.clientlib import load_config

        path = tmp_path / ".pre-commit-config.yaml"
        path.write_text(text)
        (repository,) = load_config(str(path))["repos"]
        known = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in known}
    elif "jobs" in data:
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        for job in data["jobs"].values():
            assert {"runs-on", "steps"} <= job.keys()
            for step in job["steps"]:
                assert len(step.keys() & {"uses", "run"}) == 1
                if step.get("uses", "").startswith("tapemigrate/"):
                    assert step.get("with", {}).keys() <= action["inputs"].keys()
    else:
        (job,) = data.values()
        assert {"image", "script"} <= job.keys()


def test_pre_commit_hooks_are_commands() -> None:
    listed = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    hooks = {hook["id"]: hook["entry"].split()[:2] for hook in listed}
    assert hooks == {
        "tapemigrate-check": ["tapemigrate", "check"],
        "tapemigrate-fix": ["tapemigrate", "fix"],
    }
    for hook in hooks:
        assert hook in TEXTS["README.md"]


def test_the_sample_holds_each_kind_of_answer() -> None:
    """Safe, unsafe and none: the quick start shows all three."""
    kinds = set()
    for path in sorted((ROOT / "examples").glob("*.py")):
        files = {path.name: SourceFile(path.name, path.read_text(encoding="utf-8"))}
        result = analyse(files, Settings(), rewrite=False)
        kinds |= {each.fix.applicability if each.fix else "none" for each in result.diagnostics}
    assert kinds == {"safe", "unsafe", "none"}

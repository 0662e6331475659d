"""The GitHub Action: its shell steps, run as a runner would run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.programs import CLEAN, FLAGGED

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the steps are for bash")


class Runner:
    """What there is of GitHub's: inputs, outputs of steps, and the environment.

    Installing takes long, and is done once.
    """

    def __init__(self, folder: Path) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self._done: set[str] = set()

    def run(self, workspace: Path, **inputs: str) -> tuple[int, dict[str, str]]:
        """The status of the first step that fails, and the outputs of the steps before it."""
        values = {f"inputs.{name}": each["default"] for name, each in ACTION["inputs"].items()}
        values |= {f"inputs.{name}": text for name, text in inputs.items()}
        values["steps.python.outputs.python-path"] = sys.executable
        for step in ACTION["runs"]["steps"]:
            if "run" not in step or step.get("name") in self._done:
                continue
            output = self.temporary / "output"
            output.write_text("")
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=workspace,
                env={
                    **os.environ,
                    **{name: self._filled(text, values) for name, text in step["env"].items()},
                    "RUNNER_TEMP": str(self.temporary),
                    "GITHUB_ACTION_PATH": str(ROOT),
                    "GITHUB_OUTPUT": str(output),
                },
                check=False,
            )
            for line in output.read_text().splitlines():
                name, value = line.split("=", 1)
                values[f"steps.{step['id']}.outputs.{name}"] = value
            if done.returncode:
                break
            if step.get("name") == "Install tapemigrate":
                self._done.add(step["name"])
        prefix = "steps.check.outputs."
        outputs = {name: text for name, text in values.items() if name.startswith(prefix)}
        return done.returncode, {name[len(prefix) :]: text for name, text in outputs.items()}

    def _filled(self, text: str, values: dict[str, str]) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values[match[1]], text)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("runner"))


def results(outputs: dict[str, str]) -> list[str]:
    log = json.loads(Path(outputs["report"]).read_text())
    return [result["ruleId"] for result in log["runs"][0]["results"]]


def test_what_is_found_fails_and_is_handed_to_code_scanning(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "flagged.py").write_text(FLAGGED)
    (tmp_path / "clean.py").write_text(CLEAN)
    status, outputs = runner.run(tmp_path)
    assert (status, results(outputs)) == (1, ["TM904"])
    status, outputs = runner.run(tmp_path, paths="clean.py flagged.py", args="--select TM1,TM2")
    assert (status, results(outputs)) == (0, [])
    status, outputs = runner.run(tmp_path, paths="no.py")
    assert (status, results(outputs)) == (2, ["TM903"])


def test_a_wrong_option_leaves_no_report_to_upload(runner: Runner, tmp_path: Path) -> None:
    status, outputs = runner.run(tmp_path, args="--no-such-option")
    assert (status, "report" in outputs) == (2, False)


def test_the_report_is_uploaded_even_when_something_was_found() -> None:
    """So the check may not fail by itself: the last step does, after the upload."""
    steps = ACTION["runs"]["steps"]
    names = [step.get("name") for step in steps]
    assert names.index("Check") < names.index("Upload") < names.index("Result")
    upload = steps[names.index("Upload")]
    assert "inputs.upload == 'true'" in upload["if"]
    assert upload["with"]["sarif_file"] == "${{ steps.check.outputs.report }}"

"""What is known does not fail; what is new does; what was mended is not known any longer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tapemigrate.command import baseline
from tapemigrate.command.baseline import BaselineError, load
from tests.programs import BROKEN, CLEAN, FLAGGED, LOCAL, tapemigrate

CHECK = ("check", "--output-format", "concise")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "local.py").write_text(LOCAL)
    (tmp_path / "flagged.py").write_text(FLAGGED)
    done = tapemigrate(*CHECK, "--write-baseline", "known.json", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == (
        b"known.json: 2 written\nNothing new to migrate in 2 files; 2 known from the baseline.\n"
    )
    return tmp_path


def against(project: Path, *arguments: str, cwd: str = ".") -> tuple[int, list[str], list[str]]:
    """A check against the baseline: status, what it found, what it said beside."""
    file = os.path.relpath(project / "known.json", project / cwd)
    paths = arguments or (".",)
    done = tapemigrate(*CHECK, "--baseline", file, *paths, cwd=project / cwd)
    assert b"Traceback" not in done.stderr
    found = [line.split(": ")[0] for line in done.stdout.decode().splitlines()]
    return done.returncode, found, done.stderr.decode().splitlines()


def entries(project: Path) -> dict[str, list[tuple[str, str, int]]]:
    data = json.loads((project / "known.json").read_text())
    assert data.pop("version") == 1
    return {
        name: [(item["code"], item["text"], item["count"]) for item in items]
        for name, items in data.pop("findings").items()
    }


def test_the_file(project: Path) -> None:
    assert (project / "known.json").read_text() == (
        "{\n"
        '  "version": 1,\n'
        '  "findings": {\n'
        '    "flagged.py": [\n'
        '      {"code": "TM904", "text": "differentiate = apply(tf.gradients)", "count": 1}\n'
        "    ],\n"
        '    "pkg/local.py": [\n'
        '      {"code": "TM101", "text": "return tf.gradients(y, x)[0]", "count": 1}\n'
        "    ]\n"
        "  }\n"
        "}\n"
    )


def test_what_is_known_does_not_fail(project: Path) -> None:
    summary = ["Nothing new to migrate in 2 files; 2 known from the baseline."]
    assert against(project) == (0, [], summary)
    for output_format in ("json", "gitlab"):
        done = tapemigrate(
            "check", "--baseline", "known.json", "--output-format", output_format, ".", cwd=project
        )
        assert json.loads(done.stdout) == []


def test_what_is_new_fails(project: Path) -> None:
    with (project / "flagged.py").open("a") as file:
        file.write("other = apply(tf.hessians)\n")
    status, found, said = against(project)
    assert (status, found) == (1, ["flagged.py:4:15"])
    assert said[0].startswith("Found 1 new problem in 1 file; 1 needs a look; 2 known")


def test_one_more_of_the_same_is_new(project: Path) -> None:
    with (project / "flagged.py").open("a") as file:
        file.write("differentiate = apply(tf.gradients)\n")
    assert against(project)[:2] == (1, ["flagged.py:4:23"])


def test_moved_and_indented_lines_are_known(project: Path) -> None:
    text = (
        (project / "flagged.py").read_text().replace("differentiate", "if tf:\n    differentiate")
    )
    (project / "flagged.py").write_text("# new\n\n" + text)
    assert against(project)[0] == 0


def test_a_call_over_several_lines_is_known_by_all_of_them(project: Path) -> None:
    path = project / "flagged.py"
    path.write_text("import tensorflow as tf\n\na = tf.gradients(\n    b,\n    c,\n)\n")
    tapemigrate(*CHECK, "--write-baseline", "known.json", ".", cwd=project)
    path.write_text("import tensorflow as tf\na = tf.gradients(\n  b,\n  c,\n)\n")
    assert against(project)[0] == 0
    path.write_text("import tensorflow as tf\na = tf.gradients(\n  b,\n  d,\n)\n")
    assert against(project)[0] == 1


def test_the_same_line_in_another_file_is_new(project: Path) -> None:
    (project / "pkg" / "flagged.py").write_text(FLAGGED)
    assert against(project)[:2] == (1, ["pkg/flagged.py:3:23"])


@pytest.mark.parametrize("gone", ["mended", "without a gradient call", "deleted"])
def test_what_was_mended_shrinks_it(project: Path, gone: str) -> None:
    path = project / "pkg" / "local.py"
    if gone == "mended":
        assert tapemigrate("fix", "pkg", cwd=project).returncode == 0
    elif gone == "deleted":
        path.unlink()
    else:
        path.write_text(CLEAN)
    status, _, said = against(project)
    assert status == 0
    assert said[0] == "known.json: 1 known before and mended since, taken out"
    assert list(entries(project)) == ["flagged.py"]
    path.write_text(LOCAL)
    assert against(project)[:2] == (1, ["pkg/local.py:7:12"])


def test_fix_mends_what_is_known_as_well(project: Path) -> None:
    before = entries(project)
    shown = tapemigrate("fix", "--diff", "--baseline", "known.json", ".", cwd=project)
    assert shown.returncode == 1
    assert entries(project) == before
    done = tapemigrate("fix", "--baseline", "known.json", ".", cwd=project)
    assert done.returncode == 0
    assert done.stdout == b""
    assert "GradientTape" in (project / "pkg" / "local.py").read_text()
    assert list(entries(project)) == ["flagged.py"]
    with (project / "flagged.py").open("a") as file:
        file.write("other = apply(tf.hessians)\n")
    done = tapemigrate("fix", "--baseline", "known.json", ".", cwd=project)
    assert (done.returncode, done.stdout.count(b"TM904 ")) == (1, 1)


def test_it_does_not_shrink_by_what_was_not_looked_at(project: Path) -> None:
    before = entries(project)
    assert against(project, "flagged.py")[0] == 0
    assert entries(project) == before
    (project / "pkg" / "local.py").write_text(CLEAN)
    assert against(project, "flagged.py")[0] == 0
    assert against(project, "--select", "TM9", ".")[0] == 0
    assert entries(project) == before
    assert against(project, "pkg")[0] == 0
    assert list(entries(project)) == ["flagged.py"]


def test_it_does_not_shrink_while_something_is_new(project: Path) -> None:
    """A baseline that is used from the wrong folder knows nothing, and must not be emptied."""
    before = entries(project)
    (project / "pkg" / "pyproject.toml").write_text("")
    assert against(project, cwd="pkg")[:2] == (1, ["local.py:7:12"])
    assert entries(project) == before


def test_paths_are_those_of_the_project(project: Path) -> None:
    assert against(project, cwd="pkg")[0] == 0
    assert against(project, str(project))[0] == 0


def test_what_cannot_be_analysed_is_never_known(project: Path) -> None:
    (project / "broken.py").write_text(BROKEN)
    before = (project / "known.json").read_bytes()
    done = tapemigrate(*CHECK, "--write-baseline", "known.json", ".", cwd=project)
    assert done.returncode == 2
    assert done.stdout.startswith(b"broken.py:3:17: TM901")
    assert done.stderr.decode().splitlines()[-1] == (
        "tapemigrate: known.json: not written: a file could not be processed; mend it, or leave it "
        "out with extend-exclude"
    )
    assert against(project)[:2] == (2, ["broken.py:3:17"])
    assert (project / "known.json").read_bytes() == before


def test_a_baseline_is_not_overwritten_under_broken_settings(project: Path) -> None:
    before = (project / "known.json").read_bytes()
    (project / "pyproject.toml").write_text("[tool.tapemigrate]\nselect = 3\n")
    done = tapemigrate(*CHECK, "--write-baseline", "known.json", ".", cwd=project)
    assert done.returncode == 2
    assert b"pyproject.toml:1:1: TM903 select must be a list of strings" in done.stdout
    assert (project / "known.json").read_bytes() == before


def test_standard_input(project: Path) -> None:
    arguments = ("--baseline", "known.json", "-", "--stdin-filename")
    for name, status in (("flagged.py", 0), ("other.py", 1)):
        done = tapemigrate(*CHECK, *arguments, name, cwd=project, stdin=FLAGGED.encode())
        assert done.returncode == status


def test_odd_texts_are_kept(project: Path) -> None:
    text = "import tensorflow as tf\nd = a(tf.gradients)  # é\udcff " + "x" * 500 + "\n"
    (project / "flagged.py").write_bytes(text.replace("\udcff", "\u2028").encode())
    tapemigrate(*CHECK, "--write-baseline", "known.json", ".", cwd=project)
    assert against(project)[0] == 0
    assert len(entries(project)["flagged.py"][0][1]) < 200


VALID = '{"version": 1, "findings": {}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "does not exist; --write-baseline makes it"),
        ("", "is no baseline: it is not valid JSON: "),
        (VALID[:-1], "is no baseline: it is not valid JSON: "),
        ("\xff", "is no baseline: it is not valid JSON: "),
        ("[" * 100_000, "is no baseline: it is not valid JSON: "),
        ("[]", "is no baseline; --write-baseline makes one"),
        ("{}", "is no baseline; --write-baseline makes one"),
        ('{"version": "1"}', "is no baseline; --write-baseline makes one"),
        ('{"version": true}', "is no baseline; --write-baseline makes one"),
        (VALID.replace("1", "2"), "is a baseline of version 2, and this program reads version 1"),
        ('{"version": 1}', "is a damaged baseline"),
        (VALID.replace("{}", "[]"), "is a damaged baseline"),
        (VALID.replace("{}", '{"a": 1}'), "is a damaged baseline"),
        (VALID.replace("{}", '{"a": [1]}'), "is a damaged baseline"),
        (VALID.replace("{}", '{"a": [{"code": "TM101", "text": "a"}]}'), "is a damaged baseline"),
        (
            VALID.replace("{}", '{"a": [{"code": "TM101", "text": "a", "count": "1"}]}'),
            "is a damaged baseline",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, text: str | None, message: str
) -> None:
    (tmp_path / "a.py").write_text(LOCAL)
    if text is not None:
        (tmp_path / "known.json").write_bytes(text.encode("latin-1"))
    done = tapemigrate("check", "--baseline", "known.json", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"tapemigrate: known.json: {message}")
    if text is not None:
        assert (tmp_path / "known.json").read_bytes() == text.encode("latin-1")


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be read: "):
        load(str(tmp_path), str(tmp_path))


def test_the_two_options_exclude_each_other(tmp_path: Path) -> None:
    done = tapemigrate(
        "check", "--baseline", "a", "--write-baseline", "b", ".", cwd=tmp_path
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == b"tapemigrate: --baseline and --write-baseline exclude each other\n"


def test_a_baseline_that_cannot_be_written_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOCAL)
    done = tapemigrate(*CHECK, "--write-baseline", "no/known.json", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith(b"a.py:7:12: TM101")
    last = done.stderr.decode().splitlines()[-1]
    assert last == "tapemigrate: no/known.json: cannot be written: No such file or directory"


def test_a_baseline_that_cannot_be_made_shorter_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tapemigrate.runner import Outcome
    from tapemigrate.settings import Settings

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(baseline, "write_file", full)
    file = project / "known.json"
    before = file.read_text()
    (project / "flagged.py").unlink()
    known = load(str(file), str(project))
    outcome = Outcome([], [], [str(project / "pkg" / "local.py")])
    new, error = known.applied(outcome, [str(project)], lambda path: Settings(), shrink=True)
    assert new.diagnostics == []
    assert str(error) == f"{file}: cannot be written: No space left on device"
    assert file.read_text() == before

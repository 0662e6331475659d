"""The command line as scripts, editors and CI see it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tapemigrate as package
from tapemigrate.rules import catalog, pages
from tests.programs import BROKEN, CLEAN, FLAGGED, LOCAL, tapemigrate


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "local.py").write_text(LOCAL)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


def test_fix_rewrites_in_place_and_says_so(project: Path) -> None:
    done = tapemigrate("fix", ".", cwd=project)
    assert done.returncode == 0
    assert done.stdout == b""
    assert done.stderr.decode() == "Rewrote 1 call in 1 file.\n"
    assert "tf.GradientTape()" in (project / "local.py").read_text()
    again = tapemigrate("fix", ".", cwd=project)
    assert again.returncode == 0
    assert again.stderr.decode() == "Nothing to rewrite in 2 files.\n"


def test_fix_diff_writes_nothing(project: Path) -> None:
    done = tapemigrate("fix", "--diff", ".", cwd=project)
    assert done.returncode == 1
    assert (project / "local.py").read_text() == LOCAL
    lines = done.stdout.decode().splitlines()
    assert lines[:2] == ["--- local.py", "+++ local.py"]
    assert "-    return tf.gradients(y, x)[0]" in lines
    assert b"Would rewrite 1 call in 1 file." in done.stderr
    assert tapemigrate("fix", "--diff", "clean.py", cwd=project).returncode == 0


def test_check_reports_and_changes_nothing(project: Path) -> None:
    done = tapemigrate("check", "--output-format", "concise", ".", cwd=project)
    assert done.returncode == 1
    assert done.stdout.decode().startswith("local.py:7:12: TM101 [*] ")
    assert b"Found 1 problem in 1 file; 1 can be fixed" in done.stderr
    assert (project / "local.py").read_text() == LOCAL
    assert tapemigrate("check", "clean.py", cwd=project).returncode == 0


def test_what_is_left_is_told_where_it_is_now(project: Path) -> None:
    (project / "both.py").write_text(LOCAL + "\n\ndifferentiate = apply(tf.gradients)\n")
    done = tapemigrate("fix", "--output-format", "json", "both.py", cwd=project)
    assert done.returncode == 1
    (left,) = json.loads(done.stdout)
    rows = (project / "both.py").read_text().splitlines()
    assert rows[left["location"]["row"] - 1] == "differentiate = apply(tf.gradients)"
    assert b"Rewrote 1 call in 1 file; 1 needs a look:" in done.stderr


FOR_SOME = """\
import tensorflow as tf


def slope(u, x):
    return tf.gradients(u, x)


def loss(x):
    u = tf.sin(x) * x
    return slope(u, [x])


def report(results, x):
    return slope(results["u"], [x])
"""


def test_a_call_that_stays_for_some_callers_is_left(project: Path) -> None:
    (project / "helper.py").write_text(FOR_SOME)
    done = tapemigrate("fix", "--output-format", "json", "helper.py", cwd=project)
    text = (project / "helper.py").read_text()
    assert ("tape=None" in text, "else tf.gradients(" in text) == (True, True)
    (left,) = json.loads(done.stdout)
    assert text.splitlines()[left["location"]["row"] - 1].lstrip().startswith("else tf.gradients(")
    assert done.returncode == 1


def test_one_bad_file_does_not_stop_the_others(project: Path) -> None:
    (project / "broken.py").write_text(BROKEN)
    done = tapemigrate("fix", "no.py", ".", "--output-format", "concise", cwd=project)
    assert done.returncode == 2
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "no.py:1:1: TM903 does not exist"
    assert lines[1].startswith("broken.py:3:17: TM901 does not parse")
    assert b"2 files could not be processed" in done.stderr
    assert "GradientTape" in (project / "local.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "--sattistics", "."), "No such option"),
        (("chekc", "."), "No such command"),
        (("check",), "Missing argument 'PATH...'"),
        (("check", "--select", "TM110", "."), "unknown code 'TM110'; did you mean 'TM"),
        (("check", "--ignore", "X", "."), "unknown code 'X'"),
        (("check", "--output-format", "xml", "."), "'xml' is not one of 'full'"),
        (("check", "--jobs", "0", "."), "0 is not in the range"),
        (("check", "-", "."), "cannot be mixed"),
        (("check", "--stdin-filename", "a.py", "."), "--stdin-filename needs '-'"),
        (("check", "--add-noqa", "-"), "--add-noqa and '-' exclude each other"),
        (("check", "--add-noqa", "--baseline", "a", "."), "exclude each other"),
        (("check", "--shard", "3/2", "."), "--shard: '3/2' is not K/N with K from 1 to N"),
        (("check", "--shard", "1", "."), "--shard: '1' is not K/N, such as 1/4"),
        (("check", "--shard", "1/2", "-"), "--shard and '-' exclude each other"),
        (("check", "--shard", "1/2", "--write-baseline", "a", "."), "exclude each other"),
        (("check", "--output-file", "local.py", "."), "--output-file: local.py is a program"),
        (("check", "--write-baseline", "local.py", "."), "--write-baseline: local.py is a program"),
        (("explain", "TM000"), "unknown code 'TM000'"),
        (("why", "local.py"), "'local.py' is not FILE:LINE"),
        (("why", "local.py:x"), "'local.py:x' is not FILE:LINE"),
        (("why", "no.py:3"), "no.py:1:1: TM903 cannot be read"),
    ],
)
def test_a_wrong_use_is_told_in_one_line(
    project: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = tapemigrate(*arguments, cwd=project)
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("tapemigrate: ")
    assert message in line


def test_broken_settings_are_told_and_other_files_are_done(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "a.py").write_text(LOCAL)
    (inner / "pyproject.toml").write_text("[tool.tapemigrate]\nselct = ['TM1']\n")
    done = tapemigrate("fix", ".", "--output-format", "concise", cwd=project)
    assert done.returncode == 2
    (line,) = done.stdout.decode().splitlines()
    assert "pyproject.toml:1:1: TM903 unknown key 'selct'" in line
    assert "did you mean 'select'?" in line
    assert (inner / "a.py").read_text() == LOCAL
    assert "GradientTape" in (project / "local.py").read_text()


def test_settings_and_the_command_line_over_them(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        "[tool.tapemigrate]\nignore = ['TM101']\nextend-exclude = ['third/']\n"
    )
    (project / "third").mkdir()
    (project / "third" / "a.py").write_text(LOCAL)
    assert tapemigrate("check", ".", cwd=project).returncode == 0
    done = tapemigrate("check", ".", "--select", "tm1", "--output-format", "json", cwd=project)
    assert [each["filename"] for each in json.loads(done.stdout)] == ["local.py"]
    assert tapemigrate("fix", ".", cwd=project).returncode == 0
    assert (project / "local.py").read_text() == LOCAL


def test_excluded_files_that_are_named(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.tapemigrate]\nextend-exclude = ['third/']\n")
    (project / "third").mkdir()
    (project / "third" / "a.py").write_text(LOCAL)
    assert tapemigrate("check", "third/a.py", cwd=project).returncode == 1
    assert tapemigrate("check", "--force-exclude", "third/a.py", cwd=project).returncode == 0
    assert tapemigrate("check", "--force-exclude", "local.py", cwd=project).returncode == 1


def test_suppressions(project: Path) -> None:
    path = project / "local.py"
    path.write_text(LOCAL.replace("[0]\n", "[0]  # noqa: TM101\n"))
    assert tapemigrate("check", ".", cwd=project).returncode == 0
    path.write_text("x = 1  # noqa: TM101\n")
    done = tapemigrate("check", "--output-format", "concise", ".", cwd=project)
    assert done.returncode == 1
    assert b"local.py:1:8: TM910" in done.stdout
    assert tapemigrate("fix", ".", cwd=project).returncode == 0
    assert path.read_text() == "x = 1\n"


def test_add_noqa_silences_what_is_found(project: Path) -> None:
    (project / "flagged.py").write_text(FLAGGED.replace("\n", "\r\n"))
    (project / "broken.py").write_text(BROKEN)
    done = tapemigrate("check", "--add-noqa", "--output-format", "concise", ".", cwd=project)
    assert done.returncode == 2
    assert done.stdout.startswith(b"broken.py:3:17: TM901")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == b"Silenced 2 problems in 2 files; 1 file could not be processed.\n"
    assert "[0]  # noqa: TM101\n" in (project / "local.py").read_text()
    assert b"(tf.gradients)  # noqa: TM904\r\n" in (project / "flagged.py").read_bytes()
    assert (project / "broken.py").read_text() == BROKEN
    (project / "broken.py").unlink()
    assert tapemigrate("check", ".", cwd=project).returncode == 0
    again = tapemigrate("check", "--add-noqa", ".", cwd=project)
    assert (again.returncode, again.stderr) == (0, b"Nothing to silence in 3 files.\n")


def test_add_noqa_silences_over_several_lines(project: Path) -> None:
    call = "tf.gradients('''\n''' +   \\\n  y, x)[0]\n"
    (project / "local.py").write_text(LOCAL.replace("tf.gradients(y, x)[0]\n", call))
    assert tapemigrate("check", "--add-noqa", ".", cwd=project).returncode == 0
    assert (project / "local.py").read_text().endswith("  y, x)[0]  # noqa: TM101\n")
    assert tapemigrate("check", ".", cwd=project).returncode == 0
    # Not the first row, on which no comment can stand: that is what tools have to know.
    (project / "local.py").write_text(LOCAL.replace("tf.gradients(y, x)[0]\n", call))
    done = tapemigrate("check", "--output-format", "json", ".", cwd=project)
    (item,) = json.loads(done.stdout)
    assert (item["location"]["row"], item["noqa_row"]) == (7, 9)


def test_add_noqa_adds_no_comment_that_silences_nothing(project: Path) -> None:
    """Where a use of an alias is silenced, the alias stays, and is not reported."""
    path = project / "local.py"
    text = "import tensorflow as tf\n\ntfe = tf.contrib.eager\nw = tfe.Variable(2.0)\n"
    path.write_text(text)
    assert tapemigrate("check", "--add-noqa", ".", cwd=project).returncode == 0
    assert path.read_text() == text.replace("(2.0)", "(2.0)  # noqa: TM116")
    assert tapemigrate("check", ".", cwd=project).returncode == 0


def test_add_noqa_leaves_unused_suppressions_to_fix(project: Path) -> None:
    (project / "local.py").write_text(LOCAL.replace("[0]\n", "[0]  # noqa: TM102\n"))
    done = tapemigrate("check", "--add-noqa", ".", "--output-format", "concise", cwd=project)
    assert done.returncode == 1
    assert b"TM910" in done.stdout
    assert tapemigrate("fix", ".", cwd=project).returncode == 0
    assert "[0]  # noqa: TM101\n" in (project / "local.py").read_text()


def test_a_suppression_without_codes_in_a_file_without_calls(project: Path) -> None:
    path = project / "clean.py"
    path.write_text("x = 1  # tapemigrate: ignore\n")
    done = tapemigrate("check", "--output-format", "concise", "clean.py", cwd=project)
    assert done.stdout.startswith(b"clean.py:1:8: TM910")
    assert tapemigrate("fix", "clean.py", cwd=project).returncode == 0
    assert path.read_text() == "x = 1\n"


def test_gitignore(project: Path) -> None:
    (project / ".gitignore").write_text("local.py\n")
    assert tapemigrate("check", ".", cwd=project).returncode == 0
    assert tapemigrate("check", "--no-respect-gitignore", ".", cwd=project).returncode == 1
    assert tapemigrate("check", "local.py", cwd=project).returncode == 1


def test_standard_input(project: Path) -> None:
    source = LOCAL.replace("\n", "\r\n").encode()
    done = tapemigrate("fix", "-", "--stdin-filename", "a.py", cwd=project, stdin=source)
    assert done.returncode == 0
    assert b"GradientTape" in done.stdout
    assert done.stdout.count(b"\n") == done.stdout.count(b"\r\n")
    for text in (CLEAN, FLAGGED, BROKEN, "x = '\udcff'"):
        data = os.fsencode(text)
        done = tapemigrate("fix", "-", cwd=project, stdin=data)
        assert done.stdout == data
    done = tapemigrate(
        "check", "-", "--stdin-filename", "b.py", "--output-format", "json", cwd=project,
        stdin=BROKEN.encode(),
    )  # fmt: skip
    assert done.returncode == 2
    (item,) = json.loads(done.stdout)
    assert (item["filename"], item["code"]) == ("b.py", "TM901")
    done = tapemigrate("fix", "--diff", "-", cwd=project, stdin=LOCAL.encode())
    assert done.returncode == 1
    assert done.stdout.startswith(b"--- -\n")


def test_a_report_that_cannot_be_written_is_not_lost(project: Path) -> None:
    out = project / "report.json"
    arguments = ("check", ".", "--output-format", "json", "--output-file")
    assert tapemigrate(*arguments, out, cwd=project).returncode == 1
    assert len(json.loads(out.read_text())) == 1
    done = tapemigrate(*arguments, project / "no" / "report.json", cwd=project)
    assert done.returncode == 2
    assert len(json.loads(done.stdout)) == 1
    assert b"report.json: cannot be written: No such file or directory" in done.stderr


def test_statistics(project: Path) -> None:
    (project / "flagged.py").write_text(FLAGGED)
    done = tapemigrate("check", ".", "--statistics", "-q", cwd=project)
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert rows[0] == ["code", "total", "safe", "unsafe", "flag", "rule"]
    assert rows[1][:5] == ["TM101", "1", "1", "0", "0"]
    assert rows[2][:5] == ["TM904", "1", "0", "0", "1"]
    assert rows[3] == ["all", "2", "1", "0", "1"]
    assert done.stderr == b""
    done = tapemigrate("fix", ".", "--statistics", cwd=project)
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert rows[0] == ["code", "total", "fixed", "safe", "unsafe", "flag", "rule"]
    assert rows[1][:6] == ["TM101", "1", "1", "0", "0", "0"]


def test_statistics_name_what_could_not_be_processed(project: Path) -> None:
    (project / "old.py").write_text("import tensorflow as tf\ntf.gradients\nprint 'old'\n")
    done = tapemigrate("check", ".", "--statistics", cwd=project)
    assert done.returncode == 2
    assert b"old.py" not in done.stdout
    told, summary = done.stderr.decode().splitlines()
    assert told.startswith("old.py:3:1: TM902 is Python 2")
    assert summary.endswith("; 1 file could not be processed.")
    done = tapemigrate("check", ".", "--statistics", "-q", cwd=project)
    assert done.stderr.decode().splitlines() == [told]


def test_colors(project: Path) -> None:
    def escapes(*arguments: str, **environment: str) -> bool:
        return b"\x1b[" in tapemigrate("check", ".", *arguments, cwd=project, **environment).stdout

    assert not escapes()
    assert escapes("--color", "always")
    assert escapes("--color", "always", NO_COLOR="1")
    assert not escapes("--color", "never")
    assert not escapes("--color", "always", "--output-format", "concise")


def test_the_progress_bar_is_only_for_people(project: Path) -> None:
    assert b"Analysing" not in tapemigrate("check", ".", cwd=project).stderr


def test_no_python_files(tmp_path: Path) -> None:
    done = tapemigrate("check", ".", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"No Python files found.\n")


def test_verbose_tells_of_each_file(project: Path) -> None:
    done = tapemigrate("fix", ".", "--verbose", cwd=project)
    assert b"local.py: 1 mended, 0 left" in done.stderr


def test_explain_and_rules(tmp_path: Path) -> None:
    page = tapemigrate("explain", "tm101", cwd=tmp_path)
    assert page.returncode == 0
    assert page.stdout.decode() == pages.explain("TM101")
    listed = tapemigrate("rules", cwd=tmp_path).stdout.decode().splitlines()
    assert [line.split()[0] for line in listed] == list(catalog.codes())


def test_why(project: Path) -> None:
    done = tapemigrate("why", "local.py:7", cwd=project)
    assert done.returncode == 0
    assert done.stdout


def test_why_takes_a_place_as_reports_tell_it(project: Path) -> None:
    told = tapemigrate("why", "local.py:7", cwd=project).stdout
    assert tapemigrate("why", "local.py:7:12", cwd=project).stdout == told
    assert tapemigrate("why", "local.py:x", cwd=project).stderr == (
        b"tapemigrate: 'local.py:x' is not FILE:LINE\n"
    )


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        (".", ("app/ops/grads.py:5",)),
        (".", ("app/ops/grads.py:5", ".")),
        ("app", ("ops/grads.py:5",)),
        ("app", ("ops/grads.py:5", "..")),
        ("app", ("{root}/app/ops/grads.py:5", "..")),
        ("app/ops", ("grads.py:5", "{root}")),
    ],
)
def test_why_finds_callers_wherever_it_is_called(
    tmp_path: Path, folder: str, arguments: tuple[str, ...]
) -> None:
    ops = tmp_path / "app" / "ops"
    ops.mkdir(parents=True)
    for each in (ops, tmp_path / "app"):
        (each / "__init__.py").touch()
    (ops / "grads.py").write_text(
        "import tensorflow as tf\n\n\ndef grads(loss, x):\n    return tf.gradients(loss, x)[0]\n"
    )
    (tmp_path / "main.py").write_text(
        "import tensorflow as tf\nfrom app.ops.grads import grads\n\n"
        "x = tf.placeholder(tf.float32)\ny = x * x\nprint(grads(y, x))\n"
    )
    places = [each.format(root=tmp_path) for each in arguments]
    told = tapemigrate("why", *places, cwd=tmp_path / folder).stdout.decode()
    assert "main.py:6: line 5 has to run under the tape" in told
    assert "TM101    safe fix" in told


def test_why_looks_no_further_than_the_project(tmp_path: Path) -> None:
    test_why_finds_callers_wherever_it_is_called(tmp_path, ".", ("app/ops/grads.py:5",))
    (tmp_path / "app" / "pyproject.toml").touch()
    told = tapemigrate("why", "app/ops/grads.py:5", cwd=tmp_path).stdout.decode()
    assert "main.py" not in told
    assert "TM101    unsafe fix" in told


def test_a_file_named_beside_its_folder_is_known_to_its_callers(tmp_path: Path) -> None:
    test_why_finds_callers_wherever_it_is_called(tmp_path, ".", ("app/ops/grads.py:5",))
    done = tapemigrate(
        "check", "--output-format", "concise", "ops/grads.py", "..", cwd=tmp_path / "app"
    )
    assert done.stdout.startswith(b"../app/ops/grads.py:5:12: TM101 [*]")


def test_help_and_version(tmp_path: Path) -> None:
    assert tapemigrate("--version", cwd=tmp_path).stdout.decode() == (
        f"tapemigrate {package.__version__}\n"
    )
    shown = tapemigrate("--help", cwd=tmp_path)
    assert shown.returncode == 0
    for command in ("check", "explain", "fix", "rules", "why"):
        assert command in shown.stdout.decode()
        assert tapemigrate(command, "--help", cwd=tmp_path).returncode == 0
    bare = tapemigrate(cwd=tmp_path)
    assert bare.returncode == 2
    assert b"Usage:" in bare.stderr


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (("--version",), {"libcst", "rich", "tensorflow", "pathspec"}),
        (("check", "."), {"libcst", "rich", "tensorflow", "pathspec"}),
        (("fix", "clean.py"), {"libcst", "rich", "tensorflow", "tapemigrate.api"}),
    ],
)
def test_what_is_not_needed_is_not_imported(
    project: Path, arguments: tuple[str, ...], never: set[str]
) -> None:
    probe = (
        "import sys\n"
        "from tapemigrate.cli import main\n"
        "try:\n"
        f"    main({list(arguments)!r})\n"
        "finally:\n"
        f"    print(sorted({never!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=project,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        check=False,
    )
    assert done.stderr.decode().splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0),
        (["check", "clean.py"], 0),
        (["fix", "--diff", "local.py"], 1),
        (["verify", "--", "python", "train.py"], 2),
        (["verify", "--help"], 0),
        (["fix", "--verify", "local.py", "--", "python", "train.py"], 2),
    ],
)
def test_without_tensorflow(project: Path, arguments: list[str], status: int) -> None:
    """As ``pip install tapemigrate`` alone leaves it."""
    program = (
        "import sys\n"
        "sys.modules['numpy'] = sys.modules['tensorflow'] = None\n"
        "from tapemigrate.cli import main\n"
        f"main({arguments!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        check=False,
    )
    assert done.returncode == status
    if status == 2:
        assert done.stderr == (
            b"tapemigrate: this needs numpy; `pip install tensorflow` installs it\n"
        )
    else:
        assert b"Traceback" not in done.stderr


def test_the_result_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    for number in range(40):
        text = (LOCAL, FLAGGED, CLEAN, BROKEN)[number % 4]
        (tmp_path / f"f{number:02}.py").write_text(text)
    reports = {
        tapemigrate("check", ".", "--output-format", "json", "--jobs", jobs, cwd=tmp_path).stdout
        for jobs in ("1", "2", "5")
    }
    assert len(reports) == 1
    assert len(json.loads(reports.pop())) == 30


HELPER = """\
import tensorflow as tf


def slope(x, z):
    return tf.gradients(x * z, x)[0]
"""
CALLER = """\
import tensorflow as tf
from a_helper import slope


def main():
    x = tf.ones([2])
    return slope(x, tf.zeros([2])), tf.gradients(tf.exp(x), x)[0]
"""


def test_shards_together_tell_what_one_job_tells(tmp_path: Path) -> None:
    (tmp_path / "a_helper.py").write_text(HELPER)
    for number in range(12):
        text = (LOCAL, FLAGGED, CLEAN, BROKEN)[number % 4]
        (tmp_path / f"f{number:02}.py").write_text(text)
    (tmp_path / "z_caller.py").write_text(CALLER)
    whole = tapemigrate("check", "--output-format", "json", ".", cwd=tmp_path)
    parts = []
    seen = 0
    for number in range(1, 4):
        done = tapemigrate(
            "check", "--output-format", "json", "--shard", f"{number}/3", ".", cwd=tmp_path
        )
        parts.append(json.loads(done.stdout))
        note = done.stderr.decode().splitlines()[0]
        assert note.startswith(f"shard {number}/3: ")
        assert note.endswith(" of 14 files")
        seen += int(note.split()[2])
    assert seen == 14
    assert all(parts)

    def key(item: dict[str, object]) -> str:
        return json.dumps(item, sort_keys=True)

    together = [item for part in parts for item in part]
    assert sorted(together, key=key) == sorted(json.loads(whole.stdout), key=key)
    homes = [{item["filename"] for item in part} & {"a_helper.py", "z_caller.py"} for part in parts]
    assert {frozenset(home) for home in homes} == {
        frozenset(),
        frozenset({"a_helper.py", "z_caller.py"}),
    }


@pytest.mark.skipif(os.name != "posix", reason="signals work otherwise there")
def test_interrupted_every_file_is_whole(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"f{number:02}.py").write_text(LOCAL)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    texts = set()
    for wait in (0.15, 0.3, 0.5):
        with subprocess.Popen(
            [sys.executable, "-m", "tapemigrate", "fix", "."],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
        ) as process:
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=30)
        starting = (b"init_import_site", b"Could not import runpy")  # Python itself
        begun = not any(each in error for each in starting)
        assert process.returncode in (0, 130, -signal.SIGINT) or not begun
        if process.returncode == 130:
            assert error.lstrip(b"\n") == (
                b"tapemigrate: interrupted; every file is as it was or rewritten, none is half\n"
            )
        texts |= {path.read_text() for path in tmp_path.glob("*.py")}
    assert tapemigrate("fix", ".", cwd=tmp_path).returncode == 0
    assert len({path.read_text() for path in tmp_path.glob("*.py")} | texts | {LOCAL}) == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_output_that_cannot_be_written_is_told_in_one_line(project: Path) -> None:
    def shell(command: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["bash", "-c", f"{sys.executable} -m tapemigrate {command}"],
            cwd=project,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            check=False,
        )

    full = shell("check . > /dev/full")
    message = b"tapemigrate: standard output cannot be written: No space left on device\n"
    assert (full.returncode, full.stderr) == (2, message)
    assert shell("check . 2> /dev/full").returncode == 1
    closed = shell("check . >&-")
    assert (closed.returncode, closed.stderr.count(b"\n")) == (1, 1)
    assert shell("check . 2>&-").returncode == 1
    closed = shell("check - <&-")
    assert (closed.returncode, closed.stderr) == (2, b"tapemigrate: standard input is closed\n")
    file = shell("check --output-file /dev/full .")
    assert file.returncode == 2
    assert file.stdout.startswith(b"TM101")
    assert (project / "local.py").read_text() == LOCAL


@pytest.mark.skipif(os.name != "posix", reason="pipes work otherwise there")
def test_a_reader_that_goes_away_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(FLAGGED + "a = f(tf.gradients)\n" * 20_000)
    command = f"{sys.executable} -m tapemigrate check many.py | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        check=False,
    )
    assert b"Traceback" not in done.stderr


def completed(cwd: Path, *words: str) -> list[str]:
    """What a shell is told that the last of the words can become."""
    done = tapemigrate(
        cwd=cwd,
        _TAPEMIGRATE_COMPLETE="bash_complete",
        COMP_WORDS=" ".join(["tapemigrate", *words]),
        COMP_CWORD=str(len(words)),
    )
    assert done.stderr == b""
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(tmp_path: Path, shell: str) -> None:
    done = tapemigrate(cwd=tmp_path, _TAPEMIGRATE_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert b"_TAPEMIGRATE_COMPLETE" in done.stdout


def test_commands_options_paths_and_codes_are_completed(tmp_path: Path) -> None:
    assert completed(tmp_path, "ch") == ["plain,check"]
    assert completed(tmp_path, "check", "--out") == ["plain,--output-format", "plain,--output-file"]
    assert completed(tmp_path, "check", "--output-format", "sa") == ["plain,sarif"]
    assert completed(tmp_path, "check", "sr") == ["file,sr"]
    assert completed(tmp_path, "explain", "tm90") == [
        *("plain,TM901", "plain,TM902", "plain,TM903", "plain,TM904")
    ]
    assert completed(tmp_path, "fix", "--select", "TM101,TM91") == ["plain,TM101,TM910"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_takes_the_completion(tmp_path: Path) -> None:
    script = tapemigrate(cwd=tmp_path, _TAPEMIGRATE_COMPLETE="bash_source").stdout
    (tmp_path / "complete.sh").write_bytes(script)
    done = subprocess.run(
        ["bash", "-c", "source complete.sh && complete -p tapemigrate"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert b" -F _tapemigrate_completion tapemigrate" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="terminals are otherwise there")
@pytest.mark.parametrize(
    ("arguments", "no_color", "colors"),
    [
        ((), "", True),
        ((), "1", False),
        (("--color", "never"), "", False),
        (("--color", "always"), "1", True),
    ],
)
def test_colors_on_a_terminal(
    project: Path, arguments: tuple[str, ...], no_color: str, colors: bool
) -> None:
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tapemigrate", "check", *arguments, "."],
        cwd=project,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "NO_COLOR": no_color,
        },
    ) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # what Linux says when the other end is closed
            while data := os.read(ours, 4096):
                shown += data
        os.close(ours)
        assert process.wait() == 1
    assert b"TM101" in shown
    assert (b"\x1b[" in shown) is colors

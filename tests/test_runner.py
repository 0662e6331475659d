"""Many files: what belongs together is read together, and what breaks, breaks alone."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from libcst import Module

from tapemigrate import runner
from tapemigrate.codemods import structure
from tapemigrate.codemods.layout import Layout
from tapemigrate.model import Diagnostic
from tapemigrate.runner import FileResult, Outcome, run, run_text, write
from tapemigrate.running import landing
from tapemigrate.running.deep import call_with_room
from tapemigrate.running.tasks import Task
from tapemigrate.running.workers import Workers
from tapemigrate.settings import Settings
from tests.programs import BROKEN, CLEAN, FLAGGED, LOCAL

PLAIN = Settings()


def found(folder: Path, mode: runner.Mode = "check", jobs: int = 1) -> Outcome:
    return run([str(folder)], lambda path: PLAIN, mode=mode, jobs=jobs)


def test_files_that_cannot_matter_are_not_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(CLEAN)
    (tmp_path / "b.py").write_text("def broken(:\n")
    monkeypatch.setattr(runner, "analyse", None)
    outcome = found(tmp_path)
    assert (outcome.results, outcome.seen) == ([], 2)


def test_a_large_file_is_analysed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large.py").write_text(LOCAL + f"# {'x' * 200_000}\n")
    for number in range(3):
        (tmp_path / f"other_{number}.py").write_text(LOCAL)
    begun: list[str] = []
    analyse = runner.analyse

    def noted(task: Task) -> list[FileResult]:
        begun.append(os.path.basename(task.filename))
        return analyse(task)

    monkeypatch.setattr(runner, "analyse", noted)
    found(tmp_path)
    assert begun[0] == "large.py"
    assert len(begun) == 4


def test_a_name_that_hides_in_another_encoding_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(LOCAL.encode("utf-16"))
    assert [each.code for each in found(tmp_path).diagnostics] == ["TM903"]


HELPER = """\
import tensorflow as tf


def slope(y, x):
    return tf.gradients(y, x)[0]
"""
CALLER = """\
import tensorflow as tf
from helper import slope


def run(x):
    y = tf.square(x) * x
    return slope(y, x)
"""


def test_files_that_one_tape_ties_together_are_rewritten_together(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "other.py").write_text(CLEAN)
    outcome = found(tmp_path, "fix")
    assert {Path(r.filename).name for r in outcome.results if r.new} == {"caller.py", "helper.py"}
    assert write(outcome.results) == ([], [])
    assert "slope(y, x, tape=tape)" in (tmp_path / "caller.py").read_text()
    assert "def slope(y, x, tape):" in (tmp_path / "helper.py").read_text()
    assert found(tmp_path).diagnostics == []


def test_a_file_whose_settings_differ_is_not_tied(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER)
    outcome = run(
        [str(tmp_path)],
        lambda path: Settings(ignore=("TM204",)) if "caller" in path else PLAIN,
        mode="fix",
        jobs=1,
    )
    assert [r.new for r in outcome.results] == [None]
    assert "stands in a file that is not changed along" in outcome.diagnostics[0].message


def test_files_that_belong_together_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER)
    outcome = found(tmp_path, "fix")
    (tmp_path / "helper.py").write_text(HELPER + "# changed meanwhile\n")
    failures, _ = write(outcome.results)
    assert [Path(each.filename).name for each in failures] == ["helper.py", "caller.py"]
    assert (tmp_path / "caller.py").read_text() == CALLER


def test_libcst_parses_what_changes_once_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"caller.py": CALLER, "helper.py": HELPER, "local.py": LOCAL, "clean.py": CLEAN}
    texts["flagged.py"] = FLAGGED
    for name, text in texts.items():
        (tmp_path / name).write_text(text + f"\n\nNAME = {name!r}\n")
    parsed: list[str] = []
    real = structure.parse

    def counted(source: str, layout: Layout) -> Module:
        parsed.append(source)
        return real(source, layout)

    monkeypatch.setattr(structure, "parse", counted)
    outcome = found(tmp_path, "fix")
    assert [r.new is not None for r in outcome.results] == [True, False, True, True]
    # The one statement of each file that gets a tape; the helper changes in expressions alone.
    assert sorted(source.split("(")[0] for source in parsed) == ["def run", "def slope"]


def test_a_broken_file_does_not_stop_those_that_go_with_it(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER + "def broken(:\n")
    (tmp_path / "helper.py").write_text(HELPER)
    codes = {Path(d.filename).name: d.code for d in found(tmp_path, "fix").diagnostics}
    assert codes["caller.py"] == "TM901"
    assert codes["helper.py"] == "TM101"
    assert all(result.new is None for result in found(tmp_path, "fix").results)


def test_a_broken_file_leaves_the_others_together(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "old.py").write_text(CALLER + "print 'python 2'\n")
    outcome = found(tmp_path, "fix")
    new = {Path(r.filename).name: r.new or b"" for r in outcome.results}
    assert b"slope(y, x, tape=tape)" in new["caller.py"]
    assert b"def slope(y, x, tape=None):" in new["helper.py"]
    assert new["old.py"] == b""
    told = {Path(d.filename).name: d.code for d in outcome.diagnostics}
    # The old call stays in the helper for what may call it from the file that cannot be read.
    assert told == {"helper.py": "TM101", "old.py": "TM902"}


BASE = """\
import tensorflow as tf


class Learner:
    def step(self, x):
        return self.adapt_to(tf.square(x) * x, x)

    def adapt_to(self, y, x):
        raise NotImplementedError
"""
DERIVED = """\
import tensorflow as tf
from base import Learner


class Descent(Learner):
    def adapt_to(self, y, x):
        return tf.gradients(y, x)[0]
"""
NAMESAKE = """\
class Idle:
    def adapt_to(self, y, x):
        return x
"""


def test_files_with_methods_of_one_name_are_tied_where_a_call_may_mean_any(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "derived.py").write_text(DERIVED)
    (tmp_path / "idle.py").write_text(NAMESAKE)
    new = {Path(r.filename).name: r.new for r in found(tmp_path, "fix").results}
    assert b"x, tape=tape)" in (new["base.py"] or b"")
    assert b"def adapt_to(self, y, x, tape):" in (new["derived.py"] or b"")
    assert new.get("idle.py") is None  # ``self`` is no ``Idle``
    chosen = "def slope_of(learner, x):\n    return learner.adapt_to(x * x, x)\n"
    (tmp_path / "base.py").write_text(BASE + "\n\n" + chosen)
    assert [r.new for r in found(tmp_path, "fix").results if "derived" in r.filename] == [None]
    unsafe = run([str(tmp_path)], lambda path: Settings(unsafe_fixes=True), mode="fix", jobs=1)
    new = {Path(r.filename).name: r.new for r in unsafe.results}
    assert b"def adapt_to(self, y, x, tape=None):" in (new["idle.py"] or b"")


def test_a_fault_of_ours_in_one_file_is_told_and_the_others_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tapemigrate import api

    real = api.analyse

    def analyse(files: dict[str, object], *arguments: object, **options: object) -> object:
        if any(name.endswith("bad.py") for name in files):
            raise AssertionError("two\nlines")
        return real(files, *arguments, **options)

    (tmp_path / "bad.py").write_text(LOCAL)
    (tmp_path / "good.py").write_text(LOCAL)
    monkeypatch.setattr(api, "analyse", analyse)
    first, second = found(tmp_path).diagnostics
    assert first.code == "TM901"
    assert "AssertionError: two lines (a fault in tapemigrate)" in first.message
    assert second.code == "TM101"


def test_the_line_of_a_failure_is_shown(tmp_path: Path) -> None:
    result = run_text(BROKEN.encode(), "a.py", PLAIN, mode="check")
    assert result.lines == {(None, 3): "g = tf.gradients(y, x\n"}


def test_what_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(LOCAL)
    outcome = found(tmp_path, "fix")
    path.write_text("# mine\n")
    failures, _ = write(outcome.results)
    assert [each.diagnostics[0].message for each in failures] == [
        "was changed while it was being analysed; it stays as it is"
    ]
    assert path.read_text() == "# mine\n"


def test_a_disk_that_is_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(landing, "replace_file", full)
    failures, notes = write([FileResult(__file__, old=b"a", new=b"b")])
    (failure,) = failures
    (diagnostic,) = failure.diagnostics
    assert isinstance(diagnostic, Diagnostic)
    assert diagnostic.message == "cannot be written: No space left on device"
    assert not notes


def _deadly(task: int) -> int:
    if task == 7:
        os._exit(11)
    return task * task


def test_a_task_that_takes_its_process_down_is_alone_in_it() -> None:
    tasks = list(range(40))
    with Workers(2, len(tasks)) as workers:
        expected = [None if task == 7 else task * task for task in tasks]
        assert list(workers.map(_deadly, tasks)) == expected
        # The processes are there again for what comes next.
        assert list(workers.map(_deadly, tasks[10:])) == expected[10:]


def test_a_process_that_ends_while_tasks_are_still_handed_out() -> None:
    def handed_out() -> Iterator[int]:
        yield 7
        time.sleep(1)  # until the pool knows
        yield from range(8, 40)

    with Workers(2, 40) as workers:
        found = workers.map(_deadly, _Slow(handed_out))
        assert list(found) == [None, *(task * task for task in range(8, 40))]


class _Slow(list[int]):
    """Tasks that come one by one."""

    def __init__(self, tasks: Callable[[], Iterator[int]]) -> None:
        super().__init__(range(33))
        self._tasks = tasks

    def __iter__(self) -> Iterator[int]:
        return self._tasks()


def test_room_for_recursion() -> None:
    def depth(levels: int) -> int:
        return 0 if levels == 0 else 1 + depth(levels - 1)

    limit = sys.getrecursionlimit()
    assert call_with_room(lambda: depth(20_000)) == 20_000
    assert sys.getrecursionlimit() == limit
    with pytest.raises(ZeroDivisionError):
        call_with_room(lambda: 1 // 0)

"""Files that are rewritten together with others, and in which nothing is to be found by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.running import gathering
from tapemigrate.running.cache import Cache, open_cache
from tapemigrate.running.gathering import with_others
from tapemigrate.running.tasks import Task
from tapemigrate.running.workers import Workers
from tapemigrate.settings import Settings

PLAIN = Settings()
MODEL = """\
import tensorflow as tf


class Model:
    def slope(self, y, x):
        return tf.gradients(y, x)[0]
"""
CALLER = """\
import tensorflow as tf


def run(model, x):
    y = tf.square(x) * x
    return model.slope(y, x)
"""
NAMESAKE = "class Other:\n    def slope(self, y, x):\n        return y - x\n"
BROKEN = NAMESAKE + "    def more(:\n"


def made(folder: Path, texts: dict[str, str]) -> list[str]:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in texts]


def task_of(paths: list[str], main: str) -> Task:
    tasks = [Task(main, PLAIN, "check", edits=False)]
    with Workers(1, 1) as workers:
        (found,), _ = with_others(tasks, paths, dict.fromkeys(paths, PLAIN), workers, {})
    return found


def test_what_goes_along_and_has_nothing_of_its_own_is_idle(tmp_path: Path) -> None:
    texts = {"model.py": MODEL, "caller.py": CALLER, "namesake.py": NAMESAKE}
    model, *others = made(tmp_path, texts)
    task = task_of([model, *others], model)
    assert set(task.filenames) == {model, *others}
    assert set(task.idle) == set(others)


def test_what_is_written_for_type_checkers_is_read_with_nothing(tmp_path: Path) -> None:
    texts = {"model.py": MODEL, "caller.py": CALLER, "namesake.pyi": NAMESAKE, "caller.pyi": CALLER}
    model, caller, *stubs = made(tmp_path, texts)
    task = task_of([model, caller, *stubs], model)
    assert set(task.filenames) == {model, caller}
    assert not set(task.context) & set(stubs)


def test_what_does_not_parse_is_not_idle(tmp_path: Path) -> None:
    model, caller, broken = made(
        tmp_path, {"model.py": MODEL, "caller.py": CALLER, "broken.py": BROKEN}
    )
    task = task_of([model, caller, broken], model)
    assert broken in task.filenames
    assert task.idle == (caller,)


@pytest.mark.parametrize("other", [NAMESAKE, BROKEN, "x = 1\n"])
@pytest.mark.parametrize("mode", ["check", "preview"])
def test_idle_or_not_the_same_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str, mode: str
) -> None:
    folder = tmp_path / "project"
    made(folder, {"model.py": MODEL, "caller.py": CALLER, "other.py": other})
    used = Settings(unsafe_fixes=True)

    def found(cache: Cache | None) -> list[object]:
        outcome = run(
            [str(folder)],
            lambda path: used,
            mode="check" if mode == "check" else "preview",
            jobs=1,
            cache=cache,
        )
        return [(r.filename, r.diagnostics, r.mended, r.new) for r in outcome.results]

    lazily = found(None)
    assert lazily
    cache = open_cache(str(tmp_path / "cache"))
    assert [found(cache), found(cache)] == [lazily, lazily]
    real = gathering.replace
    monkeypatch.setattr(
        gathering,
        "replace",
        lambda each, **new: real(each, **{k: v for k, v in new.items() if k != "idle"}),
    )
    assert found(None) == lazily


def test_a_broken_one_is_told_and_the_others_are_analysed(tmp_path: Path) -> None:
    made(tmp_path, {"model.py": MODEL, "caller.py": CALLER, "broken.py": BROKEN})
    outcome = run([str(tmp_path)], lambda path: PLAIN, mode="check", jobs=1)
    assert {(Path(d.filename).name, d.code) for d in outcome.diagnostics} == {
        ("broken.py", "TM901"),
        ("model.py", "TM101"),
    }

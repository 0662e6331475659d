"""A cache never changes a result: with and without, damaged, foreign, shared, out of space."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapemigrate import api, stored
from tapemigrate.api import Result
from tapemigrate.model import Diagnostic, Edit, Fix, Handed, Hidden, Links, Position
from tapemigrate.rules import kept_units
from tapemigrate.runner import FileResult, Outcome, run
from tapemigrate.running import analysing
from tapemigrate.running import cache as caching
from tapemigrate.running.cache import Cache, key_of, open_cache
from tapemigrate.running.tasks import Task
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode
from tests.programs import BROKEN, CLEAN, LOCAL, some_fixtures

REPOSITORY = Path(__file__).resolve().parent.parent
PLAIN = Settings()
HELPER = "import tensorflow as tf\n\n\ndef slope(y, x):\n    return tf.gradients(y, x)[0]\n"
CALLER = "from helper import slope\n\n\ndef f(x):\n    y = x * x\n    return slope(y, x)\n"
USER = """\
import tensorflow as tf
from nets import Net

net = Net()


def slopes(x):
    return tf.gradients(net(x), tf.trainable_variables())
"""
OTHER = "from helper import slope\n\n\ndef g(x, y):\n    return slope(y, x)\n"


def found(
    folder: Path, cache: Cache | None, jobs: int = 1, edits: bool = False, used: Settings = PLAIN
) -> Outcome:
    return run([str(folder)], lambda path: used, mode="check", jobs=jobs, edits=edits, cache=cache)


def opened(folder: Path) -> Cache:
    cache = open_cache(str(folder))
    assert cache is not None
    return cache


def entries(cache: Cache) -> list[Path]:
    return sorted(path for path in Path(cache.folder).rglob("*") if path.is_file())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    texts = {"a.py": LOCAL, "broken.py": BROKEN, "clean.py": CLEAN, "helper.py": HELPER}
    for name, text in {**texts, "caller.py": CALLER}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def unanalysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are analysed rather than known."""
    names: list[str] = []
    real = analysing._analysed

    def analysed(data: object, files: object, task: Task) -> list[FileResult]:
        names.extend(os.path.basename(name) for name in task.filenames)
        return real(data, files, task)  # type: ignore[arg-type]

    monkeypatch.setattr(analysing, "_analysed", analysed)
    return names


def test_what_is_known_is_not_worked_out_again(
    project: Path, tmp_path: Path, unanalysed: list[str]
) -> None:
    cache = opened(tmp_path / "cache")
    first = found(project, cache)
    assert {"a.py", "helper.py", "caller.py"} <= set(unanalysed)
    unanalysed.clear()
    assert found(project, cache) == first
    assert "TM901" in [each.code for each in first.diagnostics]
    assert unanalysed == []


@pytest.mark.parametrize("name", ["page.py", "cells.ipynb"])
def test_what_breaks_off_in_its_first_place_is_known(
    project: Path, tmp_path: Path, unanalysed: list[str], name: str
) -> None:
    cells = [{"cell_type": "code", "source": text} for text in (")\n", LOCAL)]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    page = f"<!DOCTYPE html>\n{LOCAL}"
    (project / name).write_text(page if name.endswith(".py") else json.dumps(notebook))
    cache = opened(tmp_path / "cache")
    first = found(project, cache)
    places = [
        (os.path.basename(each.filename), each.location)
        for each in first.diagnostics
        if each.code == "TM901"
    ]
    assert (name, Position(1, 1)) in places
    assert name in unanalysed
    unanalysed.clear()
    assert found(project, cache) == first
    assert unanalysed == []


def test_what_goes_together_with_a_broken_file_is_known(
    project: Path, tmp_path: Path, unanalysed: list[str]
) -> None:
    (project / "caller.py").write_text(CALLER + "\nprint 'done'\n")
    (project / "another.py").write_text(CALLER)
    cache = opened(tmp_path / "cache")
    first = found(project, cache)
    assert unanalysed.count("helper.py") == 2  # together, and without what is broken
    unanalysed.clear()
    assert found(project, cache) == first
    assert unanalysed == []
    assert found(project, None) == first


def test_what_is_read_beside_an_empty_file_is_known(
    project: Path, tmp_path: Path, unanalysed: list[str]
) -> None:
    (project / "nets").mkdir()
    (project / "nets" / "__init__.py").touch()
    (project / "user.py").write_text(USER)
    cache = opened(tmp_path / "cache")
    first = found(project, cache)
    assert "user.py" in unanalysed
    unanalysed.clear()
    assert found(project, cache) == first
    assert unanalysed == []


def test_a_change_elsewhere_is_seen(project: Path, tmp_path: Path) -> None:
    cache = opened(tmp_path / "cache")
    before = found(project, cache)
    (project / "other.py").write_text(OTHER)
    after = found(project, cache)
    assert after == found(project, None)
    assert after.diagnostics != before.diagnostics
    (project / "other.py").unlink()
    assert found(project, cache) == before


@pytest.mark.parametrize(
    "used",
    [
        Settings(select=("TM9",)),
        Settings(unsafe_fixes=True),
        Settings(target="v1-graph"),
        Settings(aliases={"helper.slope": "tf.gradients"}),
    ],
    ids=str,
)
def test_settings_are_part_of_the_key(project: Path, tmp_path: Path, used: Settings) -> None:
    cache = opened(tmp_path / "cache")
    found(project, cache)
    assert found(project, cache, used=used) == found(project, None, used=used)


def test_edits_are_part_of_the_key(project: Path, tmp_path: Path) -> None:
    cache = opened(tmp_path / "cache")
    found(project, cache)
    for _ in range(2):
        with_edits = found(project, cache, edits=True)
        assert with_edits == found(project, None, edits=True)
    assert any(each.fix and each.fix.edits for each in with_edits.diagnostics)


def test_the_folder_is_part_of_the_key(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patterns in the settings mean what is below a folder; names may be relative to another."""
    cache = opened(tmp_path / "cache")
    twin = tmp_path / "twin"
    shutil.copytree(project, twin)
    used = Settings(root=str(project), per_file_ignores={"a.py": ("TM",)})
    for folder in (project, twin, project):
        monkeypatch.chdir(folder)
        assert found(Path("."), cache, used=used) == found(Path("."), None, used=used)


@pytest.mark.parametrize("edits", [False, True])
def test_fixtures_with_and_without_and_with_any_number_of_jobs(tmp_path: Path, edits: bool) -> None:
    folder = some_fixtures(tmp_path / "fixtures")
    cache = opened(tmp_path / "cache")
    expected = found(folder, None, edits=edits)
    assert len(expected.results) > 40
    for jobs in (2, 1, 4):
        assert found(folder, cache, jobs, edits) == expected
    assert found(folder, None, 4, edits) == expected


SETTER = """\
import tensorflow as tf


class Field:
    @property
    def points(self):
        return self._points

    @points.setter
    def points(self, points):
        self._points = points
        self.wave = tf.sin(points)
"""
SETTING = """\
import tensorflow as tf

from parts import Field


def slope(x):
    field = Field()
    field.points = x
    return tf.gradients(field.wave, x)[0]
"""
CALLING = """\
import tensorflow as tf

from setting import slope


def curve(x):
    return tf.gradients(slope(x), x)
"""


def test_what_a_file_means_beside_others_is_not_kept_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process keeps parsed files from task to task; here the other one has no ``parts.py``."""
    parts, file, caller = (
        decode(text.encode(), name)
        for name, text in {"parts.py": SETTER, "setting.py": SETTING, "b.py": CALLING}.items()
    )

    def analysed() -> Result:
        files, context = {"setting.py": file}, {"parts.py": parts}
        return api.analyse(files, PLAIN, rewrite=True, context=context)

    expected = analysed()
    assert "tape.watch(x)\n        field = Field()" in expected.rewritten["setting.py"]
    monkeypatch.setattr(kept_units, "_kept", kept_units._Kept())
    api.analyse({"b.py": caller}, PLAIN, rewrite=False, context={"setting.py": file})
    assert analysed() == expected


TEXTS = [LOCAL, BROKEN, CLEAN, HELPER, CALLER, OTHER, "", HELPER.replace("slope", "steep")]


@settings(max_examples=25)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["helper.py", "a.py", "caller.py", "sub/b.py"]),
            st.sampled_from([None, *TEXTS]),
            min_size=1,
        ),
        min_size=1,
        max_size=5,
    )
)
def test_random_edits_between_runs(
    tmp_path_factory: pytest.TempPathFactory, edits: list[dict[str, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    cache = opened(folder.parent / "one cache for all examples")
    (folder / "sub").mkdir()
    for changes in edits:
        for name, text in changes.items():
            if text is None:
                (folder / name).unlink(missing_ok=True)
            else:
                # The time of the last change says nothing.
                (folder / name).write_text(text)
                os.utime(folder / name, (1, 1))
        expected = found(folder, None)
        for _ in range(2):
            assert found(folder, cache) == expected


def test_damaged_entries_are_thrown_away(project: Path, tmp_path: Path) -> None:
    cache = opened(tmp_path / "cache")
    expected = found(project, cache)
    paths = entries(cache)
    good = {path: path.read_bytes() for path in paths}
    assert len(paths) > 4
    for damage in (
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data.replace(b"TM101", b"TM102").replace(b'"names"', b'"n"') + b" ",
        lambda data: os.urandom(len(data)),
        lambda data: data.partition(b"\n")[0] + b"\n[]",
        lambda data: data.partition(b"\n")[2],
    ):
        for path in paths:
            path.write_bytes(damage(good[path]))
        assert found(project, cache) == expected
        # They have been written anew.
        assert {path: path.read_bytes() for path in paths} == good


def test_an_entry_under_another_name_is_not_believed(project: Path, tmp_path: Path) -> None:
    cache = opened(tmp_path / "cache")
    expected = found(project, cache)
    paths = entries(cache)
    contents = [path.read_bytes() for path in paths]
    for path, data in zip(paths, [*contents[1:], contents[0]], strict=True):
        path.write_bytes(data)
    assert found(project, cache) == expected


def test_another_version_has_entries_of_its_own(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(tmp_path / "cache")
    expected = found(project, first)
    monkeypatch.setattr(caching, "stamp", lambda: "another")
    second = opened(tmp_path / "cache")
    assert second.folder != first.folder
    assert found(project, second) == expected
    assert {p.name for p in entries(second)} == {p.name for p in entries(first)}


def test_the_stamp_follows_the_program_and_its_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    files = list(caching._files(str(REPOSITORY / "tapemigrate")))
    assert any(name == "api.py" for name, _, _ in files)
    rules = list(caching._files(str(REPOSITORY / "rules")))
    assert any(name == "TM101.toml" for name, _, _ in rules)
    before = caching.stamp.__wrapped__()
    assert caching.stamp.__wrapped__() == before
    monkeypatch.setattr(caching, "_files", lambda top: [*files, ("new.py", 1, 1)])
    assert caching.stamp.__wrapped__() != before
    monkeypatch.undo()
    monkeypatch.setattr(sys, "version", "3.99")
    assert caching.stamp.__wrapped__() != before


def test_what_cannot_be_written_is_not_kept(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = opened(tmp_path / "cache")
    expected = found(project, None)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(caching.os, "replace", refuse)
        assert found(project, cache) == expected
    assert entries(cache) == []
    with monkeypatch.context() as patched:
        patched.setattr(caching.os, "makedirs", refuse)
        assert found(project, cache) == expected
    assert open_cache(str(project / "a.py")) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_may_not_be_written(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        assert found(project, opened(folder)) == found(project, None)
    finally:
        folder.chmod(0o700)


def test_failures_that_do_not_follow_from_the_text_are_not_kept(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = opened(tmp_path / "cache")

    def analysed(data: object, files: object, task: Task) -> list[FileResult]:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(analysing, "_analysed", analysed)
        assert "TM901" in [each.code for each in found(project, cache).diagnostics]
    assert found(project, cache) == found(project, None)


def check(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tapemigrate", "check", "--output-format", "json", *options, "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_command_line(project: Path) -> None:
    (project / "pyproject.toml").write_text("")
    expected = check(project, "--no-cache").communicate()
    assert not (project / caching.NAME).exists()
    # Two at once, in an empty cache.
    runs = [check(project), check(project)]
    assert [each.communicate() for each in runs] == [expected, expected]
    assert (project / caching.NAME / ".gitignore").read_text() == "*\n"
    assert check(project).communicate() == expected
    assert json.loads(expected[0])


def test_a_place_for_the_cache(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere" / "deep"
    process = check(project, "--cache-dir", str(place))
    process.communicate()
    assert process.returncode == 2  # a file that does not parse
    assert (place / "CACHEDIR.TAG").is_file()
    assert not (project / caching.NAME).exists()
    process = check(project, "--cache-dir", str(project / "a.py"))
    assert "is no folder" in process.communicate()[1]
    assert process.returncode == 2


def test_old_entries_go(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    for name in ("old", "new"):
        cache.put(key_of(name), [name])
    old = Path(cache._path(key_of("old")))
    long_ago = time.time() - 40 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    cache.sweep()
    assert (cache.get(key_of("old")), cache.get(key_of("new"))) == (None, ["new"])
    assert (tmp_path / ".gitignore").exists()
    # Not twice a day.
    cache.put(key_of("old"), ["old"])
    os.utime(old, (long_ago, long_ago))
    cache.sweep()
    assert old.exists()


places = st.builds(Position, st.integers(1, 99), st.integers(1, 99))
text = st.text(max_size=8)
diagnostics = st.builds(
    Diagnostic,
    *(text, text, text, places, places, text),
    fix=st.none()
    | st.builds(
        Fix,
        st.sampled_from(["safe", "unsafe", "display"]),
        text,
        st.lists(st.builds(Edit, text, places, places, text, st.none() | st.integers())).map(tuple),
    ),
    cell=st.none() | st.integers(1, 9),
    comment_row=st.none() | st.integers(1, 9),
    in_file=st.none() | st.tuples(places, places),
)
words = st.frozensets(text)
handed = st.frozensets(st.builds(Handed, text, words))


@given(diagnostics, st.builds(Links, words, handed, words), st.builds(Hidden, words, words))
def test_what_is_kept_comes_back_as_it_was(each: Diagnostic, links: Links, hidden: Hidden) -> None:
    plain = json.loads(json.dumps(stored.plain_diagnostic(each)))
    assert stored.diagnostic(plain) == each
    assert stored.links(json.loads(json.dumps(stored.plain_links(links)))) == links
    assert stored.hidden(json.loads(json.dumps(stored.plain_hidden(hidden)))) == hidden

"""What an earlier run saw in a file is believed only where the file is certainly the same."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapemigrate import runner
from tapemigrate.discovery import Discovery
from tapemigrate.runner import Outcome
from tapemigrate.running import choices, gathering, looking
from tapemigrate.running.cache import Cache, open_cache
from tapemigrate.running.looking import Looks
from tapemigrate.running.tasks import Task
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceError
from tests.programs import CLEAN, LOCAL

PLAIN = Settings()
HELPER = "import tensorflow as tf\n\n\ndef slope(y, x):\n    return tf.gradients(y, x)[0]\n"
CALLER = "from helper import slope\n\n\ndef f(x):\n    y = x * x\n    return slope(y, x)\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="times say too little there")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    texts = {"a.py": LOCAL, "clean.py": CLEAN, "helper.py": HELPER, "caller.py": CALLER}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    opened = open_cache(str(tmp_path / "cache"))
    assert opened is not None
    return opened


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """Times are as exact as those of the files here; and what was just written is older."""
    monkeypatch.setattr(looking, "_EXACT_NS", 0)
    time.sleep(0.05)


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read for a first look."""
    names: list[str] = []
    real = looking.read_with_status

    def read(path: str) -> tuple[bytes, os.stat_result]:
        names.append(os.path.basename(path))
        return real(path)

    monkeypatch.setattr(looking, "read_with_status", read)
    return names


@pytest.fixture
def unchosen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tasks there were each time that files were chosen for them."""
    counts: list[int] = []

    chosen = gathering.with_others

    def with_others(tasks: list[Task], *others: object) -> tuple[list[Task], bool]:
        counts.append(len(tasks))
        return chosen(tasks, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(gathering, "with_others", with_others)
    return counts


def found(folder: Path, cache: Cache | None, used: Settings = PLAIN) -> Outcome:
    return runner.run([str(folder)], lambda path: used, mode="check", jobs=1, cache=cache)


def looked(folder: Path, cache: Cache, used: Settings = PLAIN) -> dict[str, bool | SourceError]:
    looks = Looks(cache, [str(folder)], 1)
    paths = [each.path for each in Discovery(lambda path: used).walk([str(folder)])]
    told = looks.at(dict.fromkeys(paths, used))
    looks.keep()
    return {os.path.basename(path): each for path, each in told.items()}


@pytest.mark.usefixtures("exact")
def test_what_has_not_changed_is_not_read_again(
    project: Path, cache: Cache, unseen: list[str], unchosen: list[int]
) -> None:
    first = found(project, cache)
    assert (sorted(unseen), unchosen) == (["a.py", "caller.py", "clean.py", "helper.py"], [2])
    unseen.clear()
    assert found(project, cache) == first == found(project, None)
    assert unseen == ["a.py", "caller.py", "clean.py", "helper.py"]  # without a cache
    assert unchosen == [2, 2]


def _longer(path: Path) -> None:
    path.write_text(path.read_text() + "# more\n")


def _as_long(path: Path) -> None:
    path.write_text(path.read_text().replace("x * x", "x + x"))


def _with_old_times(path: Path) -> None:
    before = path.stat()
    _as_long(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _by_another(path: Path) -> None:
    before = path.stat()
    other = path.with_name("other")
    other.write_text(path.read_text().replace("x * x", "x - x"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def _by_a_link(path: Path) -> None:
    folder = path.parent.parent / "elsewhere"
    folder.mkdir()
    target = folder / path.name
    target.write_text(path.read_text().replace("x * x", "x - x"))
    before = path.stat()
    path.unlink()
    path.symlink_to(target)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("change", [_longer, _as_long, _with_old_times, _by_another, _by_a_link])
@pytest.mark.parametrize("name", ["caller.py", "clean.py", "helper.py"])
def test_every_change_is_seen(
    project: Path, cache: Cache, unseen: list[str], change: object, name: str
) -> None:
    assert callable(change)
    looked(project, cache)
    found(project, cache)
    unseen.clear()
    change(project / name)
    looked(project, cache)
    assert unseen == [name]
    assert found(project, cache) == found(project, None)


def test_a_file_that_was_just_written_is_read_the_next_time_as_well(
    project: Path, cache: Cache, unseen: list[str]
) -> None:
    old = time.time() - 60
    for _ in range(2):
        looked(project, cache)
    assert len(unseen) == 8
    # Its own time does not make it old: that of its last change does.
    os.utime(project / "a.py", (old, old))
    unseen.clear()
    for _ in range(2):
        looked(project, cache)
    assert unseen.count("a.py") == 2


@pytest.mark.usefixtures("exact")
def test_a_file_of_the_future_is_never_believed(
    project: Path, cache: Cache, unseen: list[str]
) -> None:
    coming = time.time() + 3600
    os.utime(project / "a.py", (coming, coming))
    time.sleep(0.05)
    for _ in range(3):
        looked(project, cache)
    assert unseen.count("a.py") == 3
    assert unseen.count("helper.py") == 1


@pytest.mark.usefixtures("exact")
def test_a_file_that_may_no_longer_be_read(
    project: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked(project, cache)
    (project / "a.py").chmod(0)
    if os.geteuid() == 0:  # who may read everything

        def read(path: str) -> tuple[bytes, os.stat_result]:
            raise SourceError("TM903", "cannot be read: Permission denied")

        monkeypatch.setattr(looking, "read_with_status", read)
    told = looked(project, cache)
    assert isinstance(told["a.py"], SourceError)
    assert told["helper.py"] is True


@pytest.mark.usefixtures("exact")
def test_another_one_looks_for_himself(
    project: Path, cache: Cache, unseen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked(project, cache)
    unseen.clear()
    monkeypatch.setattr(looking, "_user", lambda: 12345)
    looked(project, cache)
    assert len(unseen) == 4


@pytest.mark.usefixtures("exact")
def test_aliases_decide_what_may_matter(project: Path, cache: Cache) -> None:
    (project / "own.py").write_text("from ops import slope_of\n\nprint(slope_of(1, 2))\n")
    time.sleep(0.05)
    for aliases, expected in ({}, False), ({"ops.slope_of": "tensorflow.gradients"}, True):
        used = Settings(aliases=aliases)
        for _ in range(2):
            assert looked(project, cache, used)["own.py"] is expected


@pytest.mark.usefixtures("exact")
def test_what_was_kept_and_is_damaged_is_thrown_away(project: Path, cache: Cache) -> None:
    expected = found(project, cache)
    paths = sorted(path for path in Path(cache.folder).rglob("*") if path.is_file())
    good = {path: path.read_bytes() for path in paths}
    for damage in (
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"true", b"false").replace(b"helper", b"caller"),
        lambda data: os.urandom(len(data)),
    ):
        for path in paths:
            path.write_bytes(damage(good[path]))
        for _ in range(2):
            assert found(project, cache) == expected


@pytest.mark.usefixtures("exact")
def test_a_list_of_files_is_not_kept(project: Path, cache: Cache, unseen: list[str]) -> None:
    paths = [str(project / name) for name in ("caller.py", "helper.py")]
    for _ in range(2):
        runner.run(paths, lambda path: PLAIN, mode="check", jobs=1, cache=cache)
    assert len(unseen) == 4


@pytest.mark.usefixtures("exact")
def test_a_folder_that_becomes_a_package_changes_the_choice(
    project: Path, cache: Cache, unchosen: list[int]
) -> None:
    for _ in range(2):
        found(project, cache)
    assert unchosen == [2]
    (project / "__init__.py").touch()
    time.sleep(0.05)
    for _ in range(2):
        assert found(project, cache) == found(project, None)
    assert unchosen == [2, 2, 2, 2]


@pytest.mark.usefixtures("exact")
def test_settings_that_part_files_change_the_choice(
    project: Path, cache: Cache, unchosen: list[int]
) -> None:
    def run(cache: Cache | None, *, apart: bool) -> Outcome:
        other = Settings(ignore=("TM3",)) if apart else PLAIN
        used = {"caller.py": other}
        return runner.run(
            [str(project)],
            lambda path: used.get(os.path.basename(path), PLAIN),
            mode="check",
            jobs=1,
            cache=cache,
        )

    together, apart = run(None, apart=False), run(None, apart=True)
    assert together != apart
    unchosen.clear()
    for _ in range(2):
        assert run(cache, apart=False) == together
        assert run(cache, apart=True) == apart
    assert unchosen == [2, 2]


@pytest.mark.usefixtures("exact")
def test_a_choice_that_rests_on_what_got_lost_is_not_kept(
    project: Path, cache: Cache, unchosen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = found(project, None)

    def lost(*_: object) -> Iterator[object]:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr("tapemigrate.api.links", lost)
        assert found(project, cache) != expected
    unchosen.clear()
    assert found(project, cache) == expected
    assert unchosen == [2]


@pytest.mark.usefixtures("exact")
def test_a_choice_is_not_kept_for_files_that_change_meanwhile(
    project: Path, cache: Cache, unchosen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (project / "caller.py").read_text()
    real = choices._key

    def key(*parts: object) -> str:
        # After the first look, and before the words are looked for.
        (project / "caller.py").write_text("print('slope')\n")
        return real(*parts)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(choices, "_key", key)
        found(project, cache)
    (project / "caller.py").write_text(text)
    assert found(project, cache) == found(project, None)

"""Writes that leave the old file or the new one, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapemigrate.source import writing
from tapemigrate.source.writing import FileChangedError, relink, replace_file, write_file


def test_content_mode_and_nothing_left_beside(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o751)
    replace_file(str(path), b"new\r\n", expected=b"old")
    assert path.read_bytes() == b"new\r\n"
    assert path.stat().st_mode & 0o7777 == 0o751
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.skipif(os.name != "posix", reason="modes are otherwise there")
def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    before = os.umask(0o027)
    try:
        write_file(str(path), b"new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o7777 == 0o640
    write_file(str(path), b"newer")
    assert path.read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["new.json"]
    with pytest.raises(FileNotFoundError):
        write_file(str(tmp_path / "no" / "new.json"), b"new")


@pytest.mark.skipif(os.name != "posix", reason="devices are otherwise there")
def test_a_device_is_written_to_and_stays() -> None:
    write_file(os.devnull, b"new")
    assert not os.path.isfile(os.devnull)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.py"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(real)
    replace_file(str(link), b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert os.listdir(real.parent) == ["real.py"]


def test_two_names_of_one_file(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_bytes(b"old")
    os.link(a, b)
    replace_file(str(a), b"new")
    assert b.read_bytes() == b"old"
    relink(str(a), str(b))
    assert b.read_bytes() == b"new"
    assert a.stat().st_ino == b.stat().st_ino
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]


def test_what_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"somebody else's")
    with pytest.raises(FileChangedError):
        replace_file(str(path), b"new", expected=b"old")
    assert path.read_bytes() == b"somebody else's"


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(writing.os, step, fail)
    with pytest.raises(type(error)):
        replace_file(str(path), b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("whoever runs this may write anything")
    with pytest.raises(PermissionError):
        replace_file(str(path), b"new")
    assert path.read_bytes() == b"old"


_WRITER = """
import sys
from tapemigrate.source.writing import replace_file
path = sys.argv[1]
print("ready", flush=True)
while True:
    for letter in (b"a", b"b"):
        replace_file(path, letter * 200_000)
"""


@pytest.mark.skipif(os.name != "posix", reason="no kill -9 here")
def test_killed_at_any_moment_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"a" * 200_000)
    for wait in (0.0, 0.003, 0.007, 0.011, 0.02):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        assert path.read_bytes() in (b"a" * 200_000, b"b" * 200_000)

"""Which files a path stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tapemigrate.discovery import Discovery
from tapemigrate.settings import Resolver, Settings


def tree(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def found(
    folder: Path, *paths: str, settings: Settings | None = None, respect_gitignore: bool = True
) -> tuple[list[str], Discovery]:
    settings = settings or Settings(root=str(folder))
    discovery = Discovery(lambda path: settings, respect_gitignore=respect_gitignore)
    files = [
        each.path for each in discovery.walk(list(paths) or ["."]) if not each.left_out(settings)
    ]
    return files, discovery


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_sorted_and_nothing_foreign_or_hidden(tmp_path: Path) -> None:
    tree(
        tmp_path,
        *("b.py", "a.py", "stub.pyi", "notes.txt", "pkg/z.py", "pkg/sub/y.py", "a.pyc"),
        *(".hidden.py", ".git/x.py", ".venv/x.py", "node_modules/x.py", "lib/site-packages/x.py"),
        *("env/pyvenv.cfg", "env/x.py", "conda/conda-meta/history", "conda/x.py"),
    )
    files, discovery = found(tmp_path)
    assert files == ["a.py", "b.py", "stub.pyi", "pkg/z.py", "pkg/sub/y.py"]
    assert not discovery.problems
    assert not discovery.notes


def test_paths_keep_the_form_in_which_they_were_given(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    assert found(tmp_path, "./pkg/")[0] == ["pkg/a.py"]
    assert found(tmp_path, str(tmp_path / "pkg"))[0] == [str(tmp_path / "pkg" / "a.py")]
    assert found(tmp_path, "pkg/a.py", "pkg", "./pkg/a.py")[0] == ["pkg/a.py"]


def test_a_path_inside_another_is_named_as_what_is_found_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files know each other by the folders in their names."""
    tree(tmp_path, "pkg/sub/a.py", "pkg/b.py", "other/c.py")
    monkeypatch.chdir(tmp_path / "pkg")
    assert found(tmp_path, "sub/a.py", "..")[0][:2] == ["../pkg/sub/a.py", "../other/c.py"]
    here = str(tmp_path / "pkg")
    assert found(tmp_path, "sub", here)[0] == [f"{here}/sub/a.py", f"{here}/b.py"]
    assert found(tmp_path, f"{here}/b.py", ".")[0] == ["b.py", "sub/a.py"]
    assert found(tmp_path, "b.py", "../other")[0] == ["b.py", "../other/c.py"]
    (tmp_path / "pkg" / "link.py").symlink_to("b.py")
    assert found(tmp_path, "link.py", "..")[0][0] == "link.py"


def test_a_file_that_is_named_is_never_left_out(tmp_path: Path) -> None:
    tree(tmp_path, ".hidden/.a.py", "script")
    (tmp_path / ".gitignore").write_text("*\n")
    assert found(tmp_path, ".hidden/.a.py", "script")[0] == [".hidden/.a.py", "script"]
    assert found(tmp_path, ".hidden")[0] == []


def test_gitignore_as_git_has_it(tmp_path: Path) -> None:
    tree(
        tmp_path,
        *("a.py", "gen_a.py", "out/b.py", "pkg/gen_b.py", "pkg/keep/gen_c.py", "pkg/own.py"),
        "info.py",
    )
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("info.py\n")
    (tmp_path / ".gitignore").write_text("gen_*.py\n/out/\n")
    (tmp_path / "pkg" / ".gitignore").write_text("!gen_b.py\nown.py\n")
    assert found(tmp_path)[0] == ["a.py", "pkg/gen_b.py"]
    assert found(tmp_path, "pkg")[0] == ["pkg/gen_b.py"]
    assert len(found(tmp_path, respect_gitignore=False)[0]) == 7


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("*\n!*/\n!*.py\n", ["a.py", "out/c.py", "src/b.py", "src/deep/d.py"]),
        ("*\n!src\n!src/*.py\n", ["src/b.py"]),
        ("*\n!src/\n!src/*.py\n", ["src/b.py"]),
        ("src/**\n!src/b.py\n", ["a.py", "out/c.py", "src/b.py"]),
        # What is in a folder that stays is not kept with it, and the last line decides.
        ("*\n!src\n", []),
        ("!*/\nsrc\n", ["a.py", "out/c.py"]),
        ("*\n!*/\n!*.py\nout/\n", ["a.py", "src/b.py", "src/deep/d.py"]),
    ],
)
def test_gitignore_that_names_what_stays(tmp_path: Path, lines: str, expected: list[str]) -> None:
    tree(tmp_path, "a.py", "src/b.py", "out/c.py", "src/deep/d.py")
    (tmp_path / ".gitignore").write_text(lines)
    assert found(tmp_path)[0] == expected


@pytest.mark.parametrize("pattern", ["!", "[z-a]", "a\\"])
def test_a_line_that_is_no_pattern_does_not_turn_off_the_others(
    tmp_path: Path, pattern: str
) -> None:
    tree(tmp_path, "a.py", "b.py")
    (tmp_path / ".gitignore").write_text(f"a.py\n{pattern}\n")
    files, _ = found(tmp_path, str(tmp_path))
    assert files == [str(tmp_path / "b.py")]


def test_an_unreadable_gitignore_is_passed_over(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe")
    assert found(tmp_path)[0] == ["a.py"]


def test_extend_exclude(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "third/b.py", "pkg/x_pb2.py")
    settings = Settings(root=str(tmp_path), extend_exclude=("third/", "*_pb2.py"))
    assert found(tmp_path, settings=settings)[0] == ["a.py"]


def test_broken_settings_do_not_stop_the_walk(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    (tmp_path / "pkg" / "pyproject.toml").write_text("[tool.tapemigrate]\nx = 1\n")
    discovery = Discovery(Resolver(("TM101",)))
    assert [each.path for each in discovery.walk(["."])] == ["pkg/a.py"]


def test_links(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    tree(elsewhere, "real.py", "folder/inside.py")
    project = tmp_path / "project"
    tree(project, "z.py", "pkg/m.py")
    (project / "a_link.py").symlink_to("z.py")
    (project / "loop").symlink_to(".")
    (project / "pkg" / "up").symlink_to("..")
    (project / "out.py").symlink_to(elsewhere / "real.py")
    (project / "folder").symlink_to(elsewhere / "folder")
    (project / "dangling.py").symlink_to("nowhere.py")
    (project / "dangling").symlink_to("nowhere")
    (project / "round.py").symlink_to("round.py")
    files, discovery = found(tmp_path, "project")
    # A file comes once, under its own name if it lies in the tree.
    assert sorted(files) == [
        *("project/folder/inside.py", "project/out.py", "project/pkg/m.py", "project/z.py"),
    ]
    assert [(path, error.code, error.message) for path, error in discovery.problems] == [
        ("project/dangling.py", "TM903", "is a link to a file that does not exist"),
        ("project/round.py", "TM903", "cannot be read: Too many levels of symbolic links"),
    ]


def test_a_folder_named_like_a_file(tmp_path: Path) -> None:
    tree(tmp_path, "x.py/y.py")
    assert found(tmp_path)[0] == ["x.py/y.py"]
    assert found(tmp_path, "x.py")[0] == ["x.py/y.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_passed_over_and_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    tree(tmp_path, "a.py")
    (tmp_path / "link.py").symlink_to("pipe.py")
    files, discovery = found(tmp_path)
    assert files == ["a.py"]
    assert discovery.notes == [
        "pipe.py: passed over, not a regular file",
        "link.py: passed over, it leads to a pipe (FIFO)",
    ]
    files, discovery = found(tmp_path, "pipe.py")
    assert [error.message for _, error in discovery.problems] == ["is a pipe (FIFO), not a file"]


def test_what_is_not_there(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    files, discovery = found(tmp_path, "no.py", "a.py", "", "nul\0.py")
    assert files == ["a.py"]
    problems = [(path, error.message) for path, error in discovery.problems]
    assert problems[:2] == [("no.py", "does not exist"), ("", "does not exist")]
    # Python 3.13 has other words for it.
    assert problems[2][0] == "nul\0.py"
    assert problems[2][1].startswith("cannot be read: ")
    assert "embedded null" in problems[2][1]


def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    tree(tmp_path, "shut/a.py", "b.py")
    shut = tmp_path / "shut"
    shut.chmod(0)
    try:
        if os.access(shut, os.R_OK):
            pytest.skip("whoever runs this may read anything")
        files, discovery = found(tmp_path)
    finally:
        shut.chmod(0o755)
    assert files == ["b.py"]
    assert [path for path, _ in discovery.problems] == ["shut"]


def test_odd_names(tmp_path: Path) -> None:
    names = ["with blank.py", "line\nbreak.py", os.fsdecode(b"byte\xff.py"), "-.py", "é.py"]
    tree(tmp_path, *names)
    assert sorted(found(tmp_path)[0]) == sorted(names)

"""Copies of a folder to run programs in: whatever a program writes, the user's own files stay."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "venv",
    }
)
# Data of this size is read where it lies: copying it costs more than the run.
LINKED_FROM_BYTES = 32 * 1024 * 1024


def copy(source: Path, target: Path, changes: Mapping[Path, bytes]) -> None:
    """Makes ``target`` a copy of ``source`` in which the files ``changes`` hold other bytes.

    Large files become links to the original. Links that lead elsewhere keep leading there.
    """
    target.mkdir(parents=True)
    for folder, names, files in os.walk(source):
        names[:] = [name for name in names if name not in LEFT_OUT]
        here = Path(folder)
        there = target / here.relative_to(source)
        for name in names:
            if (here / name).is_symlink():
                _link(here / name, there / name)
            else:
                (there / name).mkdir()
        names[:] = [name for name in names if not (here / name).is_symlink()]
        for name in files:
            _copy_file(here / name, there / name, changes.get(here / name))


def double(source: Path, target: Path) -> None:
    """Makes ``target`` a copy of ``source``, a copy itself, whose programs compute in float64."""
    python = [path for path in source.rglob("*.py") if path.is_file()]
    texts = {path: path.read_bytes().replace(b"float32", b"float64") for path in python}
    copy(source, target, texts)


def _copy_file(source: Path, target: Path, changed: bytes | None) -> None:
    if changed is not None:
        target.write_bytes(changed)
        shutil.copymode(source, target)
    elif source.is_symlink():
        _link(source, target)
    elif source.is_file():
        if source.stat().st_size >= LINKED_FROM_BYTES:
            target.symlink_to(source.resolve())
        else:
            shutil.copy2(source, target)


def _link(source: Path, target: Path) -> None:
    target.symlink_to(source.resolve(), target_is_directory=source.is_dir())

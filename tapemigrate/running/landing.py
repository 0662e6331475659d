"""Writing what a run has changed: each file in one step, and those that belong together or none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from tapemigrate.results import FileResult, failure
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.writing import FileChangedError, relink, replace_file


def write(results: Iterable[FileResult]) -> tuple[list[FileResult], list[str]]:
    """Writes what changed.

    Args:
        results: Those of an outcome.

    Returns:
        A failure for every file that could not be written, and lines for the user.

    Each file is replaced in one step. Names that were hard links of each other still are. Of files
    that belong together all are written, or none.
    """
    failures: list[FileResult] = []
    written: dict[tuple[int, int], _Linked] = {}
    groups: dict[str, list[FileResult]] = {}
    for result in results:
        if result.new is not None:
            groups.setdefault(result.group or result.filename, []).append(result)
    for group in groups.values():
        done: list[FileResult] = []
        for result in group:
            message = _write_one(result, written)
            if message:
                failures.append(failure(result.filename, SourceError("TM903", message)))
                failures += _taken_back(done, written, result.filename)
                break
            done.append(result)
    notes = [
        f"{each.filename}: has other names (hard links), which keep the old text"
        for each in written.values()
        if each.names_left
    ]
    return failures, notes


def _write_one(result: FileResult, written: dict[tuple[int, int], _Linked]) -> str:
    """Why the file could not be written; nothing where it was."""
    assert result.new is not None
    try:
        status = os.stat(result.filename)
        identity = (status.st_dev, status.st_ino)
        linked = written.get(identity)
        if linked is not None and linked.data == result.new:
            relink(linked.filename, result.filename)
            linked.names_left -= 1
            return ""
        replace_file(result.filename, result.new, expected=result.old)
        written[identity] = _Linked(result.filename, result.new, status.st_nlink - 1)
    except FileChangedError:
        return "was changed while it was being analysed; it stays as it is"
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return ""


def _taken_back(
    done: list[FileResult], written: dict[tuple[int, int], _Linked], other: str
) -> list[FileResult]:
    """Gives files their old text back, because one that they belong together with failed."""
    failures = []
    for result in done:
        message = f"stays as it is, because its changes belong together with those of {other}"
        try:
            replace_file(result.filename, result.old, expected=result.new)
        except OSError as error:
            message = f"was written, and cannot be taken back: {error.strerror or error}"
        failures.append(failure(result.filename, SourceError("TM903", message)))
    names = {result.filename for result in done}
    for identity in [i for i, each in written.items() if each.filename in names]:
        del written[identity]
    return failures


@dataclass(slots=True)
class _Linked:
    """A file that was written, and how many more names its old inode has."""

    filename: str
    data: bytes
    names_left: int

"""Writes that leave either the old file or the new one, whole, whenever they are interrupted."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable


def replace_file(path: str, data: bytes, *, expected: bytes | None = None) -> None:
    """Makes ``data`` the content of the file at ``path``, in one step.

    The file keeps its mode, and its owner where the system allows it. Of a symbolic link, the file
    that it leads to is replaced and the link stays. A file with several hard links gets a new
    inode: the other names keep the old content (see ``relink``).

    Raises:
        OSError: when the file cannot be written; it is then as it was.
        FileChangedError: when it does not hold ``expected`` any longer.
    """
    real = os.path.realpath(path)
    before = os.stat(real)
    if not os.access(real, os.W_OK):
        raise PermissionError(13, "is read-only", path)
    if expected is not None:
        with open(real, "rb") as stream:
            if stream.read() != expected:
                raise FileChangedError(path)

    def fill(temporary: str) -> None:
        with open(temporary, "wb") as stream:
            stream.write(data)
            stream.flush()
            # The mode is set last: a file that nobody may write is not writable for us either.
            with contextlib.suppress(OSError, AttributeError):
                os.fchown(stream.fileno(), before.st_uid, before.st_gid)
            os.chmod(temporary, stat.S_IMODE(before.st_mode))
            os.fsync(stream.fileno())

    _swap(real, fill)


def write_file(path: str, data: bytes) -> None:
    """Makes ``data`` the content of the file at ``path``, in one step; the file may be a new one.

    Raises:
        OSError: when the file cannot be written; it is then as it was.
    """
    real = os.path.realpath(path)
    if os.path.isfile(real):
        replace_file(path, data)
        return
    if os.path.exists(real):  # a device, or a pipe, which is there to be written to
        with open(real, "wb") as stream:
            stream.write(data)
        return
    mask = os.umask(0o077)
    os.umask(mask)

    def fill(temporary: str) -> None:
        with open(temporary, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, 0o666 & ~mask)

    _swap(real, fill)


def relink(existing: str, path: str) -> None:
    """Makes ``path`` another hard link of ``existing``, in one step.

    Raises:
        OSError: when the file system refuses; ``path`` is then as it was.
    """

    def link(temporary: str) -> None:
        os.unlink(temporary)
        os.link(os.path.realpath(existing), temporary)

    _swap(os.path.realpath(path), link)


class FileChangedError(Exception):
    """The file is not as it was when it was analysed."""


def _swap(real: str, make: Callable[[str], None]) -> None:
    """``make`` fills a new file beside ``real``, which then takes its place."""
    import tempfile

    handle, temporary = tempfile.mkstemp(prefix=".tapemigrate-", dir=os.path.dirname(real))
    os.close(handle)
    try:
        make(temporary)
        os.replace(temporary, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise

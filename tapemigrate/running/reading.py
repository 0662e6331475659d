"""The bytes of files: reading them, and telling which may matter."""

from __future__ import annotations

import os
import stat

from tapemigrate.patterns import late
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceError, hides_ascii, is_notebook

#: A statement that imports TensorFlow, or of it.
IMPORTS_TENSORFLOW = late(rb"(?m)^[ \t]*(?:import|from)[ \t]+tensorflow\b")

# Patterns that begin with letters are looked for many times as fast as others, and those that begin
# with one rare letter even faster.
_OWN_CODE = late(rb"M(?<=TM)(?<!\wTM)[1-9][0-9]{2}\b")
_STAR = late(rb"import[\s\\]*\*")
_END_OF_STAR = late(rb"\*(?:(?<=import\*)|(?<=import[\s\\]\*)|(?<=[\s\\]{2}\*))")
_RUN = late(rb"%(?=run)")
# Names under which modules hand TensorFlow on: see ``tapemigrate.indirect``.
_HANDED_ON = rb"tf(?:2|1|v1|_v1|_compat_v1)?"
_TF_IMPORTED = late(rb"import\b[ \t]*(?:\([^)]*|(?:[ \t\w,.]|\\\s)*)\b" + _HANDED_ON + rb"\b")
_TF_BY_A_CALL = late(rb"import_tf\s*\(")
_TF_OF_A_MODULE = late(rb"tfe?\.(?:(?<=\w\.tf\.)|(?<=\w\.tfe\.))")
_WAYS = (_RUN, _TF_IMPORTED, _TF_BY_A_CALL, _TF_OF_A_MODULE)
# Gradient functions that a star import of one's own code brings, or an import of theirs.
_BARE = late(rb"(?:gradients|hessians)(?<![.\w\x80-\xff]gradients)(?<![.\w\x80-\xff]hessians)\b")
_BARE_IMPORTED = late(rb"import\b[ \t]*(?:\([^)]*|(?:[ \t\w,.]|\\\s)*)\b(?:gradients|hessians)\b")
_TF = late(rb"tf(?<![\w\x80-\xff]tf)(?:e|2|1|v1|_v1|_compat_v1)?(?![\w\x80-\xff])")


def read(path: str) -> bytes:
    """The bytes of a regular file, which may have become something else since it was found.

    Raises:
        SourceError: TM903.
    """
    return read_with_status(path)[0]


def read_with_status(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and what the system told of it before they were read.

    Raises:
        SourceError: TM903.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError("TM903", "is not a regular file")
            data = os.read(handle, status.st_size + 1)
            if len(data) != status.st_size:
                # It grows, is read piece by piece, or has no size, as files in /proc.
                pieces = [data]
                while pieces[-1]:
                    pieces.append(os.read(handle, 1 << 20))
                data = b"".join(pieces)
            return data, status
        finally:
            os.close(handle)
    except OSError as error:
        raise SourceError("TM903", f"cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise SourceError("TM903", "is too large to be read into memory") from None


def searchable(path: str, data: bytes) -> bytes:
    """The bytes of a file in a form in which words can be looked for."""
    if not is_notebook(path):
        return data
    from tapemigrate.source.notebooks import flattened

    return flattened(data)


def may_matter(path: str, settings: Settings) -> bool:
    """Whether there may be something to say of the file; if in doubt, there may.

    Raises:
        SourceError: TM903.
    """
    return tells_something(path, read(path), tuple(settings.aliases))


def tells_something(path: str, data: bytes, aliases: tuple[str, ...]) -> bool:
    """Whether there may be something to say of a file with these bytes.

    Raises:
        SourceError: TM903.
    """
    data = searchable(path, data)
    if aliases or _reaches_tensorflow(data):
        from tapemigrate.rules.catalog import prefilter

        if prefilter(aliases).search(data):
            return True
    if _has_from_own_code(data):
        return True
    if b"tapemigrate:" in data or _OWN_CODE.search(data) is not None:
        return True
    return hides_ascii(data)


def _has_from_own_code(data: bytes) -> bool:
    """Whether a gradient function may come of one's own code, under its name and no library's."""
    if b"gradients" not in data and b"hessians" not in data:
        return False
    if IMPORTS_TENSORFLOW.search(data) is not None or _BARE.search(data) is None:
        return False
    return _imports_all(data) or _BARE_IMPORTED.search(data) is not None


def _imports_all(data: bytes) -> bool:
    return _END_OF_STAR.search(data) is not None and _STAR.search(data) is not None


def _reaches_tensorflow(data: bytes) -> bool:
    """Whether a name may mean something of TensorFlow's, by an import of it or of one's own ``tf``.

    Most files fall at the first searches, which cost less than those for all the names.
    """
    if b"tensorflow" in data or b"contrib.eager" in data:
        return True
    if _TF.search(data) is None:
        return False
    # A script that a notebook runs gives it all of its names, too.
    if any(each.search(data) is not None for each in _WAYS):
        return True
    return _imports_all(data)

"""Bytes to text and back, as Python itself reads a source file.

The rules are those of PEP 263 and of CPython's tokenizer: a UTF-8 signature, or a coding comment
in the first two lines, or UTF-8. Text keeps its own newlines, so that ``encode`` gives back, byte
for byte, what ``decode`` was given.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapemigrate.patterns import late

if TYPE_CHECKING:
    from tapemigrate.source.notebooks import Notebook
    from tapemigrate.source.own_imports import Offered

_COOKIE = late(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = late(rb"[ \t\f]*(?:#[^\r\n]*)?\Z")
_NEWLINE = late(rb"\r\n|\r|\n")
_OTHER_SIGNATURES = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_ASCII = bytes(range(128))

#: The text of a file of which nothing is known. No text that begins so parses.
UNKNOWN = "\0"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file as text. ``bom`` says that a UTF-8 signature stood before the text.

    Of a ``notebook``, the text is that of its code cells. ``brought`` is what modules have
    of which it imports all names, or some under others, where their files are at hand.
    """

    filename: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    notebook: Notebook | None = None
    brought: tuple[tuple[str, Offered], ...] = ()


class SourceError(Exception):
    """Why a file cannot be analysed: a TM9xx code, one line, and the place (from one).

    ``cell`` is the notebook cell that the place is in.
    """

    def __init__(self, code: str, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.row = row
        self.column = column
        self.cell: int | None = None


def is_notebook(filename: str) -> bool:
    """Whether the file is a Jupyter notebook, by its name."""
    return filename.endswith(".ipynb")


def decode(data: bytes, filename: str) -> SourceFile:
    """The text of a source file.

    Raises:
        SourceError: TM903, when Python could not decode the file either, or when its encoding
            would not give the same bytes back.
    """
    if is_notebook(filename):
        return _decode_notebook(data, filename)
    bom = data.startswith(codecs.BOM_UTF8)
    if bom:
        data = data[len(codecs.BOM_UTF8) :]
    else:
        for signature, name in _OTHER_SIGNATURES:
            if data.startswith(signature):
                raise SourceError(
                    "TM903", f"is {name}, which Python does not read; save the file as UTF-8"
                )
    declared = _declared_encoding(data)
    encoding = _usual_name(declared[0]) if declared else "utf-8"
    row = declared[1] if declared else 1
    if bom and encoding != "utf-8":
        raise SourceError(
            "TM903",
            f"begins with a UTF-8 signature, but its coding comment says {encoding!r}",
            row,
        )
    try:
        text = data.decode(encoding)
    except LookupError:
        raise SourceError(
            "TM903", f"the coding comment names an unknown encoding, {encoding!r}", row
        ) from None
    except UnicodeDecodeError as error:
        raise _not_decodable(data, error, encoding, declared is not None) from None
    except UnicodeError as error:
        raise SourceError("TM903", f"cannot be decoded as {encoding}: {error}", row) from None
    if encoding != "utf-8" and not _round_trips(text, encoding, data):
        raise SourceError(
            "TM903",
            f"its bytes would change when written again as {encoding}; save it as UTF-8",
            row,
        )
    return SourceFile(filename, text, encoding, bom)


def encode(file: SourceFile, text: str) -> bytes:
    """``text`` as bytes in the encoding, and with the signature, of ``file``.

    Raises:
        SourceError: TM903, when the encoding has no bytes for one of the characters.
        TornError: when ``file`` is a notebook and ``text`` no rewrite that its cells can take.
    """
    if file.notebook is not None:
        text = file.notebook.written(text)
    try:
        data = text.encode(file.encoding)
    except UnicodeEncodeError as error:
        row = text.count("\n", 0, error.start) + 1
        column = error.start - text.rfind("\n", 0, error.start)
        character = text[error.start]
        raise SourceError(
            "TM903", f"{character!r} cannot be written in {file.encoding}", row, column
        ) from None
    return codecs.BOM_UTF8 + data if file.bom else data


def _decode_notebook(data: bytes, filename: str) -> SourceFile:
    from tapemigrate.source import notebooks

    bom = data.startswith(codecs.BOM_UTF8)
    for signature, name in _OTHER_SIGNATURES:
        if data.startswith(signature):
            raise SourceError("TM903", f"is {name}; a notebook has to be UTF-8")
    try:
        raw = data[len(codecs.BOM_UTF8) if bom else 0 :].decode()
    except UnicodeDecodeError as error:
        raise _not_decodable(data, error, "utf-8", True) from None
    notebook = notebooks.read(raw, filename)
    return SourceFile(filename, notebook.text, "utf-8", bom, notebook)


def hides_ascii(data: bytes) -> bool:
    """Whether names may stand in ``data`` as other bytes than their ASCII ones.

    Such a file cannot be passed over for want of a match; it has to be decoded first.
    """
    if b"\0" in data or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    head = data[:400]
    if b"coding" not in head or not (declared := _declared_encoding(data)):
        return False
    encoding = _usual_name(declared[0])
    if encoding == "utf-8":
        return False
    try:
        return _ASCII.decode(encoding) != _ASCII.decode("ascii")
    except LookupError:
        return False
    except UnicodeError:
        return True


def _declared_encoding(data: bytes) -> tuple[str, int] | None:
    """The encoding of the coding comment, with its row."""
    start = 0
    for row in (1, 2):
        newline = _NEWLINE.search(data, start)
        line = data[start : newline.start() if newline else len(data)]
        if match := _COOKIE.match(line):
            return match[1].decode("ascii", "replace"), row
        if newline is None or not _BLANK.match(line):
            return None
        start = newline.end()
    return None


def _usual_name(encoding: str) -> str:
    """CPython's own short list of aliases (``get_normal_name`` in its tokenizer)."""
    name = encoding[:12].lower().replace("_", "-")
    if name == "utf8" or name == "utf-8" or name.startswith("utf-8-"):
        return "utf-8"
    latin = ("latin-1", "iso-8859-1", "iso-latin-1")
    if name in latin or name.startswith(tuple(f"{each}-" for each in latin)):
        return "iso-8859-1"
    return encoding


def _round_trips(text: str, encoding: str, data: bytes) -> bool:
    try:
        return text.encode(encoding) == data
    except UnicodeError:
        return False


def _not_decodable(
    data: bytes, error: UnicodeDecodeError, encoding: str, declared: bool
) -> SourceError:
    before = data[: error.start]
    ends = [match.end() for match in _NEWLINE.finditer(before)]
    start = ends[-1] if ends else 0
    column = len(before[start:].decode(encoding, "replace")) + 1
    advice = "" if declared else "; give it a coding comment, or save it as UTF-8"
    return SourceError(
        "TM903",
        f"byte 0x{data[error.start]:02x} is not {encoding}{advice}",
        len(ends) + 1,
        column,
    )

"""What several formats need: paths as others expect them, and identities that last."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tapemigrate.model import Diagnostic, Position
from tapemigrate.reports import Report


def printable(text: str) -> str:
    """``text`` on one line: what a terminal could take for a command, or not print, is escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if 0xDC80 <= ord(char) <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def relative(filename: str, root: str) -> str:
    """``filename`` relative to the project's folder, with forward slashes, if it lies in there."""
    if filename == "-":  # standard input
        return filename
    path = os.path.abspath(filename)
    top = os.path.abspath(root)
    if path.startswith(os.path.join(top, "")):
        path = os.path.relpath(path, top)
    return path.replace(os.sep, "/")


def uri(filename: str, root: str) -> str:
    """``relative`` as a URI reference."""
    from urllib.parse import quote

    return quote(os.fsencode(relative(filename, root)))


def extent(each: Diagnostic) -> tuple[Position, Position]:
    """Where a diagnostic begins and ends in its file, as who shows the file counts.

    A notebook is shown as the JSON that it is.
    """
    if each.cell is None:
        return each.location, each.end_location
    return each.in_file or (Position(1, 1), Position(1, 1))


def in_cell(each: Diagnostic) -> str:
    """The place in the notebook, for the end of a sentence; empty outside notebooks."""
    return "" if each.cell is None else f" (cell {each.cell}, line {each.location.row})"


def fingerprints(report: Report) -> Iterator[tuple[Diagnostic, str]]:
    """Every diagnostic with an identity that stays when lines above it come or go."""
    import hashlib

    seen: dict[str, int] = {}
    for each in report.diagnostics:
        parts = (each.code, relative(each.filename, report.root), report.line(each).strip())
        key = "\0".join(parts)
        seen[key] = seen.get(key, 0) + 1
        text = f"{key}\0{seen[key]}"
        yield each, hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

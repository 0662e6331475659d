"""What is written to the standard streams: bytes, lines, differences, and a progress bar."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tapemigrate.results import FileResult

Stream = Literal["stdout", "stderr"]

# A run that is shorter needs no progress bar.
_PATIENCE_SECONDS = 1.0


class OutputError(Exception):
    """Why standard output does not take what is to be told."""


def is_terminal(stream: Stream) -> bool:
    """Whether a person reads it."""
    target = getattr(sys, stream)
    return target is not None and bool(target.isatty())


def emit_diff(result: FileResult, colors: bool) -> None:
    """Writes the difference that a rewrite makes, in the encoding of the file."""
    from tapemigrate.command.differences import texts, unified
    from tapemigrate.reports.common import printable
    from tapemigrate.source.decoding import decode, encode

    assert result.new is not None
    old, new = decode(result.old, result.filename), decode(result.new, result.filename)
    styles = {"+": "32", "-": "31", "@": "36"}
    lines = []
    for name, before, after in texts(old, new):
        for line in unified(before, after, printable(name)):
            style = styles.get(line[0]) if colors else None
            lines.append(f"\x1b[{style}m{line[:-1]}\x1b[0m\n" if style else line)
    plain = type(old)(old.filename, "", old.encoding)
    emit_bytes(encode(plain, "".join(lines)))


def emit(text: str, stream: Stream = "stdout") -> None:
    """Writes a text; what the stream's encoding cannot say comes escaped."""
    encoding = getattr(getattr(sys, stream), "encoding", None) or "utf-8"
    emit_bytes(text.encode(encoding, "backslashreplace"), stream)


def emit_bytes(data: bytes, stream: Stream = "stdout") -> None:
    """Writes bytes as they are.

    Raises:
        OutputError: when standard output does not take them.
        BrokenPipeError: when nobody reads them any longer.
    """
    target = sys.stderr if stream == "stderr" else sys.stdout
    if target is None:  # closed
        return
    try:
        target.buffer.write(data)
        target.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if stream == "stdout":
            raise OutputError(error.strerror or str(error)) from None


def discard_output() -> None:
    """Python must not try to write at its end what could not be written before."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(line: str) -> None:
    """Writes a line beside the report."""
    emit(line + "\n", "stderr")


class Bar:
    """A progress bar that appears when a run takes long. Does nothing unless ``shown``."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._start = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """Shows how many files are done, and of how many."""
        if not self._shown or time.monotonic() - self._start < _PATIENCE_SECONDS:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            self._bar = RichProgress(console=Console(stderr=True), transient=True)
            self._bar.add_task("Analysing", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done)

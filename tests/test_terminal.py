"""The standard streams: what they cannot say, and a bar for those who wait."""

from __future__ import annotations

import io
import sys

import pytest

from tapemigrate.command import terminal
from tapemigrate.command.terminal import Bar, OutputError, emit, is_terminal, say


class Stream(io.BytesIO):
    """Bytes, as a text stream has them below."""

    encoding = "ascii"

    @property
    def buffer(self) -> io.BytesIO:
        return self


def test_what_an_encoding_cannot_say_comes_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)
    emit("é → \x1b\n")
    assert stream.getvalue() == b"\\xe9 \\u2192 \x1b\n"


def test_a_stream_that_is_closed_takes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    emit("a\n")
    say("a")
    assert not is_terminal("stdout")


def test_a_stream_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(Stream):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", Full())
    with pytest.raises(OutputError, match="No space left"):
        emit("a\n")
    say("nobody could be told that this was lost")


@pytest.mark.parametrize("shown", [True, False])
def test_the_bar_appears_only_for_those_who_wait(
    shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # so that the bar takes this for a terminal
    with Bar(shown=shown) as bar:
        bar.advance(1, 3)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(terminal, "_PATIENCE_SECONDS", 0.0)
        bar.advance(2, 3)
    told = capsys.readouterr()
    assert ("Analysing" in told.err) is shown
    assert told.out == ""

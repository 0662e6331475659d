"""From bytes to text, from text to syntax trees, from tree positions to places in the text."""

from typing import TYPE_CHECKING

from tapemigrate.source.decoding import SourceError, SourceFile, decode, encode

if TYPE_CHECKING:
    from tapemigrate.source.parsing import parse
    from tapemigrate.source.positions import Lines

__all__ = ["Lines", "SourceError", "SourceFile", "decode", "encode", "parse"]


def __getattr__(name: str) -> object:
    """What needs more than bytes and text is loaded when it is asked for."""
    if name == "Lines":
        from tapemigrate.source.positions import Lines

        return Lines
    if name == "parse":
        from tapemigrate.source.parsing import parse

        return parse
    raise AttributeError(name)

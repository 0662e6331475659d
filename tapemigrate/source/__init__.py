"""From bytes to text, from text to syntax trees, from tree positions to places in the text."""

from tapemigrate.source.decoding import SourceError, SourceFile, decode, encode
from tapemigrate.source.parsing import parse
from tapemigrate.source.positions import Lines

__all__ = ["Lines", "SourceError", "SourceFile", "decode", "encode", "parse"]

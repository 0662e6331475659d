"""Jupyter notebooks: the code cells as one Python text, and a rewrite of it back into the JSON.

Nothing is dumped anew: only the ``source`` of a cell that changes is replaced in the JSON text, in
the form it has there (a list of lines or one string, its indentation, its way of escaping).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

from tapemigrate.model import Position
from tapemigrate.patterns import late
from tapemigrate.source import magics
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.magics import Reading
from tapemigrate.source.positions import Lines

_SPACE = late(r"[ \t\r\n]*")
_CHARACTER = late(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_NEWLINE = late(r"\r\n|\r|\n")
_ESCAPED = late(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_LINE_END = late(rb'\\n(?:"\s*,\s*")?')
# Pictures that cells have put out. In the text of a cell, the quotes would have backslashes; and
# what is that long, without a space, a dot or a parenthesis, names and calls nothing.
_PICTURE = late(rb'"image/\w+":\s*"[^"]*"')
_PICTURE_IN_TEXT = late(rb";base64,[A-Za-z0-9+/]{200,}")
# Rows in a message: "line 3", "lines 3 to 5", "rows 3-5"; not in what the message quotes.
_ROWS = late(r"`[^`]*`|\b(?P<word>lines?|rows?) (?P<rows>\d+(?:(?: to |-|, | and )\d+)*)")
_MARK = "_ipython_"


def flattened(data: bytes) -> bytes:
    """The bytes of a notebook with its source lines apart, no pictures, to look for words in."""
    shown = _PICTURE_IN_TEXT.sub(b"", _PICTURE.sub(b"", data))
    return _LINE_END.sub(b"\n", shown).replace(b'\\"', b'"')


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. ``number`` counts all cells, from one; ``start`` and ``end`` bound its source.

    ``tokens`` are the JSON strings that the source is made of: one, or one a line.
    """

    number: int
    text: str
    start: int
    end: int
    tokens: tuple[tuple[int, int], ...]
    reading: Reading


@dataclass(frozen=True, eq=False)
class Notebook:
    """The code cells of a notebook, in the order in which they are run."""

    raw: str
    cells: tuple[Cell, ...]
    mark: str

    @property
    def problems(self) -> list[tuple[int, SourceError]]:
        """The cells that could not be read, by number, and why."""
        found = [(cell.number, cell.reading.problem) for cell in self.cells]
        return [(number, problem) for number, problem in found if problem is not None]

    @property
    def foreign(self) -> frozenset[int]:
        """The cells that a magic takes for something else than Python of this notebook."""
        return frozenset(cell.number for cell in self.cells if cell.reading.foreign is not None)

    def takes_comment(self, number: int, row: int) -> bool:
        """Whether a comment can be added to a row of a cell: to one that is all a magic's, none."""
        cell = next(each for each in self.cells if each.number == number)
        for stand_in in cell.reading.stand_ins:
            before, _, _ = cell.reading.code.partition(stand_in.code)
            first = before.count("\n") + 1
            if stand_in.alone and first <= row <= first + stand_in.code.count("\n"):
                return False
        return True

    @property
    def has_magics(self) -> bool:
        """Whether a rewrite might tear a magic from what belongs to it."""
        return any(cell.reading.stand_ins for cell in self.cells)

    @cached_property
    def text(self) -> str:
        """All cells as one module; a comment line tells where each one begins."""
        return "".join(
            f"# %% {self.mark} {cell.number}\n{cell.reading.code}\n" for cell in self.cells
        )

    def split(self, text: str) -> list[str]:
        """The cells, as they are in a notebook, of ``text``, which is ``self.text`` or its rewrite.

        Raises:
            TornError: when a cell has lost its beginning, or a magic what belongs to it.
        """
        pieces = self._markers.split(text)
        numbers = [str(cell.number) for cell in self.cells]
        if pieces[0] or pieces[1::2] != numbers:
            raise magics.TornError("would part the beginning of a cell from the cell")
        codes = [piece.removesuffix("\n") for piece in pieces[2::2]]
        return [
            cell.text if code == cell.reading.code else magics.restored(cell.reading, code)
            for cell, code in zip(self.cells, codes, strict=True)
        ]

    def changes(self, text: str) -> Iterator[tuple[int, str, str]]:
        """The cells that ``text`` changes: number, old text, new text."""
        for cell, new in zip(self.cells, self.split(text), strict=True):
            if new != cell.text:
                yield cell.number, cell.text, new

    def written(self, text: str) -> str:
        """The JSON of the notebook with ``text`` for its cells."""
        out = []
        done = 0
        for cell, new in zip(self.cells, self.split(text), strict=True):
            if new != cell.text:
                out += [self.raw[done : cell.start], self._source(cell, new)]
                done = cell.end
        return "".join([*out, self.raw[done:]])

    # -- places --

    def cell_of(self, row: int) -> int:
        """The number of the cell in which ``row`` of ``text`` stands."""
        return self._at(row)[0].number

    def place(self, row: int, column: int) -> tuple[int, Position]:
        """The cell, and the place in it, of a place in ``text`` (both from one)."""
        cell, start = self._at(row)
        before = self._lines.row(row)[: column - 1]
        shown = magics.shown(cell.reading, before)
        # What is longer than the line stands behind its end.
        beyond = column - 1 - len(before)
        return cell.number, Position(row - start, len(cell.reading.indent + shown) + beyond + 1)

    def in_file(self, number: int, place: Position) -> Position:
        """Where in the JSON a place in a cell stands."""
        cell = next(each for each in self.cells if each.number == number)
        index = Lines(cell.text).offset(place.row, place.column - 1)
        offset = cell.start
        for start, end in cell.tokens:
            for match in _CHARACTER.finditer(self.raw, start + 1, end - 1):
                offset = match.start()
                if index == 0:
                    return self._row_and_column(offset)
                index -= 1
                offset = match.end()
        return self._row_and_column(offset)

    def in_words(self, message: str, number: int | None = None) -> str:
        """``message``, which speaks of rows of ``text``, with the cell's own rows.

        The cell is named unless it is ``number``.
        """
        for cell in self.cells:
            message = magics.shown(cell.reading, message)
        return _ROWS.sub(lambda match: self._rows_in_words(match, number), message)

    def row_of(self, number: int, row: int) -> int | None:
        """The row of ``text`` that is ``row`` of a cell; None where there is no such code cell."""
        for cell, start in zip(self.cells, self._starts, strict=True):
            if cell.number == number:
                return start + row
        return None

    def _rows_in_words(self, match: re.Match[str], number: int | None) -> str:
        if match["word"] is None:
            return match[0]
        places = [self.place(int(row), 1) for row in re.findall(r"\d+", match["rows"])]
        cells = {cell for cell, _ in places}
        if len(cells) > 1:
            between = iter(re.findall(r"\D+", match["rows"]))
            word = match["word"].removesuffix("s")
            told = [f"{word} {place.row} of cell {cell}" for cell, place in places]
            return told[0] + "".join(next(between) + each for each in told[1:])
        own = iter(str(place.row) for _, place in places)
        rows = re.sub(r"\d+", lambda _: next(own), match["rows"])
        (cell,) = cells
        return f"{match['word']} {rows}" + ("" if cell == number else f" of cell {cell}")

    def _at(self, row: int) -> tuple[Cell, int]:
        index = max(0, bisect_right(self._starts, row) - 1)
        return self.cells[index], self._starts[index]

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        """The rows of ``text`` on which the marker lines stand."""
        rows = []
        row = 1
        for cell in self.cells:
            rows.append(row)
            row += 2 + len(_NEWLINE.findall(cell.reading.code))
        return rows

    @cached_property
    def _markers(self) -> re.Pattern[str]:
        return re.compile(rf"^# %% {self.mark} (\d+)\n", re.MULTILINE)

    def _row_and_column(self, offset: int) -> Position:
        row = self.raw.count("\n", 0, offset) + 1
        return Position(row, offset - self.raw.rfind("\n", 0, offset))

    # -- writing --

    def _source(self, cell: Cell, new: str) -> str:
        """The JSON value of a changed source. Lines that were there are written as they were."""
        known: dict[str, str] = {}
        for start, end in cell.tokens:
            known.update(self._known(start, end))
        ascii_only = self._ascii_only(self.raw[cell.start : cell.end])
        lines = [
            known.get(line) or json.dumps(line, ensure_ascii=ascii_only)[1:-1]
            for line in new.splitlines(keepends=True)
        ]
        if self.raw[cell.start] == '"':
            return f'"{"".join(lines)}"'
        if not lines:
            return "[]"
        if not cell.tokens:
            head, between, tail = "", ", ", ""
        else:
            head = self.raw[cell.start + 1 : cell.tokens[0][0]]
            tail = self.raw[cell.tokens[-1][1] : cell.end - 1]
            between = "," + (head or " ")
            if len(cell.tokens) > 1:
                between = self.raw[cell.tokens[0][1] : cell.tokens[1][0]]
        return "[" + head + between.join(f'"{line}"' for line in lines) + tail + "]"

    def _known(self, start: int, end: int) -> Iterator[tuple[str, str]]:
        """The lines of a JSON string, each with the way in which it is written."""
        pieces = [match[0] for match in _CHARACTER.finditer(self.raw, start + 1, end - 1)]
        text: str = json.loads(self.raw[start:end])
        at = 0
        for line in text.splitlines(keepends=True):
            yield line, "".join(pieces[at : at + len(line)])
            at += len(line)

    def _ascii_only(self, source: str) -> bool:
        """Whether other characters than ASCII ones are escaped: here, or in the whole file."""
        for text in (source, self.raw):
            if not text.isascii():
                return False
            if _ESCAPED.search(text):
                return True
        return False


def read(raw: str, filename: str) -> Notebook:
    """The notebook whose JSON is ``raw``. It has no cells where its language is not Python.

    Raises:
        SourceError: TM901 for what is not JSON, TM902 for Python 2, TM903 for what is no notebook.
    """
    reader = _Reader(raw)
    try:
        found = reader.notebook()
    except json.JSONDecodeError as error:
        message = f"is not valid JSON: {error.msg}"
        raise SourceError("TM901", message, error.lineno, error.colno) from None
    except RecursionError:
        raise SourceError("TM901", "is nested too deeply to read") from None
    except ValueError as error:  # a number with too many digits
        raise SourceError("TM901", f"cannot be read: {error}") from None
    language, python2 = _language(reader.metadata)
    if language not in ("", "python", "ipython"):
        return Notebook(raw, (), _MARK)
    mark = _MARK
    while mark in raw:
        mark += "_"
    cells = []
    for number, source in found:
        text = "".join(json.loads(raw[start:end]) for start, end in source.tokens)
        # The number keeps the stand-ins of different cells apart.
        reading = magics.read(text, f"{mark}{number}_", filename)
        problem = reading.problem
        if problem is not None:
            problem.cell = number
            if python2 or problem.code == "TM902":
                raise _is_python2(problem)
        cells.append(Cell(number, text, source.start, source.end, source.tokens, reading))
    return Notebook(raw, tuple(cells), mark)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the source of a code cell stands."""

    start: int
    end: int
    tokens: tuple[tuple[int, int], ...]


class _Reader:
    """Walks through JSON text and notes where the sources of the code cells stand."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._at = 0
        self._decoder = json.JSONDecoder()
        self.metadata: object = None

    def notebook(self) -> list[tuple[int, _Source]]:
        """The numbers and the sources of the code cells.

        Raises:
            JSONDecodeError: when the text is not JSON.
            SourceError: TM903, when it is no notebook.
        """
        cells: list[_Source | None] | None = None
        if self._peek() != "{":
            self._value()
            self._end()
            raise SourceError("TM903", "is not a notebook: its JSON is no object")
        version: object = None
        worksheets = False
        for key in self._members():
            if key == "cells":
                if self._peek() != "[":
                    self._value()
                    raise SourceError("TM903", "is not a notebook: its `cells` are no list")
                cells = [self._cell(number) for number, _ in enumerate(self._items(), 1)]
                continue
            value = self._value()
            if key == "metadata":
                self.metadata = value
            elif key == "nbformat":
                version = value
            worksheets |= key == "worksheets"
        self._end()
        if worksheets or (isinstance(version, int) and version < 4):
            known = version if isinstance(version, int) else 3
            raise SourceError(
                "TM903",
                f"is a notebook of format {known}, which is not read; convert it with "
                "`jupyter nbconvert --to notebook --inplace`",
            )
        if cells is None:
            raise SourceError("TM903", "is not a notebook: it has no `cells`")
        return [(number, cell) for number, cell in enumerate(cells, 1) if cell is not None]

    def _cell(self, number: int) -> _Source | None:
        if self._peek() != "{":
            self._value()
            raise _broken_cell(number, "is no object")
        kind: object = None
        metadata: object = None
        source: _Source | None = None
        for key in self._members():
            if key == "source":
                source = self._source()
                continue
            value = self._value()
            if key == "cell_type":
                kind = value
            elif key == "metadata":
                metadata = value
        if not isinstance(kind, str):
            raise _broken_cell(number, "has no `cell_type`")
        if kind != "code" or _other_language(metadata):
            return None
        if source is None:
            raise _broken_cell(number, "has no `source` that is a string or a list of strings")
        return source

    def _source(self) -> _Source | None:
        """The source at this place; None where it is neither a string nor a list of strings."""
        first = self._peek()
        start = self._at
        tokens = []
        good = first in ('"', "[")
        if first == "[":
            for _ in self._items():
                good &= self._peek() == '"'
                begin = self._at
                self._value()
                tokens.append((begin, self._at))
        else:
            self._value()
            tokens.append((start, self._at))
        return _Source(start, self._at, tuple(tokens)) if good else None

    # -- JSON --

    def _peek(self) -> str:
        match = _SPACE.match(self._raw, self._at)
        assert match is not None
        self._at = match.end()
        return self._raw[self._at : self._at + 1]

    def _value(self) -> object:
        self._peek()
        value: object
        value, self._at = self._decoder.raw_decode(self._raw, self._at)
        return value

    def _members(self) -> Iterator[str]:
        """The keys of the object at this place. Whoever asks has to read the value of each."""
        self._at += 1
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            if self._peek() != '"':
                self._fail("Expecting property name enclosed in double quotes")
            key = self._value()
            if self._peek() != ":":
                self._fail("Expecting ':' delimiter")
            self._at += 1
            self._peek()
            yield str(key)
            if self._is_last("}"):
                return

    def _items(self) -> Iterator[None]:
        """The items of the list at this place. Whoever asks has to read each."""
        self._at += 1
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            self._peek()
            yield
            if self._is_last("]"):
                return

    def _is_last(self, closing: str) -> bool:
        char = self._peek()
        if char not in (",", closing):
            self._fail("Expecting ',' delimiter")
        self._at += 1
        return char == closing

    def _end(self) -> None:
        if self._peek():
            self._fail("Extra data")

    def _fail(self, message: str) -> NoReturn:
        raise json.JSONDecodeError(message, self._raw, self._at)


def _broken_cell(number: int, what: str) -> SourceError:
    error = SourceError("TM903", f"is not a notebook: its cell {number} {what}")
    error.cell = number
    return error


def _is_python2(problem: SourceError) -> SourceError:
    if problem.code == "TM902":
        return problem
    message = f"is a notebook for Python 2 ({problem.message}); run 2to3 on its cells first"
    error = SourceError("TM902", message, problem.row, problem.column)
    error.cell = problem.cell
    return error


def _language(metadata: object) -> tuple[str, bool]:
    """The language of a notebook, empty if it is not told, and whether it is Python 2."""
    info = _entry(metadata, "language_info")
    kernel = _entry(metadata, "kernelspec")
    name = str(_entry(info, "name") or _entry(kernel, "language") or "").lower()
    version = str(_entry(info, "version") or "")
    python2 = version.startswith("2.") or _entry(kernel, "name") == "python2"
    return name, python2


def _other_language(metadata: object) -> bool:
    """Whether an editor has noted that a cell is in another language than the notebook."""
    language = _entry(_entry(metadata, "vscode"), "languageId")
    return isinstance(language, str) and language not in ("python", "")


def _entry(table: object, key: str) -> object:
    return table.get(key) if isinstance(table, dict) else None

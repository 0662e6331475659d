"""Many files: reading them, analysing those that matter, writing those that change."""

from __future__ import annotations

import ast
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal, TypeVar

from tapemigrate.deep import call_with_room
from tapemigrate.discovery import Discovery
from tapemigrate.model import Diagnostic, Position
from tapemigrate.settings import ALWAYS_REPORTED, Settings, SettingsError
from tapemigrate.source.decoding import (
    SourceError,
    SourceFile,
    decode,
    encode,
    hides_ascii,
    is_notebook,
)
from tapemigrate.source.writing import FileChangedError, relink, replace_file
from tapemigrate.suppression import Suppressions

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_T = TypeVar("_T")
_R = TypeVar("_R")

SettingsFor = Callable[[str], Settings]

#: ``check`` rewrites nothing. ``fix`` and ``preview`` do; they differ in what diagnostics that are
#: left refer to: the new text, which is about to be written, or the old one, which stays.
#: ``silence`` adds a suppression comment for everything that is found.
Mode = Literal["check", "fix", "preview", "silence"]

#: A row of a file, or of a cell of a notebook.
Place = tuple[int | None, int]

#: Called with how many files are done and how many there are.
Progress = Callable[[int, int], None]

# What one more process costs to start, in files to analyse.
_FILES_PER_PROCESS = 8
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")

# A name that stands in more files than this (``main``, ``loss``) says little about who calls it,
# and reading them all for each call would cost more than all the rest. Its callers count as
# unseen: a fix that depends on them is not called safe.
_MOST_MENTIONS = 60
_UNSEEN = SourceFile("", "\0")
_OWN_CODE = re.compile(rb"\bTM[1-9][0-9]{2}\b")


@dataclass(frozen=True, slots=True)
class FileResult:
    """What was found in one file.

    ``diagnostics`` is what is left to tell, ``mended`` what the rewrite took care of. ``lines``
    holds the rows on which diagnostics stand, by cell (None outside notebooks) and row. ``old``
    and ``new`` are the bytes before and after a rewrite that changes the file.
    """

    filename: str
    diagnostics: tuple[Diagnostic, ...] = ()
    mended: tuple[Diagnostic, ...] = ()
    lines: dict[Place, str] = field(default_factory=dict, hash=False)
    old: bytes = b""
    new: bytes | None = None


@dataclass(slots=True)
class Outcome:
    """What a run has found, file by file in the order of the paths.

    ``files`` are those that were looked at, ``notes`` are lines for the user. ``known`` counts
    the findings that a baseline has taken out.
    """

    results: list[FileResult]
    notes: list[str]
    files: Sequence[str]
    known: int = 0

    @property
    def seen(self) -> int:
        """How many files were looked at."""
        return len(self.files)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics, in order."""
        return [each for result in self.results for each in result.diagnostics]


@dataclass(frozen=True, slots=True)
class _Task:
    """One file to analyse, with the other files that may hold callers of its functions."""

    filename: str
    settings: Settings
    mode: Mode
    edits: bool
    context: tuple[str, ...] = ()


def run(
    paths: Sequence[str],
    settings_for: SettingsFor,
    *,
    mode: Mode,
    jobs: int,
    edits: bool = False,
    respect_gitignore: bool = True,
    progress: Progress = lambda done, total: None,
) -> Outcome:
    """Analyses the files of ``paths``. Writes nothing: see ``write``.

    ``settings_for`` gives the settings for a path and may raise SettingsError. With ``edits``,
    fixes carry their edits.
    """
    _context_file.cache_clear()
    discovery = Discovery(settings_for, respect_gitignore=respect_gitignore)
    early: dict[str, FileResult] = {}
    tasks: list[_Task] = []
    everything: list[str] = []
    configurations: dict[str, None] = {}
    order: list[str] = []
    for found in discovery.walk(list(paths)):
        everything.append(found.path)
        try:
            settings = settings_for(found.path)
            if not _may_matter(found.path, settings):
                continue
        except SourceError as error:
            order.append(found.path)
            early[found.path] = _failure(found.path, error)
            continue
        except SettingsError as error:
            configurations[str(error)] = None
            continue
        if not found.left_out(settings):
            order.append(found.path)
            tasks.append(_Task(found.path, settings, mode, edits))
    results = {
        result.filename: result for result in _analyse_all(tasks, everything, jobs, progress)
    }
    results.update(early)
    problems = [_failure(path, error) for path, error in discovery.problems]
    problems += [_failure(*_split_configuration(line)) for line in configurations]
    return Outcome([*problems, *(results[name] for name in order)], discovery.notes, everything)


def run_text(
    data: bytes, filename: str, settings: Settings, *, mode: Mode, edits: bool = False
) -> FileResult:
    """What ``run`` finds in one file that is given as bytes."""
    return call_with_room(partial(_guarded, data, _Task(filename, settings, mode, edits)))


def explain_line(
    paths: Sequence[str], filename: str, row: int, settings: Settings, cell: int | None = None
) -> str:
    """How the call on a row was read; in a notebook it is a row of ``cell``.

    Raises:
        SourceError: when the file cannot be read or parsed.
    """

    def explain() -> str:
        from tapemigrate import api

        file = decode(_read(filename), filename)
        place = row if cell is None else _row_of(file, cell, row)
        names = api.wanted_names({filename: file})
        callers = [found.path for found in Discovery(lambda path: settings).walk(list(paths))]
        context = _mentions(callers, {filename: frozenset(names)})[filename]
        context_files = _load(context)
        return api.why({filename: file}, filename, place, settings=settings, context=context_files)

    return call_with_room(explain)


def _row_of(file: SourceFile, cell: int, row: int) -> int:
    place = None if file.notebook is None else file.notebook.row_of(cell, row)
    if place is None:
        raise SourceError("TM903", f"has no code cell {cell} (all cells are counted, from one)")
    return place


def write(results: Iterable[FileResult]) -> tuple[list[FileResult], list[str]]:
    """Writes what changed; gives a failure for every file that could not be written, and notes.

    Each file is replaced in one step. Names that were hard links of each other still are.
    """
    failures = []
    written: dict[tuple[int, int], _Linked] = {}
    for result in results:
        if result.new is None:
            continue
        try:
            status = os.stat(result.filename)
            identity = (status.st_dev, status.st_ino)
            linked = written.get(identity)
            if linked is not None and linked.data == result.new:
                relink(linked.filename, result.filename)
                linked.names_left -= 1
                continue
            replace_file(result.filename, result.new, expected=result.old)
            written[identity] = _Linked(result.filename, result.new, status.st_nlink - 1)
        except FileChangedError:
            message = "was changed while it was being analysed; it stays as it is"
            failures.append(_failure(result.filename, SourceError("TM903", message)))
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            failures.append(_failure(result.filename, SourceError("TM903", message)))
    notes = [
        f"{each.filename}: has other names (hard links), which keep the old text"
        for each in written.values()
        if each.names_left
    ]
    return failures, notes


@dataclass(slots=True)
class _Linked:
    """A file that was written, and how many more names its old inode has."""

    filename: str
    data: bytes
    names_left: int


def default_jobs() -> int:
    """How many processes may run at once on this machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _may_matter(path: str, settings: Settings) -> bool:
    from tapemigrate.rules.catalog import prefilter

    data = _words(path)
    if prefilter(tuple(settings.aliases)).search(data) or hides_ascii(data):
        return True
    return b"TM" in data and _OWN_CODE.search(data) is not None


def _read(path: str) -> bytes:
    """The bytes of a regular file, which may have become something else since it was found.

    Raises:
        SourceError: TM903.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        with open(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SourceError("TM903", "is not a regular file")
            return stream.read()
    except OSError as error:
        raise SourceError("TM903", f"cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise SourceError("TM903", "is too large to be read into memory") from None


def _words(path: str) -> bytes:
    """The bytes of a file, in a form in which words can be looked for.

    Raises:
        SourceError: TM903.
    """
    data = _read(path)
    if not is_notebook(path):
        return data
    from tapemigrate.source.notebooks import flattened

    return flattened(data)


def _failure(filename: str, error: SourceError, line: str = "") -> FileResult:
    start = Position(error.row, error.column)
    diagnostic = Diagnostic(error.code, error.message, filename, start, start, cell=error.cell)
    place = (error.cell, error.row)
    return FileResult(filename, (diagnostic,), lines={place: line} if line else {})


def _split_configuration(line: str) -> tuple[str, SourceError]:
    """A settings error is told as one of its file."""
    path, _, message = line.partition(": ")
    return path, SourceError("TM903", f"{message}; the files below it were not analysed")


def _analyse_all(
    tasks: list[_Task], everything: list[str], jobs: int, progress: Progress
) -> Iterator[FileResult]:
    with _Workers(jobs, len(tasks)) as workers:
        if len(everything) > 1:
            names: dict[str, frozenset[str]] = {}
            for task, wanted in zip(tasks, workers.map(_wanted_names, tasks), strict=True):
                names[task.filename] = wanted or frozenset()
            context = _mentions(everything, names)
            tasks = [replace(task, context=context[task.filename]) for task in tasks]
        for done, (task, result) in enumerate(
            zip(tasks, workers.map(_analyse, tasks), strict=True), 1
        ):
            progress(done, len(tasks))
            if result is None:
                error = SourceError("TM901", "could not be analysed: the analysis was killed")
                result = _failure(task.filename, error)
            yield result


def _mentions(paths: Iterable[str], names: dict[str, frozenset[str]]) -> dict[str, tuple[str, ...]]:
    """For each file in ``names``, the other files in which one of its names stands as a word.

    An empty path stands for files that are too many to read.
    """
    wanted = {name.encode() for each in names.values() for name in each}
    places: dict[bytes, list[str]] = {name: [] for name in wanted}
    if wanted:
        for path in paths:
            try:
                words = wanted.intersection(_WORD.findall(_words(path)))
            except SourceError:
                continue
            for word in words:
                places[word].append(path)
    return {filename: _others(filename, each, places) for filename, each in names.items()}


def _others(
    filename: str, names: Iterable[str], places: Mapping[bytes, list[str]]
) -> tuple[str, ...]:
    others: dict[str, None] = {}
    for name in sorted(names):
        paths = places[name.encode()]
        others.update(dict.fromkeys(paths if len(paths) <= _MOST_MENTIONS else ("",)))
    others.pop(filename, None)
    return tuple(others)


def _load(paths: Iterable[str]) -> dict[str, SourceFile]:
    return {path: _context_file(path) for path in paths}


@lru_cache(maxsize=256)
def _context_file(path: str) -> SourceFile:
    """A file in which callers may stand. What cannot be read does not parse: it is unseen."""
    try:
        return decode(_read(path), path) if path else _UNSEEN
    except SourceError:
        return _UNSEEN


def _wanted_names(task: _Task) -> frozenset[str]:
    from tapemigrate import api

    def wanted() -> frozenset[str]:
        file = decode(_read(task.filename), task.filename)
        return frozenset(api.wanted_names({task.filename: file}))

    try:
        return call_with_room(wanted)
    except Exception:
        # Whatever it is, the analysis meets it again, and reports it.
        return frozenset()


def _analyse(task: _Task) -> FileResult:
    def analyse() -> FileResult:
        try:
            return _guarded(_read(task.filename), task)
        except SourceError as error:
            return _failure(task.filename, error)

    return call_with_room(analyse)


def _guarded(data: bytes, task: _Task) -> FileResult:
    """Analyses one file; whatever goes wrong with it stays with it."""
    file = None
    try:
        file = decode(data, task.filename)
        return _analysed(data, file, task)
    except SourceError as error:
        return _failure(task.filename, error, _row(file, error.row))
    except (RecursionError, MemoryError):
        return _failure(task.filename, SourceError("TM901", "is nested too deeply to analyse"))
    except Exception as error:  # a fault of ours must not end the run for the other files
        message = f"could not be analysed: {type(error).__name__}: {error} (a fault in tapemigrate)"
        return _failure(task.filename, SourceError("TM901", " ".join(message.split())))


def _analysed(data: bytes, file: SourceFile, task: _Task) -> FileResult:
    from tapemigrate import api

    name = task.filename
    context = _load(task.context)
    rewrite = task.mode in ("fix", "preview")
    result = api.analyse(
        {name: file}, task.settings, rewrite=rewrite, context=context, edits=task.edits
    )
    if task.mode == "silence":
        return _silenced(data, file, result.diagnostics)
    new = encode(file, result.rewritten.get(name, file.text))
    if new == data:
        left = _sorted(result.diagnostics)
        return FileResult(name, left, lines=_rows(file, left))
    mended = tuple(each for each in result.diagnostics if _is_mended(each, task.settings))
    left = _sorted(each for each in result.diagnostics if not _is_mended(each, task.settings))
    if left and task.mode == "fix":
        file = decode(new, name)
        again = api.analyse(
            {name: file}, task.settings, rewrite=False, context=context, edits=task.edits
        )
        left = _sorted(again.diagnostics)
    return FileResult(name, left, mended, _rows(file, left), data, new)


def _silenced(data: bytes, file: SourceFile, found: Iterable[Diagnostic]) -> FileResult:
    """The file with a comment for all that was found, apart from comments that do nothing."""
    silent = [each for each in found if _can_be_silenced(each, file)]
    left = _sorted(each for each in found if not _can_be_silenced(each, file))
    text = Suppressions(file.text).with_noqa(_in_text(each, file) for each in silent)
    if text == file.text or ast.dump(ast.parse(text)) != ast.dump(ast.parse(file.text)):
        left = _sorted(found)
        return FileResult(file.filename, left, lines=_rows(file, left))
    new = encode(replace(file, text=text), text)
    return FileResult(file.filename, left, _sorted(silent), _rows(file, left), data, new)


def _can_be_silenced(each: Diagnostic, file: SourceFile) -> bool:
    if each.code == "TM910" or each.code in ALWAYS_REPORTED:
        return False
    # What a magic takes for text has no comments.
    return file.notebook is None or each.cell not in file.notebook.foreign


def _in_text(each: Diagnostic, file: SourceFile) -> Diagnostic:
    """``each`` with the row that it has in the text of all cells together."""
    if file.notebook is None or each.cell is None:
        return each
    row = file.notebook.row_of(each.cell, each.location.row)
    return replace(each, location=Position(row or each.location.row, each.location.column))


def _sorted(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(diagnostics, key=lambda each: (each.cell or 0, each.location, each.code)))


def _is_mended(diagnostic: Diagnostic, settings: Settings) -> bool:
    fix = diagnostic.fix
    if fix is None:
        return False
    return fix.applicability == "safe" or (fix.applicability == "unsafe" and settings.unsafe_fixes)


def _row(file: SourceFile | None, row: int) -> str:
    from tapemigrate.source.positions import Lines

    return "" if file is None else Lines(file.text).row(row)


def _rows(file: SourceFile, diagnostics: Iterable[Diagnostic]) -> dict[Place, str]:
    from tapemigrate.source.positions import Lines

    wanted: dict[int | None, set[int]] = {}
    for each in diagnostics:
        rows = range(each.location.row, each.end_location.row + 1)
        wanted.setdefault(each.cell, set()).update(rows)
    texts: dict[int | None, str] = {None: file.text}
    if file.notebook is not None:
        texts = {cell.number: cell.text for cell in file.notebook.cells}
    found: dict[Place, str] = {}
    for cell, rows_wanted in wanted.items():
        lines = Lines(texts.get(cell, ""))
        found.update({(cell, row): lines.row(row) for row in sorted(rows_wanted)})
    return found


class _Workers:
    """Calls functions on tasks, in processes where there are enough tasks to pay for them."""

    def __init__(self, jobs: int, tasks: int) -> None:
        self._jobs = min(jobs, tasks // _FILES_PER_PROCESS)
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Workers:
        if self._jobs > 1:
            self._pool = _pool(self._jobs)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is None:
            return
        if kind is not None:
            import multiprocessing

            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
        else:
            self._pool.shutdown()

    def map(self, function: Callable[[_T], _R], tasks: Sequence[_T]) -> Iterator[_R | None]:
        """The results in the order of the tasks; None where a task killed its process."""
        if self._pool is None:
            yield from map(function, tasks)
            return
        from concurrent.futures.process import BrokenProcessPool

        futures: list[Future[_R]] = [self._pool.submit(function, task) for task in tasks]
        broken = False
        for task, future in zip(tasks, futures, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                # One task took the others in the pool down with it: which, shows only alone.
                broken = True
                yield _alone(function, task)
        if broken:
            self._pool.shutdown()
            self._pool = _pool(self._jobs)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Imported here: a run that needs one process does not pay for it.
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(jobs)


def _alone(function: Callable[[_T], _R], task: _T) -> _R | None:
    from concurrent.futures.process import BrokenProcessPool

    with _pool(1) as pool:
        try:
            return pool.submit(function, task).result()
        except BrokenProcessPool:
            return None

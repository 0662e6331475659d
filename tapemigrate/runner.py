"""Many files: reading them, analysing those that matter, writing those that change."""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tapemigrate import garbage, stored
from tapemigrate.cache import Cache, digest, key_of
from tapemigrate.context import Choice, may_import, words
from tapemigrate.deep import call_with_room
from tapemigrate.discovery import Discovery
from tapemigrate.grouping import grouped
from tapemigrate.model import Diagnostic, Handed, Hidden, Links, Position
from tapemigrate.reading import Words, may_matter, read, words_in
from tapemigrate.settings import ALWAYS_REPORTED, Settings, SettingsError
from tapemigrate.source.decoding import (
    SourceError,
    SourceFile,
    decode,
    encode,
    is_notebook,
)
from tapemigrate.source.writing import FileChangedError, relink, replace_file

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from tapemigrate.shard import Shard

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

_UNSEEN = SourceFile("", "\0")


@dataclass(frozen=True, slots=True)
class FileResult:
    """What was found in one file.

    ``diagnostics`` is what is left to tell, ``mended`` what the rewrite took care of. ``lines``
    holds the rows on which diagnostics stand, by cell (None outside notebooks) and row. ``old``
    and ``new`` are the bytes before and after a rewrite that changes the file. Those of one
    ``group`` are written together or not at all.
    """

    filename: str
    diagnostics: tuple[Diagnostic, ...] = ()
    mended: tuple[Diagnostic, ...] = ()
    lines: dict[Place, str] = field(default_factory=dict, hash=False)
    old: bytes = b""
    new: bytes | None = None
    group: str = ""


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
    """One file to analyse, with the other files that may hold callers of its functions.

    ``others`` are analysed, and rewritten, together with it.
    """

    filename: str
    settings: Settings
    mode: Mode
    edits: bool
    context: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    cache: Cache | None = None

    @property
    def filenames(self) -> tuple[str, ...]:
        """All files that are analysed."""
        return (self.filename, *self.others)

    def key(self, digest_of: Callable[[str], str]) -> str:
        """The name, in the cache, of what is found in files of these contents."""
        contents = [(name, digest_of(name)) for name in (*self.filenames, *self.context)]
        place = os.path.abspath(self.filename)
        return key_of("files", self.settings, place, len(self.others), contents, *_writer(self))


def run(
    paths: Sequence[str],
    settings_for: SettingsFor,
    *,
    mode: Mode,
    jobs: int,
    edits: bool = False,
    respect_gitignore: bool = True,
    force_exclude: bool = False,
    shard: Shard | None = None,
    cache: Cache | None = None,
    progress: Progress = lambda done, total: None,
) -> Outcome:
    """Analyses the files of ``paths``. Writes nothing: see ``write``.

    What is wrong with one file is a finding (TM901, TM902, TM903), and the others are done all the
    same.

    Args:
        paths: Files and folders.
        settings_for: Gives the settings for a path; it may raise SettingsError, which is told as a
            finding, too. ``settings.Resolver`` reads them from ``pyproject.toml``.
        mode: What is done with the files.
        jobs: How many processes may work at once, at most.
        edits: Whether fixes carry their edits.
        respect_gitignore: Whether what ``.gitignore`` leaves out is left out.
        force_exclude: Whether the settings leave out also what ``paths`` name.
        shard: All files are looked at, and those of the shard analysed.
        cache: What earlier runs have found out.
        progress: Called with how many files are done, and of how many.
    """
    _context_bytes.cache_clear()
    discovery = Discovery(settings_for, respect_gitignore=respect_gitignore)
    digests: dict[str, str] | None = None if cache is None else {}
    early: dict[str, FileResult] = {}
    tasks: list[_Task] = []
    everything: list[str] = []
    allowed: dict[str, Settings] = {}
    configurations: dict[str, None] = {}
    for found in discovery.walk(list(paths)):
        everything.append(found.path)
        try:
            settings = settings_for(found.path)
            if not found.left_out(settings, force=force_exclude):
                allowed[found.path] = settings
            if not may_matter(found.path, settings, digests):
                continue
        except SourceError as error:
            early[found.path] = _failure(found.path, error)
            continue
        except SettingsError as error:
            configurations[str(error)] = None
            continue
        if found.path in allowed:
            tasks.append(_Task(found.path, settings, mode, edits, cache=cache))
    with garbage.put_off(), _Workers(jobs, len(tasks)) as workers:
        if len(everything) > 1:
            tasks = _with_others(tasks, everything, allowed, workers, digests)
        mine = everything if shard is None else _of_shard(shard, tasks, everything)
        chosen = frozenset(mine)
        tasks = [task for task in tasks if task.filename in chosen]
        # Backwards: what was read last for its links is still parsed.
        analysed = _analyse_all(tasks[::-1], workers, progress, digests)
        results = {result.filename: result for result in analysed}
    if cache is not None:
        cache.sweep()
    results.update(early)
    problems = [_failure(path, error) for path, error in discovery.problems]
    problems += [_failure(*_split_configuration(line)) for line in configurations]
    ordered = [results[path] for path in mine if path in results]
    if shard is not None:
        discovery.notes.append(f"shard {shard}: {len(mine)} of {len(everything)} files")
    return Outcome([*problems, *ordered], discovery.notes, mine)


def _of_shard(shard: Shard, tasks: Sequence[_Task], everything: Sequence[str]) -> list[str]:
    """The files of a shard. With a file come those that hold its callers."""
    weights = dict.fromkeys(everything, 1)
    # A file in which nothing is to be found goes with the first that it may call. It ties no two.
    own = {name for task in tasks for name in task.filenames}
    taken: set[str] = set()
    ties = []
    for task in tasks:
        context = [name for name in task.context if name in own or name not in taken]
        taken.update(context)
        ties.append((*task.filenames, *context))
        for name in task.filenames:
            with suppress(OSError):
                weights[name] += os.path.getsize(name)
    chosen = shard.files(weights, ties)
    return [path for path in everything if path in chosen]


def run_text(
    data: bytes, filename: str, settings: Settings, *, mode: Mode, edits: bool = False
) -> FileResult:
    """What ``run`` finds in one file that is given as bytes.

    Args:
        data: What the file holds.
        filename: Its name, in messages; the ending says whether it is a notebook.
        settings: The settings for it.
        mode: What is done with it.
        edits: Whether fixes carry their edits.
    """
    task = _Task(filename, settings, mode, edits)
    with garbage.put_off():
        return call_with_room(partial(_guarded, {filename: data}, task))[0]


def explain_line(
    paths: Sequence[str], filename: str, row: int, settings: Settings, cell: int | None = None
) -> str:
    """How the call on a row was read; in a notebook it is a row of ``cell``.

    Raises:
        SourceError: when the file cannot be read or parsed.
    """

    def explain() -> str:
        from tapemigrate import api

        file = decode(read(filename), filename)
        place = row if cell is None else _row_of(file, cell, row)
        links = api.links(file)
        others = [found.path for found in Discovery(lambda path: settings).walk(list(paths))]
        choice = Choice(Words(others)(words([links])))
        marked = choice.marked({filename: links}, partial(map, partial(_hidden, None)))
        context = dict.fromkeys([*choice.callers(links), *marked.get(filename, ())])
        context.pop(filename, None)
        context_files = _load(context)
        return api.why({filename: file}, filename, place, settings=settings, context=context_files)

    return call_with_room(explain)


def _row_of(file: SourceFile, cell: int, row: int) -> int:
    place = None if file.notebook is None else file.notebook.row_of(cell, row)
    if place is None:
        raise SourceError("TM903", f"has no code cell {cell} (all cells are counted, from one)")
    return place


def write(results: Iterable[FileResult]) -> tuple[list[FileResult], list[str]]:
    """Writes what changed.

    Args:
        results: Those of an outcome.

    Returns:
        A failure for every file that could not be written, and lines for the user.

    Each file is replaced in one step. Names that were hard links of each other still are. Of files
    that belong together all are written, or none.
    """
    failures: list[FileResult] = []
    written: dict[tuple[int, int], _Linked] = {}
    groups: dict[str, list[FileResult]] = {}
    for result in results:
        if result.new is not None:
            groups.setdefault(result.group or result.filename, []).append(result)
    for group in groups.values():
        done: list[FileResult] = []
        for result in group:
            message = _write_one(result, written)
            if message:
                failures.append(_failure(result.filename, SourceError("TM903", message)))
                failures += _taken_back(done, written, result.filename)
                break
            done.append(result)
    notes = [
        f"{each.filename}: has other names (hard links), which keep the old text"
        for each in written.values()
        if each.names_left
    ]
    return failures, notes


def _write_one(result: FileResult, written: dict[tuple[int, int], _Linked]) -> str:
    """Why the file could not be written; nothing where it was."""
    assert result.new is not None
    try:
        status = os.stat(result.filename)
        identity = (status.st_dev, status.st_ino)
        linked = written.get(identity)
        if linked is not None and linked.data == result.new:
            relink(linked.filename, result.filename)
            linked.names_left -= 1
            return ""
        replace_file(result.filename, result.new, expected=result.old)
        written[identity] = _Linked(result.filename, result.new, status.st_nlink - 1)
    except FileChangedError:
        return "was changed while it was being analysed; it stays as it is"
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return ""


def _taken_back(
    done: list[FileResult], written: dict[tuple[int, int], _Linked], other: str
) -> list[FileResult]:
    """Gives files their old text back, because one that they belong together with failed."""
    failures = []
    for result in done:
        message = f"stays as it is, because its changes belong together with those of {other}"
        try:
            replace_file(result.filename, result.old, expected=result.new)
        except OSError as error:
            message = f"was written, and cannot be taken back: {error.strerror or error}"
        failures.append(_failure(result.filename, SourceError("TM903", message)))
    names = {result.filename for result in done}
    for identity in [i for i, each in written.items() if each.filename in names]:
        del written[identity]
    return failures


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
    tasks: list[_Task],
    workers: _Workers,
    progress: Progress,
    digests: Mapping[str, str] | None,
) -> Iterator[FileResult]:
    done, total = 0, sum(len(task.filenames) for task in tasks)
    for task, results in workers.map_unknown(_analyse, tasks, partial(_known, digests=digests)):
        done += len(task.filenames)
        progress(done, total)
        if results is None:
            error = SourceError("TM901", "could not be analysed: the analysis was killed")
            results = [_failure(name, error) for name in task.filenames]
        yield from results


def _known(task: _Task, digests: Mapping[str, str] | None) -> list[FileResult] | None:
    """What an earlier run has found in the files as they were when they were read first."""
    if task.cache is None or digests is None or task.mode != "check":
        return None
    found = task.cache.get(task.key(lambda name: digests.get(name, "")))
    return None if found is None else [_result(each) for each in found]


def _keep(task: _Task, data: Mapping[str, bytes], results: list[FileResult]) -> None:
    # What went wrong may go right another time.
    wrong = any(d.code in ALWAYS_REPORTED for each in results for d in each.diagnostics)
    if task.cache is None or task.mode != "check" or wrong:
        return
    contents = dict(data)
    for path in task.context:
        contents[path] = _context_bytes(path)
    key = task.key(lambda name: digest(contents[name]) if contents[name] else "")
    task.cache.put(key, [_plain(each) for each in results])


def _plain(result: FileResult) -> list[Any]:
    lines = [[*place, line] for place, line in result.lines.items()]
    found = [stored.plain_diagnostic(each) for each in result.diagnostics]
    return [result.filename, found, lines, result.group]


def _result(plain: list[Any]) -> FileResult:
    filename, found, lines, group = plain
    diagnostics = tuple(stored.diagnostic(each) for each in found)
    by_place = {(cell, row): line for cell, row, line in lines}
    return FileResult(filename, diagnostics, lines=by_place, group=group)


def _writer(task: _Task) -> tuple[str, ...]:
    """The version of what makes the edits, where edits are asked for."""
    if not task.edits:
        return ()
    from importlib.metadata import version

    return ("edits", version("libcst"))


def _with_others(
    tasks: list[_Task],
    everything: list[str],
    allowed: Mapping[str, Settings],
    workers: _Workers,
    digests: Mapping[str, str] | None,
) -> list[_Task]:
    """The tasks with the files that hold callers, those that go together made one."""
    known = partial(_known_links, digests=digests)
    links = {
        task.filename: each or Links() for task, each in workers.map_unknown(_links, tasks, known)
    }
    cache = tasks[0].cache if tasks else None

    def together(one: str, two: str) -> bool:
        same = one in allowed and allowed[one] == allowed.get(two)
        return same and not is_notebook(one) and not is_notebook(two)

    def hand_on(asked: list[tuple[str, frozenset[str]]]) -> Iterator[frozenset[Handed]]:
        return (each or frozenset() for each in workers.map(partial(_handing_on, cache), asked))

    find = Words(everything, partial(workers.map, words_in), cache, digests)
    # All words that are known to be needed, so that the files are read once for them.
    choice = Choice(find(words(links.values())))
    groups = grouped(links, find, hand_on, together)
    rank = {path: number for number, path in enumerate(everything)}
    marked = choice.marked(links, partial(workers.map, partial(_hidden, cache)))
    found: dict[str, _Task] = {}
    for task in tasks:
        members = sorted(groups.of(task.filename), key=rank.__getitem__)
        if members[0] in found:
            continue
        context: dict[str, None] = {}
        for member in members:
            here = links.get(member, Links())
            context.update(dict.fromkeys(choice.callers(here)))
            context.update(dict.fromkeys(marked.get(member, ())))
            for other, beyond in marked.items():
                if beyond and may_import(here, other):
                    context.update(dict.fromkeys([other, *beyond]))
        for member in members:
            context.pop(member, None)
        found[members[0]] = replace(
            task, filename=members[0], others=tuple(members[1:]), context=tuple(context)
        )
    return list(found.values())


def _load(paths: Iterable[str]) -> dict[str, SourceFile]:
    return {path: _context_file(path, _context_bytes(path)) for path in paths}


@lru_cache(maxsize=256)
def _context_bytes(path: str) -> bytes:
    """A file in which callers may stand; nothing where it cannot be read."""
    try:
        return read(path) if path else b""
    except SourceError:
        return b""


@lru_cache(maxsize=256)
def _context_file(path: str, data: bytes) -> SourceFile:
    """What cannot be read does not parse: it is unseen."""
    try:
        return decode(data, path) if data else _UNSEEN
    except SourceError:
        return _UNSEEN


def _links(task: _Task) -> Links:
    def links() -> Links:
        from tapemigrate import api

        data = read(task.filename)
        found = api.links(decode(data, task.filename))
        if task.cache is not None:
            task.cache.put(_links_key(task, digest(data)), stored.plain_links(found))
        return found

    try:
        garbage.collect()
        return call_with_room(links)
    except Exception:
        # Whatever it is, the analysis meets it again, and reports it.
        return Links()


def _known_links(task: _Task, digests: Mapping[str, str] | None) -> Links | None:
    if task.cache is None or digests is None:
        return None
    found = task.cache.get(_links_key(task, digests.get(task.filename, "")))
    return None if found is None else stored.links(found)


def _links_key(task: _Task, contents: str) -> str:
    return key_of("links", task.filename, contents)


def _hidden(cache: Cache | None, filename: str) -> Hidden | None:
    """What a file holds that makes ops which no tape records; None: that is not known."""

    def hidden() -> Hidden:
        from tapemigrate import api

        data = read(filename)
        key = key_of("hidden", filename, digest(data))
        found = None if cache is None else cache.get(key)
        if found is None:
            found = stored.plain_hidden(api.hidden(decode(data, filename)))
            if cache is not None:
                cache.put(key, found)
        return stored.hidden(found)

    try:
        garbage.collect()
        return call_with_room(hidden)
    except Exception:
        return None


def _handing_on(cache: Cache | None, asked: tuple[str, frozenset[str]]) -> frozenset[Handed]:
    filename, names = asked

    def handing_on() -> frozenset[Handed]:
        from tapemigrate import api

        data = read(filename)
        key = key_of("handing on", filename, digest(data), sorted(names))
        found = None if cache is None else cache.get(key)
        if found is None:
            handed = api.handing_on(decode(data, filename), names)
            found = [[each.name, sorted(each.anchors)] for each in handed]
            if cache is not None:
                cache.put(key, found)
        return stored.plain_handed(found)

    try:
        garbage.collect()
        return call_with_room(handing_on)
    except Exception:
        return frozenset()


def _analyse(task: _Task) -> list[FileResult]:
    def analyse() -> list[FileResult]:
        try:
            data = {name: read(name) for name in task.filenames}
        except SourceError as error:
            if task.others:
                return _one_by_one(task)
            return [_failure(task.filename, error)]
        results = _guarded(data, task)
        _keep(task, data, results)
        return results

    garbage.collect()
    return call_with_room(analyse)


def _one_by_one(task: _Task) -> list[FileResult]:
    """Each file by itself, where one of them cannot be analysed at all."""
    found = []
    for name in task.filenames:
        context = (*task.context, *(other for other in task.filenames if other != name))
        found += _analyse(replace(task, filename=name, others=(), context=context))
    return found


def _guarded(data: Mapping[str, bytes], task: _Task) -> list[FileResult]:
    """Analyses the files of a task; whatever goes wrong with one stays with it."""
    file = None
    try:
        files = {}
        for name in task.filenames:
            files[name] = file = decode(data[name], name)
        file = file if not task.others else None
        return _analysed(data, files, task)
    except Exception as error:  # a fault of ours must not end the run for the other files
        if task.others:
            return _one_by_one(task)
        return [_told(error, task.filename, file)]


def _told(error: Exception, filename: str, file: SourceFile | None) -> FileResult:
    if isinstance(error, SourceError):
        return _failure(filename, error, _row(file, error.row))
    if isinstance(error, RecursionError | MemoryError):
        return _failure(filename, SourceError("TM901", "is nested too deeply to analyse"))
    message = f"could not be analysed: {type(error).__name__}: {error} (a fault in tapemigrate)"
    return _failure(filename, SourceError("TM901", " ".join(message.split())))


def _analysed(
    data: Mapping[str, bytes], files: Mapping[str, SourceFile], task: _Task
) -> list[FileResult]:
    from tapemigrate import api

    context = _load(task.context)
    rewrite = task.mode in ("fix", "preview")
    result = api.analyse(files, task.settings, rewrite=rewrite, context=context, edits=task.edits)
    found: dict[str, list[Diagnostic]] = {name: [] for name in files}
    for each in result.diagnostics:
        found[each.filename].append(each)
    if task.mode == "silence":
        silenced = [_silenced(data[name], file, found[name]) for name, file in files.items()]
        commented = {each.filename: each.new for each in silenced if each.new is not None}
        # Where a use is silenced, its import stays, and what was said of that is said no more.
        later = {**files, **{name: decode(each, name) for name, each in commented.items()}}
        again = api.analyse(later, task.settings, rewrite=False, context=context)
        idle = [each for each in again.diagnostics if each.code == "TM910"]
        return [
            _silenced(data[name], file, found[name], idle) if name in commented else result
            for (name, file), result in zip(files.items(), silenced, strict=True)
        ]
    new = {
        name: encode(file, result.rewritten.get(name, file.text)) for name, file in files.items()
    }
    mended = {
        name: tuple(each for each in found[name] if _is_mended(each, task.settings))
        for name in files
    }
    if rewrite:
        found = {
            name: [each for each in found[name] if not _is_mended(each, task.settings)]
            for name in files
        }
    if task.mode == "fix" and any(found.values()) and new != data:
        files = {name: decode(each, name) for name, each in new.items()}
        found = {name: [] for name in files}
        again = api.analyse(files, task.settings, rewrite=False, context=context, edits=task.edits)
        for each in again.diagnostics:
            found[each.filename].append(each)
    results = []
    for name, file in files.items():
        left = _sorted(found[name])
        changed = new[name] != data[name]
        results.append(
            FileResult(
                name,
                left,
                mended[name] if rewrite else (),
                _rows(file, left),
                data[name] if changed else b"",
                new[name] if changed else None,
                task.filename,
            )
        )
    return results


def _silenced(
    data: bytes, file: SourceFile, found: Iterable[Diagnostic], idle: Sequence[Diagnostic] = ()
) -> FileResult:
    """The file with a comment for all that was found, apart from comments that do nothing.

    ``idle`` are the suppressions that would have nothing to silence.
    """

    def needless(each: Diagnostic) -> bool:
        place = (file.filename, each.cell, each.noqa_row)
        return any(
            place == (other.filename, other.cell, other.location.row)
            and each.code in other.message.split()
            for other in idle
        )

    found = [each for each in found if not needless(each)]
    silent = [each for each in found if _can_be_silenced(each, file)]
    left = _sorted(each for each in found if not _can_be_silenced(each, file))
    from tapemigrate.suppression import Suppressions

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

    def map_unknown(
        self,
        function: Callable[[_T], _R],
        tasks: Sequence[_T],
        known: Callable[[_T], _R | None],
    ) -> Iterator[tuple[_T, _R | None]]:
        """Each task with its result; those that are known are not worked out."""
        found = [known(task) for task in tasks]
        unknown = [task for task, each in zip(tasks, found, strict=True) if each is None]
        made = self.map(function, unknown)
        for task, each in zip(tasks, found, strict=True):
            yield task, next(made) if each is None else each

    def map(self, function: Callable[[_T], _R], tasks: Sequence[_T]) -> Iterator[_R | None]:
        """The results in the order of the tasks; None where a task killed its process."""
        if self._pool is None and self._jobs > 1 and len(tasks) >= _FILES_PER_PROCESS:
            self._pool = _pool(self._jobs)
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

    return ProcessPoolExecutor(jobs, initializer=_start, initargs=(os.getpid(),))


def _start(parent: int) -> None:
    from tapemigrate.orphan import end_with

    gc.disable()  # what a process inherits depends on how it is started; see ``garbage``
    end_with(parent)


def _alone(function: Callable[[_T], _R], task: _T) -> _R | None:
    from concurrent.futures.process import BrokenProcessPool

    with _pool(1) as pool:
        try:
            return pool.submit(function, task).result()
        except BrokenProcessPool:
            return None

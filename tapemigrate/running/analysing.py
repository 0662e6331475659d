"""One task: its files read and analysed, with what goes wrong in them told as findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from tapemigrate.model import OLD_CALL_STAYS, Diagnostic
from tapemigrate.results import FileResult, failure, in_order, plain_result, result_of, rows_of
from tapemigrate.running import garbage
from tapemigrate.running.cache import digest
from tapemigrate.running.deep import call_with_room
from tapemigrate.running.reading import read, searchable
from tapemigrate.running.silencing import silenced
from tapemigrate.running.tasks import Task
from tapemigrate.settings import ALWAYS_REPORTED, Settings
from tapemigrate.source.decoding import UNKNOWN, SourceError, SourceFile, decode, encode


def analyse(task: Task) -> list[FileResult]:
    """What there is to say of the files of a task."""

    def analysed() -> list[FileResult]:
        try:
            data = {name: read(name) for name in task.filenames}
        except SourceError as error:
            if task.others:
                return _apart(task)
            return [failure(task.filename, error)]
        results = guarded(data, task)
        _keep(task, data, results)
        return results

    garbage.collect()
    return call_with_room(analysed)


def known(task: Task, digests: Mapping[str, str]) -> list[FileResult] | None:
    """What an earlier run has found in the files as they were when they were read first."""
    if task.cache is None or task.mode != "check":
        return None
    found = task.cache.get(task.key(lambda name: digests.get(name, "")))
    return None if found is None else [result_of(each) for each in found]


def _digests(task: Task) -> dict[str, str]:
    """What the files of a task hold now."""
    contents = {name: context_bytes(name) for name in (*task.filenames, *task.context)}
    return {name: digest(data) for name, data in contents.items() if data is not None}


def _keep(task: Task, data: Mapping[str, bytes], results: list[FileResult]) -> None:
    wrong = any(map(_may_go_right, results))
    if task.cache is None or task.mode != "check" or wrong:
        return
    contents: dict[str, bytes | None] = dict(data)
    for path in task.context:
        contents[path] = context_bytes(path)
    known_to_be = {name: digest(each) for name, each in contents.items() if each is not None}
    key = task.key(lambda name: known_to_be.get(name, ""))
    task.cache.put(key, [plain_result(each) for each in results])


def _may_go_right(result: FileResult) -> bool:
    """Whether a failure need not come back with the same text: none of its rows shows it."""
    return any(
        each.code in ALWAYS_REPORTED and (each.cell, each.location.row) not in result.lines
        for each in result.diagnostics
    )


def _apart(task: Task) -> list[FileResult]:
    """Files that cannot be analysed by themselves, the others together; else each by itself."""
    broken = [name for name in task.filenames if not parses(name)]
    whole = tuple(name for name in task.filenames if name not in broken)
    parts = [*((name,) for name in broken), whole] if broken else [(name,) for name in whole]
    found: list[FileResult] = []
    for part in filter(None, parts):
        context = (*task.context, *(other for other in task.filenames if other not in part))
        alone = replace(task, filename=part[0], others=part[1:], context=context, idle=())
        # What is broken stays so from run to run, often, and the others need not pay for it.
        found += known(alone, _digests(alone)) or analyse(alone)
    return sorted(found, key=lambda result: task.filenames.index(result.filename))


def parses(name: str) -> bool:
    """Whether the file can be read and parsed."""
    from tapemigrate.source import parse

    try:
        parse(decode(read(name), name).text, name)
    except (SourceError, RecursionError, MemoryError):
        return False
    return True


def guarded(data: Mapping[str, bytes], task: Task) -> list[FileResult]:
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
            return _apart(task)
        return [_told(error, task.filename, file)]


def _told(error: Exception, filename: str, file: SourceFile | None) -> FileResult:
    if isinstance(error, SourceError):
        return failure(filename, error, _row(file, error.row))
    if isinstance(error, RecursionError | MemoryError):
        return failure(filename, SourceError("TM901", "is nested too deeply to analyse"))
    message = f"could not be analysed: {type(error).__name__}: {error} (a fault in tapemigrate)"
    return failure(filename, SourceError("TM901", " ".join(message.split())))


def _analysed(
    data: Mapping[str, bytes], files: Mapping[str, SourceFile], task: Task
) -> list[FileResult]:
    from tapemigrate import api

    context = load(task.context)
    rewrite = task.mode in ("fix", "preview")
    result = api.analyse(
        files,
        task.settings,
        rewrite=rewrite,
        context=context,
        edits=task.edits,
        idle=frozenset(task.idle),
    )
    found: dict[str, list[Diagnostic]] = {name: [] for name in files}
    for each in result.diagnostics:
        found[each.filename].append(each)
    if task.mode == "silence":
        commented = [silenced(data[name], file, found[name]) for name, file in files.items()]
        new = {each.filename: each.new for each in commented if each.new is not None}
        # Where a use is silenced, its import stays, and what was said of that is said no more.
        later = {**files, **{name: decode(each, name) for name, each in new.items()}}
        again = api.analyse(later, task.settings, rewrite=False, context=context)
        idle = [each for each in again.diagnostics if each.code == "TM910"]
        return [
            silenced(data[name], file, found[name], idle) if name in new else result
            for (name, file), result in zip(files.items(), commented, strict=True)
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
    stays = any(OLD_CALL_STAYS in each.message for done in mended.values() for each in done)
    if task.mode == "fix" and (stays or any(found.values())) and new != data:
        files = {name: decode(each, name) for name, each in new.items()}
        found = {name: [] for name in files}
        again = api.analyse(files, task.settings, rewrite=False, context=context, edits=task.edits)
        for each in again.diagnostics:
            found[each.filename].append(each)
    results = []
    for name, file in files.items():
        left = in_order(found[name])
        changed = new[name] != data[name]
        results.append(
            FileResult(
                name,
                left,
                mended[name] if rewrite else (),
                rows_of(file, left),
                data[name] if changed else b"",
                new[name] if changed else None,
                task.filename,
            )
        )
    return results


def _is_mended(diagnostic: Diagnostic, settings: Settings) -> bool:
    fix = diagnostic.fix
    if fix is None:
        return False
    return fix.applicability == "safe" or (fix.applicability == "unsafe" and settings.unsafe_fixes)


def _row(file: SourceFile | None, row: int) -> str:
    from tapemigrate.source.positions import Lines

    return "" if file is None else Lines(file.text).row(row)


def load(paths: Iterable[str]) -> dict[str, SourceFile]:
    """The files, as texts; what cannot be read does not parse."""
    return {path: _context_file(path, context_bytes(path)) for path in paths}


@lru_cache(maxsize=256)
def context_bytes(path: str) -> bytes | None:
    """A file in which callers may stand; None where it cannot be read."""
    try:
        return read(path) if path else None
    except SourceError:
        return None


@lru_cache(maxsize=256)
def _context_file(path: str, data: bytes | None) -> SourceFile:
    """What cannot be read does not parse, and no more is known of it than its words."""
    if data is None:
        return SourceFile(path, UNKNOWN)
    try:
        return decode(data, path)
    except SourceError:
        return SourceFile(path, UNKNOWN + searchable(path, data).decode("utf-8", "replace"))

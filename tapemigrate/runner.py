"""Many files: those that matter are found, and analysed in tasks, side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tapemigrate.discovery import Discovery
from tapemigrate.results import FileResult, Mode, Outcome, failure
from tapemigrate.running import arenas, garbage
from tapemigrate.running.analysing import analyse, context_bytes, guarded, known, load, parses
from tapemigrate.running.cache import Cache
from tapemigrate.running.choices import chosen
from tapemigrate.running.deep import call_with_room
from tapemigrate.running.landing import write
from tapemigrate.running.looking import Looks
from tapemigrate.running.reading import may_matter, read
from tapemigrate.running.tasks import Task
from tapemigrate.running.workers import Workers, default_jobs
from tapemigrate.settings import Settings, SettingsError
from tapemigrate.source.decoding import SourceError, SourceFile, decode

if TYPE_CHECKING:
    from tapemigrate.running.shard import Shard

__all__ = [
    "FileResult",
    "Mode",
    "Outcome",
    "SettingsFor",
    "default_jobs",
    "explain_line",
    "run",
    "run_text",
    "write",
]

SettingsFor = Callable[[str], Settings]

# A task with more files, those that are read beside it included, takes longer than the others.
_MANY_FILES = 20
# A file of so many bytes takes more memory than most tasks.
_LARGE = 200_000
# What is gathered from so many files leaves memory behind: of 7,900 files, 20 to 40 MiB.
_MANY_READ = 1_000

#: Called with how many files are done and how many there are.
Progress = Callable[[int, int], None]


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
    context_bytes.cache_clear()
    discovery = Discovery(settings_for, respect_gitignore=respect_gitignore)
    looks = Looks(cache, paths, jobs)
    early: dict[str, FileResult] = {}
    tasks: list[Task] = []
    everything: list[str] = []
    allowed: dict[str, Settings] = {}
    configurations: dict[str, None] = {}
    files: dict[str, Settings] = {}
    for found in discovery.walk(list(paths)):
        everything.append(found.path)
        try:
            settings = settings_for(found.path)
        except SettingsError as error:
            configurations[str(error)] = None
            continue
        files[found.path] = settings
        if not found.left_out(settings, force=force_exclude):
            allowed[found.path] = settings
    for path, matters in looks.at(files).items():
        if isinstance(matters, SourceError):
            early[path] = failure(path, matters)
        elif matters and path in allowed:
            tasks.append(Task(path, files[path], mode, edits, cache=cache))
    looks.keep()
    with garbage.put_off(), Workers(jobs, len(tasks)) as workers:
        if tasks and len(everything) > 1:
            choose = partial(_with_others, tasks, everything, allowed, workers, looks.digests)
            tasks = chosen(tasks, everything, allowed, looks, choose)
        mine = everything if shard is None else _of_shard(shard, tasks, everything)
        of_shard = frozenset(mine)
        tasks = [task for task in tasks if task.filename in of_shard]
        analysed = _analyse_all(_in_turn(tasks), workers, progress, looks.digests)
        results = {result.filename: result for result in analysed}
    if cache is not None:
        cache.sweep()
    results.update(early)
    problems = [failure(path, error) for path, error in discovery.problems]
    problems += [failure(*_split_configuration(line)) for line in configurations]
    ordered = [results[path] for path in mine if path in results]
    if shard is not None:
        discovery.notes.append(f"shard {shard}: {len(mine)} of {len(everything)} files")
    return Outcome([*problems, *ordered], discovery.notes, mine)


def _with_others(
    tasks: list[Task],
    everything: list[str],
    allowed: Mapping[str, Settings],
    workers: Workers,
    digests: Mapping[str, str],
) -> tuple[list[Task], bool]:
    # Imported here: where there is one file, or nothing has changed, none of it is needed.
    from tapemigrate.running.gathering import with_others

    found = with_others(tasks, everything, allowed, workers, digests)
    if len(everything) > _MANY_READ:
        arenas.give_back()
    return found


def _of_shard(shard: Shard, tasks: Sequence[Task], everything: Sequence[str]) -> list[str]:
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


def _in_turn(tasks: Sequence[Task]) -> list[Task]:
    """The tasks in the order in which they are begun."""

    def place(task: Task) -> tuple[int, int]:
        count = len(task.filenames) + len(task.context)
        size = 0
        for name in task.filenames:
            with suppress(OSError):
                size = max(size, os.path.getsize(name))
        return (size if size > _LARGE else 0), (count if count > _MANY_FILES else 0)

    # What takes most memory begins first, while a process has not yet scattered what it keeps: its
    # peak would lie on top of that. Then what takes long, so that no process has to wait for
    # another in the end. The others go backwards: what was read last for its links is still parsed.
    return sorted(tasks, key=place)[::-1]


def _analyse_all(
    tasks: list[Task],
    workers: Workers,
    progress: Progress,
    digests: Mapping[str, str],
) -> Iterator[FileResult]:
    done, total = 0, sum(len(task.filenames) for task in tasks)
    for task, results in workers.map_unknown(analyse, tasks, partial(known, digests=digests)):
        done += len(task.filenames)
        progress(done, total)
        if results is None:
            error = SourceError("TM901", "could not be analysed: the analysis was killed")
            results = [failure(name, error) for name in task.filenames]
        yield from results


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
    task = Task(filename, settings, mode, edits)
    with garbage.put_off():
        return call_with_room(partial(guarded, {filename: data}, task))[0]


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
        others = [found.path for found in Discovery(lambda path: settings).walk(list(paths))]
        # Under the name that the others know it by: by its folders it is told whom they import.
        name = next((path for path in others if _is_same(path, filename)), filename)
        task = _task_of(name, others, settings)
        along = [path for path in task.filenames if path != name]
        files = {path: decode(read(path), path) for path in along if parses(path)}
        context = load(path for path in (*task.context, *along) if path not in files)
        files[name] = replace(file, filename=name)
        return api.why(files, name, place, settings=settings, context=context)

    return call_with_room(explain)


def _task_of(filename: str, others: list[str], settings: Settings) -> Task:
    """The task that has the file in it, where all ``others`` are analysed."""
    tasks = []
    for path in others:
        with suppress(SourceError):
            if may_matter(path, settings):
                tasks.append(Task(path, settings, "check", edits=False))
    with Workers(1, len(tasks)) as workers:
        tasks, _ = _with_others(tasks, others, dict.fromkeys(others, settings), workers, {})
    mine = (task for task in tasks if filename in task.filenames)
    return next(mine, Task(filename, settings, "check", edits=False))


def _is_same(one: str, two: str) -> bool:
    return os.path.abspath(one) == os.path.abspath(two)


def _row_of(file: SourceFile, cell: int, row: int) -> int:
    place = None if file.notebook is None else file.notebook.row_of(cell, row)
    if place is None:
        raise SourceError("TM903", f"has no code cell {cell} (all cells are counted, from one)")
    return place


def _split_configuration(line: str) -> tuple[str, SourceError]:
    """A settings error is told as one of its file."""
    path, _, message = line.partition(": ")
    return path, SourceError("TM903", f"{message}; the files below it were not analysed")

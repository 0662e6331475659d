"""What ``fix`` and ``check`` are asked for alike: the options, the run, the report."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from tapemigrate.command.terminal import Bar, Stream, emit, is_terminal, say
from tapemigrate.patterns import late

if TYPE_CHECKING:
    from tapemigrate.command.baseline import Baseline, BaselineError
    from tapemigrate.results import FileResult, Mode, Outcome
    from tapemigrate.runner import SettingsFor
    from tapemigrate.running.cache import Cache
    from tapemigrate.running.shard import Shard
    from tapemigrate.settings import Resolver

STDIN = "-"
_NOTEBOOK = late(rb'\s*\{(?=.*"nbformat")', re.DOTALL)


@dataclass(slots=True)
class Request:
    """The options of ``fix`` and ``check``, and what follows from them alone."""

    paths: tuple[str, ...]
    select: str | None
    ignore: str | None
    output_format: str
    output_file: str | None
    statistics: bool
    baseline: str | None
    respect_gitignore: bool
    force_exclude: bool
    jobs: int | None
    no_cache: bool
    cache_dir: str | None
    stdin_filename: str | None
    color: str
    quiet: bool
    verbose: bool
    stdin: bytes = b""
    _known: Baseline | None = None
    _problem: BaselineError | None = None

    def __post_init__(self) -> None:
        if STDIN in self.paths and len(self.paths) > 1:
            raise click.UsageError("'-' (standard input) cannot be mixed with other paths")
        if self.stdin_filename and not self.from_stdin:
            raise click.UsageError("--stdin-filename needs '-' as the path")
        if self.baseline is not None:
            from tapemigrate.command import baseline

            # Before the run, which may take long.
            try:
                self._known = baseline.load(self.baseline, project_root())
            except baseline.BaselineError as error:
                raise click.ClickException(str(error)) from None

    @property
    def from_stdin(self) -> bool:
        """Whether standard input is what is read."""
        return self.paths == (STDIN,)

    @property
    def edits(self) -> bool:
        """Whether the report tells what a fix would change: working that out takes its time."""
        return self.output_format in ("json", "sarif") and not self.statistics

    def resolver(self, unsafe_fixes: bool | None) -> Resolver:
        """What tells the settings of a file; see ``resolver_of``."""
        return resolver_of(self.select, self.ignore, unsafe_fixes)

    def run(
        self,
        resolver: SettingsFor,
        mode: Mode,
        shard: Shard | None = None,
        *,
        edits: bool = False,
    ) -> Outcome:
        """The run over the paths, or one part of their files; ``edits`` as in the report."""
        from tapemigrate import runner

        with Bar(shown=not self.quiet and is_terminal("stderr")) as bar:
            return runner.run(
                self.paths,
                resolver,
                mode=mode,
                jobs=self.jobs or runner.default_jobs(),
                respect_gitignore=self.respect_gitignore,
                force_exclude=self.force_exclude,
                shard=shard,
                edits=edits or self.edits,
                cache=self._cache(),
                progress=bar.advance,
            )

    def _cache(self) -> Cache | None:
        from tapemigrate.running import cache

        if self.no_cache:
            return None
        found = cache.open_cache(self.cache_dir or os.path.join(project_root(), cache.NAME))
        if found is None and self.cache_dir is not None:
            raise click.ClickException(f"--cache-dir: {self.cache_dir} is no folder")
        return found

    def run_stdin(self, resolver: Resolver, mode: Mode) -> Outcome:
        """The run over standard input, which ``stdin`` holds from then on."""
        from tapemigrate import runner
        from tapemigrate.results import failure
        from tapemigrate.settings import SettingsError
        from tapemigrate.source.decoding import SourceError

        if sys.stdin is None:
            raise click.ClickException("standard input is closed")
        self.stdin = sys.stdin.buffer.read()
        name = self.stdin_filename or STDIN
        try:
            settings = resolver(name)
        except SettingsError as error:
            raise click.ClickException(str(error)) from None
        if not self.stdin_filename and _NOTEBOOK.match(self.stdin):
            told = "is a notebook; say so with --stdin-filename NAME.ipynb"
            result = failure(name, SourceError("TM903", told))
        else:
            result = runner.run_text(self.stdin, name, settings, mode=mode, edits=self.edits)
        return runner.Outcome([result], [], [name])

    def without_known(self, outcome: Outcome, resolver: Resolver, *, shrink: bool) -> Outcome:
        """What the baseline does not know. With ``shrink``, what was mended is taken out of it."""
        if self._known is None:
            return outcome
        outcome, self._problem = self._known.applied(outcome, self.paths, resolver, shrink=shrink)
        return outcome

    def write_baseline(self, path: str, outcome: Outcome) -> Outcome:
        """What is left to tell when all findings have been written to a baseline."""
        from tapemigrate.command import baseline

        outcome, self._problem = baseline.of(outcome, path, project_root()).written(outcome)
        return outcome

    def tell(self, outcome: Outcome, mode: Mode, *, to_stdout: bool) -> None:
        """The report, to where it belongs, and the notes and summary beside it."""
        from tapemigrate.command import summary

        stream: Stream = "stdout" if to_stdout else "stderr"
        colors = self.colors(stream) and not self.output_file
        text = summary.statistics(outcome) if self.statistics else self._report(outcome, colors)
        if self.output_file:
            from tapemigrate.source.writing import write_file

            try:
                write_file(self.output_file, text.encode())
            except OSError as error:
                # What was found must not be lost with the file.
                emit(text, stream)
                why = error.strerror or str(error)
                raise click.ClickException(
                    f"{self.output_file}: cannot be written: {why}"
                ) from None
        else:
            emit(text, stream)
        if self.statistics:
            self._tell_unprocessed(outcome)
        if not self.quiet:
            self._tell_beside(outcome, mode)
        if self._problem is not None:
            raise click.ClickException(str(self._problem))

    def _tell_unprocessed(self, outcome: Outcome) -> None:
        """What a table of counts leaves untold: which files could not be processed, and why."""
        from tapemigrate.reports.concise import headline, place
        from tapemigrate.settings import ALWAYS_REPORTED

        for each in outcome.diagnostics:
            if each.code in ALWAYS_REPORTED:
                say(f"{place(each)}: {headline(each)}")

    def _tell_beside(self, outcome: Outcome, mode: Mode) -> None:
        from tapemigrate.command import summary
        from tapemigrate.reports.common import printable

        if self.verbose:
            for result in outcome.results:
                say(f"{printable(result.filename)}: {_tale(result, mode)}")
        for note in outcome.notes:
            say(printable(note))
        if mode == "check":
            lines = summary.of_check(outcome)
        elif mode == "silence":
            lines = summary.of_silence(outcome)
        else:
            lines = summary.of_fix(outcome, written=mode == "fix")
        for line in lines:
            say(line)

    def _report(self, outcome: Outcome, colors: bool) -> str:
        from tapemigrate.reports import Report, render

        lines = {
            (result.filename, *place): line
            for result in outcome.results
            for place, line in result.lines.items()
        }
        report = Report(outcome.diagnostics, lines, project_root(), colors)
        return render(self.output_format, report)

    def colors(self, stream: Stream) -> bool:
        """Whether the report on ``stream`` has colours."""
        if self.color == "auto":
            return not os.environ.get("NO_COLOR") and is_terminal(stream)
        return self.color == "always"


def resolver_of(
    select: str | None = None, ignore: str | None = None, unsafe_fixes: bool | None = None
) -> Resolver:
    """Tells the settings of a file. Raises ``click.UsageError`` for codes that there are not."""
    from tapemigrate.rules import catalog
    from tapemigrate.settings import Resolver, SettingsError, check_codes

    known = catalog.codes()
    try:
        return Resolver(
            known,
            check_codes(_listed(select), known),
            check_codes(_listed(ignore), known),
            unsafe_fixes,
        )
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _listed(codes: str | None) -> list[str]:
    return [] if codes is None else codes.split(",")


def _tale(result: FileResult, mode: Mode) -> str:
    if result.new is not None:
        done = "silenced" if mode == "silence" else "mended"
        return f"{len(result.mended)} {done}, {len(result.diagnostics)} left"
    return f"{len(result.diagnostics)} found"


def project_root() -> str:
    """The nearest folder above that looks like the top of a project, else the current one."""
    folder = os.getcwd()
    while not is_top_of_project(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return os.getcwd()
        folder = above
    return folder


def is_top_of_project(folder: str) -> bool:
    """Whether it looks like the top of a project, by what lies in it."""
    return any(os.path.exists(os.path.join(folder, each)) for each in (".git", "pyproject.toml"))

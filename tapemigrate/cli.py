"""The command line: reads options, has the work done, chooses how it is told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

import tapemigrate
from tapemigrate.command.program import Program
from tapemigrate.command.request import STDIN, Request, is_top_of_project, resolver_of
from tapemigrate.command.terminal import (
    emit,
    emit_bytes,
    emit_diff,
)
from tapemigrate.reports import FORMATS
from tapemigrate.verify.options import WithCommand, running

if TYPE_CHECKING:
    from tapemigrate.results import Mode, Outcome
    from tapemigrate.running.shard import Shard
    from tapemigrate.settings import Place, Resolver
    from tapemigrate.verify.pool import Device

_F = TypeVar("_F", bound=Callable[..., Any])

# What makes no sense together in ``check``.
_EXCLUSIVE = (
    ("--baseline", "--write-baseline"),
    ("--baseline", "--add-noqa"),
    ("--write-baseline", "--add-noqa"),
    ("--write-baseline", "--shard"),
    ("--add-noqa", "'-'"),
    ("--shard", "'-'"),
)


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(
    tapemigrate.__version__, prog_name="tapemigrate", message="%(prog)s %(version)s"
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Moves TensorFlow 1 gradient code to tf.GradientTape."""
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help() + "\n", "stderr")
        ctx.exit(2)


def _complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """For a shell: the codes that end what is typed so far, after the last comma."""
    from tapemigrate.rules import catalog

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{code}" for code in catalog.codes() if code.startswith(last.upper())]


def _no_program(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A file to write, which must not be one to migrate: a forgotten argument makes it one."""
    if value is not None and value.endswith((".py", ".pyi", ".ipynb")) and os.path.exists(value):
        raise click.UsageError(f"{param.opts[0]}: {value} is a program, which it would replace")
    return value


def _common(function: _F) -> _F:
    """The options that ``fix`` and ``check`` share."""
    options = [
        click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path()),
        click.option(
            "--select",
            metavar="CODES",
            shell_complete=_complete_codes,
            help="Only these rules: codes or beginnings of codes, with commas between.",
        ),
        click.option(
            "--ignore", metavar="CODES", shell_complete=_complete_codes, help="Not these rules."
        ),
        click.option(
            "--output-format",
            type=click.Choice(FORMATS),
            default="full",
            show_default=True,
            help="How diagnostics are told.",
        ),
        click.option(
            "--output-file",
            metavar="FILE",
            type=click.Path(),
            callback=_no_program,
            help="Write the report to FILE.",
        ),
        click.option("--statistics", is_flag=True, help="Counts by rule instead of the report."),
        click.option(
            "--baseline",
            metavar="FILE",
            type=click.Path(),
            help="Report only what is not in FILE; what was mended is taken out of FILE.",
        ),
        click.option(
            "--respect-gitignore/--no-respect-gitignore",
            default=True,
            show_default=True,
            help="Leave out what .gitignore leaves out.",
        ),
        click.option(
            "--force-exclude",
            is_flag=True,
            help="Leave out what extend-exclude names, even if it is a PATH.",
        ),
        click.option(
            "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes. Default: the cores."
        ),
        click.option("--no-cache", is_flag=True, help="Neither use nor keep earlier results."),
        click.option(
            "--cache-dir",
            metavar="DIR",
            type=click.Path(),
            help="Where results are kept. Default: .tapemigrate_cache at the project's top.",
        ),
        click.option("--stdin-filename", metavar="FILE", help="The name of what is read from '-'."),
        click.option(
            "--color",
            type=click.Choice(("auto", "always", "never")),
            default="auto",
            show_default=True,
            help="Colours. 'auto' heeds NO_COLOR.",
        ),
        click.option("--quiet", "-q", is_flag=True, help="No summary."),
        click.option("--verbose", "-v", is_flag=True, help="Also tell what is done to each file."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


class _Fix(WithCommand):
    only_with = "--verify"

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


@main.command(cls=_Fix)
@_common
@click.option("--diff", is_flag=True, help="Show what would change, and write nothing.")
@click.option(
    "--unsafe-fixes/--no-unsafe-fixes",
    default=None,
    help="Also those that rest on an assumption, which the message names.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Run the command after --, or the --cases, before and after; write only what agrees.",
)
@click.option(
    "--cases", multiple=True, metavar="FILE[::NAME]", help="What --verify runs: see verify --help."
)
@running
def fix(
    diff: bool,
    unsafe_fixes: bool | None,
    verify: bool,
    cases: tuple[str, ...],
    before_python: str | None,
    device: Device,
    timeout: float,
    **options: Any,
) -> int:
    """Rewrite gradient calls in place.

    Exit code: 0 nothing left to report, 1 something left, 2 a file could not be processed.
    """
    request = Request(**options)
    resolver = request.resolver(unsafe_fixes)
    mode: Mode = "preview" if diff else "fix"
    meta = click.get_current_context().meta
    command = meta["command"]
    if 0 < meta["behind"] < len(request.paths):
        raise click.UsageError("a command after -- goes with --verify")
    if verify and request.from_stdin:
        raise click.UsageError("--verify cannot run standard input: name the file")
    if verify and bool(command) == bool(cases):
        raise click.UsageError("--verify needs what to run: --cases FILE, or a command after --")
    if not verify and (cases or before_python):
        raise click.UsageError("--cases and --before-python go with --verify")
    if verify:
        job = (command, cases, None, before_python, device, timeout)
        outcome = _verified(request, resolver, job, diff)
    elif request.from_stdin:
        outcome = request.run_stdin(resolver, mode)
        (result,) = outcome.results
        if not diff:
            emit_bytes(request.stdin if result.new is None else result.new)
    else:
        outcome = request.run(resolver, mode)
        if not diff:
            _write(outcome)
    if diff:
        for result in outcome.results:
            if result.new is not None:
                emit_diff(result, request.colors("stdout"))
    outcome = request.without_known(outcome, resolver, shrink=not diff)
    on_stdout = not diff and not request.from_stdin
    request.tell(outcome, mode, to_stdout=on_stdout)
    changed = any(result.new is not None for result in outcome.results)
    return max(_status(outcome), int(diff and changed))


@main.command()
@_common
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=click.Path(),
    callback=_no_program,
    help="Write all that is found to FILE: known from now on.",
)
@click.option(
    "--shard", metavar="K/N", help="Only the K-th of N parts of the files, for N jobs side by side."
)
@click.option(
    "--add-noqa", is_flag=True, help="Silence what is found: add a '# noqa: CODE' to its line."
)
def check(write_baseline: str | None, shard: str | None, add_noqa: bool, **options: Any) -> int:
    """Report gradient calls, and change none of them.

    Exit code: 0 nothing to report, 1 something, 2 a file could not be processed.
    """
    values = {
        "--baseline": options["baseline"],
        "--write-baseline": write_baseline,
        "--add-noqa": add_noqa or None,
        "--shard": shard,
        "'-'": "-" if STDIN in options["paths"] else None,
    }
    for one, other in _EXCLUSIVE:
        if values[one] is not None and values[other] is not None:
            raise click.UsageError(f"{one} and {other} exclude each other")
    request = Request(**options)
    resolver = request.resolver(None)
    mode: Mode = "silence" if add_noqa else "check"
    if request.from_stdin:
        outcome = request.run_stdin(resolver, mode)
    else:
        outcome = request.run(resolver, mode, _shard(shard))
    if add_noqa:
        _write(outcome)
    if write_baseline is not None:
        outcome = request.write_baseline(write_baseline, outcome)
    outcome = request.without_known(outcome, resolver, shrink=True)
    request.tell(outcome, mode, to_stdout=True)
    return _status(outcome)


@main.command()
@click.argument("place", metavar="FILE:LINE", type=click.Path())
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path())
def why(place: str, paths: tuple[str, ...]) -> int:
    """Tell how the call on a line was read, and what stops its fix.

    In a notebook the place is FILE:CELL:LINE. A column behind it is passed over. PATH... is where
    callers are looked for; by default the folder of FILE, or the one that holds its package.
    """
    from tapemigrate import runner
    from tapemigrate.reports.common import printable
    from tapemigrate.settings import SettingsError
    from tapemigrate.source.decoding import SourceError

    notebook = ".ipynb:" in place
    form = r"(.*\.ipynb):(?:cell )?([0-9]+):([0-9]+)" if notebook else r"(.+?)()(?::([0-9]+))"
    found = re.fullmatch(rf"{form}(?::[0-9]+)?", place, re.DOTALL)
    if found is None:
        wanted = "FILE:CELL:LINE" if notebook else "FILE:LINE"
        raise click.UsageError(f"{printable(place)!r} is not {wanted}")
    filename, cell, row = found[1], int(found[2]) if notebook else None, found[3]
    around = paths or (_above_packages(filename),)
    try:
        settings = resolver_of()(filename)
        text = runner.explain_line(around, filename, int(row), settings, cell)
    except SourceError as error:
        told = "" if error.cell is None else f"cell {error.cell}:"
        where = f"{printable(filename)}:{told}{error.row}:{error.column}"
        raise click.ClickException(f"{where}: {error.code} {error.message}") from None
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
    emit(text.rstrip("\n") + "\n")
    return 0


def _above_packages(filename: str) -> str:
    """The folder of the file, or the one of its project that holds the package of the file."""
    folder = os.path.dirname(os.path.abspath(filename))
    while os.path.isfile(os.path.join(folder, "__init__.py")) and not is_top_of_project(folder):
        folder = os.path.dirname(folder)
    return folder if os.path.isabs(filename) else os.path.relpath(folder)


@main.command()
@click.argument("code", shell_complete=_complete_codes)
def explain(code: str) -> int:
    """Show a rule's page."""
    from tapemigrate.rules import catalog, pages
    from tapemigrate.settings import nearest

    known = catalog.codes()
    if code.upper() not in known:
        raise click.UsageError(f"unknown code {code!r}{nearest(code.upper(), known)}")
    emit(pages.explain(code.upper()).rstrip("\n") + "\n")
    return 0


@main.command()
def rules() -> int:
    """List the rules."""
    from tapemigrate.rules import catalog

    listed = catalog.rules()
    width = max(len(rule.name) for rule in listed)
    emit("".join(f"{rule.code}  {rule.name.ljust(width)}  {rule.summary}\n" for rule in listed))
    return 0


def _shard(text: str | None) -> Shard | None:
    from tapemigrate.running.shard import Shard

    try:
        return None if text is None else Shard.parse(text)
    except ValueError as error:
        raise click.UsageError(f"--shard: {error}") from None


def _verified(request: Request, resolver: Resolver, job: tuple[Any, ...], diff: bool) -> Outcome:
    """Runs both sides and writes, if not asked for a ``diff``, what agrees."""
    from pathlib import Path

    from tapemigrate.reports.common import printable
    from tapemigrate.verify.gate import gate
    from tapemigrate.verify.job import FAILURES, Job

    def preview(held: frozenset[Place]) -> Outcome:
        return request.run(lambda path: replace(resolver(path), held=held), "preview", edits=True)

    try:
        gated = gate(preview, Path.cwd().resolve(), Job(*job))
    except FAILURES as error:
        raise click.ClickException(printable(str(error))) from None
    outcome = gated.outcome
    if not diff:
        _write(outcome)
    found = request.run(resolver, "check")
    outcome.results[:] = gated.left(found, written=not diff)
    outcome.notes.append(gated.summary())
    return outcome


def _write(outcome: Outcome) -> None:
    """Writes what changed. A file that could not be written was not changed either."""
    from tapemigrate import runner

    failures, notes = runner.write(outcome.results)
    outcome.notes.extend(notes)
    failed = {failure.filename: failure for failure in failures}
    outcome.results[:] = [failed.get(result.filename, result) for result in outcome.results]


def _status(outcome: Outcome) -> int:
    from tapemigrate.settings import ALWAYS_REPORTED

    found = outcome.diagnostics
    if any(each.code in ALWAYS_REPORTED for each in found):
        return 2
    return 1 if found else 0

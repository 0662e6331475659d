"""``tapemigrate verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tapemigrate.reports.common import printable
from tapemigrate.verify.options import WithCommand, running
from tapemigrate.verify.waiting import waiting

if TYPE_CHECKING:
    from tapemigrate.verify.pool import Device


class _Command(WithCommand):
    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "(CASES.py[::NAME]... | -- COMMAND... | --replay FILE)"]


@click.command(cls=_Command)
@click.argument("cases", nargs=-1)
@click.option(
    "--tree",
    type=click.Path(exists=True, file_okay=False),
    default=".",
    show_default=True,
    help="The folder that is rewritten, and in which the command runs.",
)
@click.option(
    "--unsafe-fixes/--no-unsafe-fixes",
    default=None,
    help="Also rewrites that rest on an assumption.",
)
@click.option("-k", "part", metavar="PART", help="Only the cases whose names hold PART.")
@running
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write down what was run, on which sources and with which versions, and what came of it.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Repeat what a certificate says.",
)
@click.option(
    "--output-format",
    type=click.Choice(("text", "json", "sarif")),
    default="text",
    show_default=True,
    help="How verdicts are told.",
)
@click.pass_context
def verify(
    ctx: click.Context,
    cases: tuple[str, ...],
    tree: str,
    unsafe_fixes: bool | None,
    part: str | None,
    before_python: str | None,
    device: Device,
    timeout: float,
    certificate: Path | None,
    replay: Path | None,
    output_format: str,
) -> int:
    """Run code before and after the rewrite, and compare what every gradient call returned.

    \b
        tapemigrate verify -- python train.py --steps 2
        tapemigrate verify cases.py::case_residual

    The code is that of your own command, or that of functions named case_... in a file, whose
    parameters' defaults are the inputs (tapemigrate.verify.case has what draws them). It runs in
    copies of the folder, with the same seeds on both sides: nothing of yours is written.

    Exit code: 0 everything is VERIFIED, 1 something is not, 2 there is nothing that could be run,
    or it fails before the rewrite already.
    """
    # They need numpy, which `verify --help` does without.
    from tapemigrate.verify.certificate import Certificate, CertificateError
    from tapemigrate.verify.job import FAILURES, Job, Rewrite, Verdicts
    from tapemigrate.verify.report import RENDERERS

    job = Job(ctx.meta["command"], cases, part, before_python, device, timeout)
    if sum(map(bool, (job.command, job.cases, replay))) != 1:
        raise click.UsageError("give a file of cases, or a command to run after --, or --replay")
    try:
        old = None if replay is None else Certificate.load(replay)
        if old is not None:
            job, unsafe_fixes = old.job, old.unsafe_fixes
        rewrite = Rewrite.of(Path(tree).resolve(), unsafe_fixes)
        if old is not None:
            old.check(rewrite)
        verdicts = Verdicts([], [])
        if rewrite.calls:
            # Asking takes an import of TensorFlow: only where the answer is needed.
            versions = job.versions() if certificate is not None else {}
            with waiting() as tick:
                verdicts = job.run(rewrite, tick)
            if certificate is not None:
                made = Certificate.of(job, unsafe_fixes, rewrite, versions, verdicts)
                made.write(certificate)
    except (*FAILURES, CertificateError) as error:
        raise click.ClickException(printable(str(error))) from None
    click.echo(RENDERERS[output_format](verdicts), nl=False)
    if rewrite.left:
        need = "call needs" if rewrite.left == 1 else "calls need"
        click.echo(f"{rewrite.left} {need} --unsafe-fixes.", err=True)
    changes = [] if old is None else old.changes(verdicts)
    for change in changes:
        click.echo(printable(change), err=True)
    return 0 if verdicts.proved and not changes else 1

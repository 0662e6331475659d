"""``fix --verify``: only what both sides agree on is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tapemigrate.model import Diagnostic
from tapemigrate.verify import report
from tapemigrate.verify.calls import Line, rewritten_calls
from tapemigrate.verify.job import Job, Rewrite, Verdicts

if TYPE_CHECKING:
    from tapemigrate.runner import FileResult


def held_back(
    results: Iterable[FileResult], root: Path, job: Job, tick: Callable[[str], None]
) -> dict[str, tuple[Diagnostic, ...]]:
    """The files that must not be written, each with its diagnostics, which say why.

    ``results`` are those of a preview. A file is written when every call that is rewritten in it
    is VERIFIED; what is left of the rewrite is verified again, as it will be written.

    Raises:
        CasesError, CommandError, JobError: when nothing can be compared.
    """
    changed = [result for result in results if result.new is not None]
    held: dict[str, tuple[Diagnostic, ...]] = {}
    while changed:
        verdicts = job.run(_rewrite(changed, root), tick)
        refused = [
            (result, lines) for result in changed if (lines := _unproved(result, root, verdicts))
        ]
        if not refused:
            break
        for result, lines in refused:
            held[result.filename] = _diagnostics(result, root, lines, verdicts)
        changed = [result for result in changed if result.filename not in held]
    return held


def _rewrite(changed: Sequence[FileResult], root: Path) -> Rewrite:
    return Rewrite(
        root,
        {Path(each.filename).resolve(): each.new for each in changed if each.new is not None},
        [call for each in changed for call in rewritten_calls(each.mended, root)],
    )


def _unproved(result: FileResult, root: Path, verdicts: Verdicts) -> list[Line]:
    name = Path(result.filename).resolve().relative_to(root).as_posix()
    return [line for line in verdicts.lines if line.site.filename == name and not line.proved]


def _diagnostics(
    result: FileResult, root: Path, lines: Sequence[Line], verdicts: Verdicts
) -> tuple[Diagnostic, ...]:
    """The diagnostics of a file that stays as it is: the calls that were not proved say so."""
    told = []
    examples = [
        example
        for case in verdicts.cases
        if case.counterexample is not None
        for example in report.counterexample(case.counterexample)
    ]
    for diagnostic in result.mended:
        calls = rewritten_calls([diagnostic], root)
        found = [
            line.site
            for line in lines
            if any(call.covers(line.site.filename, line.site.row) for call in calls)
        ]
        for site in found:
            diagnostic = replace(
                diagnostic,
                message=f"{diagnostic.message}; {site.verdict}: {site.detail}",
                help="\n".join([diagnostic.help, *examples]).strip()
                if site.verdict == "REFUTED"
                else diagnostic.help,
            )
        told.append(diagnostic)
    return tuple(sorted([*told, *result.diagnostics], key=lambda each: (each.location, each.code)))

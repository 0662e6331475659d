"""``fix --verify``: only what both sides agree on is written."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tapemigrate.model import Diagnostic, Fix, Proof
from tapemigrate.settings import ALWAYS_REPORTED, Place
from tapemigrate.verify.calls import is_call, rewritten_calls
from tapemigrate.verify.compare import VERDICTS
from tapemigrate.verify.job import Job, Rewrite, Verdicts
from tapemigrate.verify.waiting import waiting

if TYPE_CHECKING:
    from tapemigrate.results import FileResult, Outcome

Preview = Callable[[frozenset[Place]], "Outcome"]
"""What a fix would do that leaves these places as they are, with its edits."""

_ALONE = Proof("UNVERIFIED", "no gradient call that is rewritten in this file is VERIFIED")
_OUTSIDE = Proof("UNVERIFIED", "the file does not lie in the folder in which it would be run")
_NOTEBOOK = Proof("UNVERIFIED", "a notebook cannot be run here")
_WITH_NOTEBOOK = Proof("UNVERIFIED", "a notebook changes along with it, which cannot be run here")


@dataclass(frozen=True)
class Gated:
    """What may be written, what must not, and why.

    ``outcome`` is the preview in which both sides agree; ``verified`` counts its gradient calls.
    """

    outcome: Outcome
    held: dict[Place, Proof]
    verified: int

    def left(self, found: Outcome, *, written: bool) -> list[FileResult]:
        """The results of ``outcome``, with what a ``check``, made when it was ``written`` or
        was not, has ``found``, and what was shown of each.
        """
        now = {result.filename: result for result in found.results}
        done = self.outcome.results
        # A file in which nothing is left may not even be looked at.
        return [
            *(self._left(each, now.pop(each.filename, None), written) for each in done),
            *now.values(),
        ]

    def _left(self, done: FileResult, found: FileResult | None, written: bool) -> FileResult:
        from tapemigrate.source.decoding import decode

        if any(each.code in ALWAYS_REPORTED for each in done.diagnostics):
            return done
        if found is None:
            return replace(done, diagnostics=(), lines={})
        diagnostics = found.diagnostics
        rows: dict[int, int] = {}
        if done.new is not None and written:
            old, new = (decode(data, done.filename).text for data in (done.old, done.new))
            rows = _rows(old, new)
        else:
            mended = {place(each) for each in done.mended}
            diagnostics = tuple(each for each in diagnostics if place(each) not in mended)
        if done.filename.endswith(".ipynb"):
            diagnostics = tuple(
                _proved(each, _NOTEBOOK) if is_call(each) and each.fix is not None else each
                for each in diagnostics
            )
        return replace(
            done,
            diagnostics=_told(diagnostics, self.held, rows),
            lines=found.lines,
        )

    def summary(self) -> str:
        """What the verification came to, in a line."""
        counts = [f"{self.verified} VERIFIED"] if self.verified else []
        for verdict in reversed(VERDICTS[1:]):
            number = sum(proof.verdict == verdict for proof in self.held.values())
            if number:
                stay = "stays as it was" if number == 1 else "stay as they were"
                counts.append(f"{number} {verdict}, which {stay}")
        return f"Run on both sides: {'; '.join(counts) or 'nothing, for nothing is rewritten'}."


def gate(preview: Preview, root: Path, job: Job) -> Gated:
    """Holds back what ``job`` does not prove, until all that is left of the fix agrees.

    What is left is run again, as it will be written: one call may differ because of another.

    Raises:
        CasesError, CommandError, JobError: when nothing can be compared.
    """
    held: dict[Place, Proof] = {}
    while True:
        outcome = preview(frozenset(held))
        if tied := _tied_to_notebooks(outcome.results):
            held.update(tied)
            continue
        outcome.results[:] = [_without_notebook(result) for result in outcome.results]
        changed = [result for result in outcome.results if result.new is not None]
        refused = _outside(changed, root)
        calls = _calls(changed)
        if not refused and calls:
            with waiting() as tick:
                verdicts = job.run(_rewrite(changed, root), tick)
            refused = _unproved(calls, root, verdicts)
        refused = refused or _unaccompanied(changed)
        if not refused:
            return Gated(outcome, held, len(calls))
        held.update(refused)


def place(diagnostic: Diagnostic) -> Place:
    """Where a diagnostic is."""
    at = diagnostic.location
    return diagnostic.filename, at.row, at.column, diagnostic.code


def _told(
    found: Sequence[Diagnostic], held: dict[Place, Proof], rows: dict[int, int]
) -> tuple[Diagnostic, ...]:
    """``found`` with what was shown of each. ``rows`` tells where those of ``held`` are now."""
    proofs: dict[tuple[str, int, str], list[Proof]] = {}
    for (filename, row, _, code), proof in sorted(held.items(), key=lambda item: item[0]):
        proofs.setdefault((filename, rows.get(row, row), code), []).append(proof)
    result = []
    for diagnostic in found:
        here = proofs.get((diagnostic.filename, diagnostic.location.row, diagnostic.code))
        result.append(_proved(diagnostic, here.pop(0)) if here else diagnostic)
    return tuple(result)


def _proved(diagnostic: Diagnostic, proof: Proof) -> Diagnostic:
    refuted = proof.verdict == "REFUTED"
    help_lines = [diagnostic.help, *proof.example] if refuted else [diagnostic.help]
    fix: Fix | None = None if refuted else diagnostic.fix
    return replace(
        diagnostic,
        message=f"{diagnostic.message}; {proof.verdict}: {proof.detail}",
        help="\n".join(help_lines).strip(),
        fix=fix,
        proof=proof,
    )


def _rows(old: str, new: str) -> dict[int, int]:
    """Where the rows of ``old`` are in ``new``, whatever their indentation."""
    before, after = ([line.strip() for line in text.splitlines()] for text in (old, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {
        block.a + offset + 1: block.b + offset + 1
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }


def _calls(changed: Iterable[FileResult]) -> list[Diagnostic]:
    return [each for result in changed for each in result.mended if is_call(each)]


def _rewrite(changed: Sequence[FileResult], root: Path) -> Rewrite:
    return Rewrite(
        root,
        {Path(each.filename).resolve(): each.new for each in changed if each.new is not None},
        rewritten_calls(_calls(changed), root),
    )


def _tied_to_notebooks(results: Iterable[FileResult]) -> dict[Place, Proof]:
    """What changes modules and notebooks alike, of which the notebooks have to stay."""
    return {
        place(each): _WITH_NOTEBOOK
        for result in results
        for each in result.mended
        if each.fix is not None
        and len({edit.filename.endswith(".ipynb") for edit in each.fix.edits}) > 1
    }


def _without_notebook(result: FileResult) -> FileResult:
    """A notebook stays as it is: there is nothing here that runs one."""
    if result.new is None or not result.filename.endswith(".ipynb"):
        return result
    return replace(result, new=None, mended=(), diagnostics=(*result.mended, *result.diagnostics))


def _outside(changed: Iterable[FileResult], root: Path) -> dict[Place, Proof]:
    """What no run in ``root`` could reach."""
    return {
        place(each): _OUTSIDE
        for result in changed
        if not Path(result.filename).resolve().is_relative_to(root)
        for each in result.mended
        if each.fix is not None
    }


def _unproved(calls: Sequence[Diagnostic], root: Path, verdicts: Verdicts) -> dict[Place, Proof]:
    found = {}
    for call in calls:
        [where] = rewritten_calls([call], root)
        lines = [
            line
            for line in verdicts.lines
            if line.rewritten and where.covers(line.site.filename, line.site.row)
        ]
        worst = max(lines, key=lambda line: VERDICTS.index(line.site.verdict))
        if not worst.proved:
            found[place(call)] = verdicts.proof(worst)
    failed = [case for case in verdicts.cases if case.comparison.verdict == "REFUTED"]
    if failed and not found:
        # Nothing tells which rewrite it was.
        found = {place(call): failed[0].proof for call in calls}
    return found


def _unaccompanied(changed: Iterable[FileResult]) -> dict[Place, Proof]:
    """What has no gradient of its own to compare, in files in which nothing else was proved.

    Elsewhere it has been run along with what was.
    """
    return {
        place(each): _ALONE
        for result in changed
        if not any(is_call(each) for each in result.mended)
        for each in result.mended
        if each.fix is not None and each.code != "TM910"
    }

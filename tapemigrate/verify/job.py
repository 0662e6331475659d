"""One verification: what is run, on which tree, and what came of it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tapemigrate.model import Proof
from tapemigrate.verify.calls import Line, Rewritten, is_call, lines, rewritten_calls
from tapemigrate.verify.cases import CaseResult, Cases, CasesError
from tapemigrate.verify.pool import Device, Pool, UnusableError
from tapemigrate.verify.trial import CommandError, Trial

SEPARATOR = "::"


class JobError(Exception):
    """Why nothing can be run."""


#: Why there are no verdicts.
FAILURES = (CasesError, CommandError, JobError, UnusableError)


@dataclass(frozen=True)
class Rewrite:
    """What a fix would do to the folder ``root``, and how many calls it leaves to unsafe fixes."""

    root: Path
    changes: dict[Path, bytes]
    calls: list[Rewritten]
    left: int = 0

    @classmethod
    def of(cls, root: Path, unsafe_fixes: bool | None) -> Rewrite:
        """The fix of ``root``, as its settings have it."""
        from tapemigrate import runner
        from tapemigrate.rules import catalog
        from tapemigrate.settings import Resolver

        settings = Resolver(catalog.codes(), unsafe_fixes=unsafe_fixes)
        outcome = runner.run(
            [os.path.relpath(root)], settings, mode="preview", jobs=runner.default_jobs()
        )
        changes = {}
        calls: list[Rewritten] = []
        for result in outcome.results:
            if result.new is not None:
                changes[Path(result.filename).resolve()] = result.new
                calls += rewritten_calls(result.mended, root)
        left = [
            each
            for each in outcome.diagnostics
            if is_call(each) and each.fix is not None and each.fix.applicability == "unsafe"
        ]
        return cls(root, changes, calls, len(left))


@dataclass(frozen=True)
class Verdicts:
    """What was found: every call, and, where cases were run, every case."""

    lines: list[Line]
    cases: list[CaseResult]

    @property
    def proved(self) -> bool:
        """Whether every rewritten call and every case is VERIFIED."""
        return all(line.proved for line in self.lines) and all(
            case.comparison.verdict == "VERIFIED" for case in self.cases
        )

    def proof(self, line: Line) -> Proof:
        """What was shown of a call, with the smallest inputs of a case that refutes it."""
        site = line.site
        proof = Proof(site.verdict, site.detail, before=site.before, after=site.after)
        if site.verdict != "REFUTED":
            return proof
        key = (site.filename, site.row, site.api)
        for case in self.cases:
            if any(
                (each.filename, each.row, each.api, each.verdict) == (*key, "REFUTED")
                for each in case.sites
            ):
                return replace(case.proof, detail=site.detail)
        return proof


@dataclass(frozen=True)
class Job:
    """What to run: a ``command``; or ``cases``, each ``FILE`` or ``FILE::NAME``, by ``part``."""

    command: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    part: str | None = None
    before_python: str | None = None
    device: Device = "cpu"
    timeout: float = 600.0

    def run(self, rewrite: Rewrite, tick: Callable[[str], None]) -> Verdicts:
        """Runs it on both sides of ``rewrite``; ``tick`` is told what is running.

        Raises:
            JobError: when a file of cases is not there.
            CasesError, CommandError, UnusableError: when there is nothing to compare.
        """
        if self.command:
            if self.device == "gpu":
                self.versions()
            trial = Trial(
                self.command,
                rewrite.root,
                rewrite.changes,
                rewrite.calls,
                self.before_python,
                self.device,
                self.timeout,
            )
            return Verdicts(trial.run(tick), [])
        results = [
            result
            for file, selected in self._files()
            for result in Cases(
                file,
                rewrite.root,
                rewrite.changes,
                selected,
                self.device,
                self.timeout,
                before_python=self.before_python,
            ).run(tick)
        ]
        sites = [site for result in results for site in result.sites]
        return Verdicts(lines(sites, rewrite.calls), results)

    def versions(self) -> dict[str, dict[str, Any]]:
        """The versions of what runs the two sides.

        Raises:
            UnusableError: when there is no TensorFlow, or none that sees the device.
        """
        found = {}
        for python in {sys.executable, self.before_python or sys.executable}:
            with contextlib.closing(Pool(python, device=self.device)) as pool:
                found[python] = pool.versions()
        before = found[self.before_python or sys.executable]
        return {"before": before, "after": found[sys.executable]}

    def _files(self) -> Iterator[tuple[Path, Callable[[str], bool]]]:
        """The files of cases, each with what tells the names that are selected."""
        chosen: dict[Path, set[str] | None] = {}
        for argument in self.cases:
            path, separator, name = argument.partition(SEPARATOR)
            file = Path(path).resolve()
            if file.is_dir():
                raise JobError(
                    f"{path}: is a folder, and no file of cases; --tree says which folder is "
                    "rewritten, and after -- stands the command that runs it"
                )
            if not file.is_file():
                raise JobError(f"{path}: there is no such file")
            known = chosen.setdefault(file, set() if separator else None)
            if not separator:
                chosen[file] = None
            elif known is not None:
                known.add(name)

        for file, names in chosen.items():

            def selected(name: str, names: set[str] | None = names) -> bool:
                return (names is None or name in names) and (self.part is None or self.part in name)

            yield file, selected

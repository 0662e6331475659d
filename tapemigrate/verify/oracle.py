"""The oracle: runs a program before and after a rewrite in every way it can run, and says whether
they agree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace

from tapemigrate.verify import wire
from tapemigrate.verify.compare import TOLERANCES, Comparison, compare
from tapemigrate.verify.pool import Mode, Pool, Task

# Differences up to these may be rounding, in a program that amplifies it.
DOUBT: Mapping[str, float] = {name: min(1000 * limit, 5e-2) for name, limit in TOLERANCES.items()}
# Rounding in float64 is far below it; a difference that was visible in float32 is far above.
SETTLED: Mapping[str, float] = dict.fromkeys(TOLERANCES, 1e-7)
# Calls that change TensorFlow for the rest of the process.
SWITCHES = re.compile(
    r"\b(?:disable|enable)_"
    r"(?:v2_behavior|resource_variables|control_flow_v2|v2_tensorshape|tensor_equality)\("
    r"|\bdisable_eager_execution\("
)


class Undetermined(Exception):
    """Why the old side of a case proves nothing."""


@dataclass(frozen=True)
class Case:
    """A program, its texts before and after, and the modes in which each side runs, at least one.

    The first mode of ``before`` is what every other run is held against.
    """

    before: Mapping[str, str]
    after: Mapping[str, str]
    module: str
    before_modes: tuple[Mode, ...]
    after_modes: tuple[Mode, ...]
    entry: str = "run"
    inputs: Mapping[str, wire.Array] | None = None
    arrays: bool = False

    def task(self, files: Mapping[str, str], mode: Mode) -> Task:
        """The run of one side in one mode."""
        return Task(
            files=files,
            module=self.module,
            mode=mode,
            entry=self.entry,
            inputs=self.inputs,
            arrays=self.arrays,
            isolated=any(SWITCHES.search(text) for text in files.values()),
        )


@dataclass(frozen=True)
class Pending:
    """A case whose runs have been handed to a pool."""

    pool: Pool
    case: Case
    before: Mapping[Mode, Future[wire.Observation]]
    after: Mapping[Mode, Future[wire.Observation]]

    def reference(self, tolerances: Mapping[str, float] = TOLERANCES) -> wire.Observation:
        """Waits for the runs of the old side and gives the first.

        Raises:
            Undetermined: when one fails, or when two disagree: then the result is not
                determined by the inputs, and nothing can be said of a rewrite.
        """
        first, *others = self.case.before_modes
        expected = self.before[first].result()
        if expected.error is not None:
            raise Undetermined(
                f"the program fails before the rewrite, in {first}: {expected.error}"
            )
        for mode in others:
            found = compare(expected, self.before[mode].result(), tolerances)
            if found.verdict == "REFUTED":
                raise Undetermined(
                    f"before the rewrite, {first} and {mode} disagree: {found.detail}"
                )
        return expected

    def result(self, tolerances: Mapping[str, float] = TOLERANCES) -> Comparison:
        """Waits for the runs and compares: REFUTED if any mode of the new side differs from the
        old.

        Where only numbers differ and not by much, both sides run again in float64, which decides.
        """
        try:
            expected = self.reference(tolerances)
        except Undetermined as problem:
            return Comparison("UNVERIFIED", str(problem))
        comparisons = [
            (mode, compare(expected, self.after[mode].result(), tolerances))
            for mode in self.case.after_modes
        ]
        for mode, found in comparisons:
            if found.verdict != "VERIFIED":
                doubtful = compare(expected, self.after[mode].result(), DOUBT).verdict == "VERIFIED"
                found = self._settled(mode, found) if doubtful else found
                return replace(found, detail=f"{mode} after the rewrite: {found.detail}")
        return max((found for _, found in comparisons), key=lambda found: found.largest)

    def _settled(self, mode: Mode, found: Comparison) -> Comparison:
        """``found``, numbers that differ a little, decided in float64: rounding shrinks there, a
        wrong term does not.
        """
        before, after = (
            self.pool.submit(replace(self.case.task(files, run), double=True, finite=True))
            for files, run in (
                (self.case.before, self.case.before_modes[0]),
                (self.case.after, mode),
            )
        )
        return settled(found, before.result(), after.result())


def settled(found: Comparison, before: wire.Observation, after: wire.Observation) -> Comparison:
    """``found``, small differences between numbers, decided by runs in float64."""
    again = compare(before, after, SETTLED)
    if again.verdict == "VERIFIED":
        return replace(again, detail=f"ill-conditioned in float32: {found.detail}")
    if before.error or after.error:
        return replace(
            found,
            verdict="UNVERIFIED",
            detail=f"{found.detail}; the program does not run in float64, which would decide",
            sites=tuple(
                replace(site, verdict="UNVERIFIED") if site.verdict == "REFUTED" else site
                for site in found.sites
            ),
        )
    opinions = [each.agrees for each in before.opinions if each.reason is None]
    if opinions and all(opinions):
        detail = f"{found.detail}; finite differences agree with the program before"
        return replace(found, detail=detail)
    return found


def submit(pool: Pool, case: Case) -> Pending:
    """Hands every run of ``case`` to ``pool``."""
    return Pending(
        pool,
        case,
        {mode: pool.submit(case.task(case.before, mode)) for mode in case.before_modes},
        {mode: pool.submit(case.task(case.after, mode)) for mode in case.after_modes},
    )
